"""A Neo4j of the service's own: started in a data folder, watched, started again when it dies, and stopped."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
from pydantic import SecretStr

from plait.localdb import jars, process, startcache
from plait.localdb.config import jvm_options, neo4j_config
from plait.localdb.errors import BoltPortInUse, DatabaseStartFailed, DataFolderInUse
from plait.localdb.folder import DataFolder
from plait.localdb.protocol import HostOrder
from plait.settings import Settings

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 60.0

_log = structlog.stdlib.get_logger("plait.localdb")


@dataclass(frozen=True)
class Endpoint:
    """Where the graph is and how to get in."""

    uri: str
    user: str
    password: SecretStr
    database: str = "neo4j"

    @property
    def auth(self) -> tuple[str, str]:
        """User and password as the driver takes them."""
        return self.user, self.password.get_secret_value()


class LocalNeo4j:
    """Neo4j Community in a process of its own, with its files in `settings.data_dir`.

    `start()` returns when Bolt answers; a process that dies is started again on the same port until `stop()`. The
    process ends when this one does, however this one ends. Use it as a context manager, or call both.
    """

    def __init__(
        self,
        settings: Settings,
        report: jars.ReportProgress | None = None,
        starting: Callable[[], None] | None = None,
    ) -> None:
        """`report` is told how far the download of the jars is, where they are not on this machine yet.

        `starting` is called when the folder is ours and the work begins.
        """
        self._settings = settings
        self._report = report
        self._starting = starting
        self._folder = DataFolder(settings.data_dir)
        self._class_path: list[str] = []
        self._start_cache: Path | None = None
        self._process: process.Process | None = None
        self._endpoint: Endpoint | None = None
        self._stopping = threading.Event()
        self._mutex = threading.Lock()
        self._watcher: threading.Thread | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where the started database is; it stays the same until `stop()`."""
        if self._endpoint is None:
            raise RuntimeError("the local Neo4j has not been started")
        return self._endpoint

    @property
    def password_file(self) -> Path:
        """The file with the password of user `neo4j`, readable by its owner alone."""
        return self._folder.password_file

    @property
    def pid(self) -> int | None:
        """The id of the database process, while there is one."""
        host = self._process
        return host.pid if host is not None and host.poll() is None else None

    def start(self) -> Endpoint:
        """Start the database and wait for it, at most five minutes after the jars are here.

        Raises `LocalDbError`: the folder is another's, the jars can't be had, the port is taken, Neo4j fails.
        """
        self._folder.open()
        try:
            if self._starting is not None:
                self._starting()
            self._class_path = [str(path) for path in jars.class_path(self._report)]
            cache = startcache.cache_file(self._class_path)
            self._start_cache = cache if cache.exists() else None
            password = self._folder.password()
            port = self._launch(self._settings.local_bolt_port)
            self._folder.keep_password()
        except BaseException:
            self._end_process()
            self._folder.close()
            raise
        self._endpoint = Endpoint(f"bolt://127.0.0.1:{port}", "neo4j", password)
        self._watcher = threading.Thread(target=self._keep_alive, args=(port,), daemon=True, name="neo4j-watcher")
        self._watcher.start()
        return self._endpoint

    def stop(self) -> None:
        """End the database cleanly, after half a minute the hard way. Harmless when it is not running."""
        self._stopping.set()
        self._end_process()
        if self._watcher is not None:
            self._watcher.join()
        self._folder.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _keep_alive(self, port: int) -> None:
        """Start the process again, on its port, each time it ends unasked; pauses grow while it does not stay up."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            host = self._process
            assert host is not None
            began = time.monotonic()
            code = host.wait()
            process.let_go(host)
            if self._stopping.is_set():
                return
            if time.monotonic() - began > _STEADY_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            _log.warning("database process ended, starting it again", exit_code=code, pause_seconds=pause)
            if self._stopping.wait(pause):
                return
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            try:
                self._launch(port)
                _log.info("database process is back", pid=self.pid, port=port)
            except Exception as error:  # whatever it was, the next attempt may do better
                if not self._stopping.is_set():
                    _log.error("database process did not come back", reason=str(error))

    def _launch(self, port: int) -> int:
        """Start one process and wait until it is up; returns its Bolt port."""
        folder = self._folder
        if port:
            _require_free(port)
        folder.config_file.write_text(neo4j_config(self._settings, port), encoding="utf-8")
        order = HostOrder.of(folder, self._class_path, jvm_options(self._settings, folder.home, self._start_cache))
        with self._mutex:
            if self._stopping.is_set():
                raise DatabaseStartFailed("it was stopped", folder.log_file)
            host = self._process = process.launch(folder.log_file)
        try:
            report = process.give_order(host, order)
        except BaseException:
            process.end(host)
            raise
        match report.outcome:
            case "ready":
                return report.port
            case "folder_in_use":
                raise DataFolderInUse(folder.root, None)
            case "port_in_use":
                raise BoltPortInUse(port)
            case "failed" if self._start_cache is not None and host.poll() not in (None, 0, 1):
                # Java itself broke, not Neo4j: the start cache is the first suspect, and can be done without.
                _log.warning(
                    "database process broke while it started, trying without quick start", reason=report.reason
                )
                process.let_go(host)
                self._start_cache = None
                return self._launch(port)
            case "failed":
                raise DatabaseStartFailed(report.reason, folder.log_file)

    def _end_process(self) -> None:
        with self._mutex:
            host = self._process
        if host is not None:
            process.end(host)


def _require_free(port: int) -> None:
    """Tell at once that a port is taken: Neo4j finds out at the end of its start."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise BoltPortInUse(port) from error
