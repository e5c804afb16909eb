"""A Neo4j of the service's own: started in a data folder, watched, started again when it dies, and stopped."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
from pydantic import SecretStr

from plait.localdb import jars
from plait.localdb.config import jvm_options, neo4j_config
from plait.localdb.errors import BoltPortInUse, DatabaseStartFailed, DataFolderInUse
from plait.localdb.folder import DataFolder
from plait.localdb.protocol import STOP_LIMIT_SECONDS, HostOrder, HostReport
from plait.settings import Settings

START_LIMIT_SECONDS = 120.0
"""Past this a start counts as failed. It takes seconds; a recovery after a hard end may take longer."""

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

    def __init__(self, settings: Settings, report: jars.ReportProgress | None = None) -> None:
        """`report` is told how far the download of the jars is, where they are not on this machine yet."""
        self._settings = settings
        self._report = report
        self._folder = DataFolder(settings.data_dir)
        self._class_path: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
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
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> Endpoint:
        """Start the database and wait for it, at most `START_LIMIT_SECONDS` after the jars are here.

        Raises `LocalDbError`: the folder is another's, the jars can't be had, the port is taken, Neo4j fails.
        """
        self._folder.open()
        try:
            self._class_path = [str(path) for path in jars.class_path(self._report)]
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
        """End the database cleanly, after `STOP_LIMIT_SECONDS` the hard way. Harmless when it is not running."""
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
            process = self._process
            assert process is not None
            began = time.monotonic()
            code = process.wait()
            _let_go(process)
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
        order = HostOrder(
            home=str(folder.home),
            config=str(folder.config_file),
            lock_file=str(folder.database_lock),
            password_file=str(folder.current_password_file),
            reset_password=folder.password_is_new,
            class_path=self._class_path,
            jvm_options=jvm_options(self._settings, folder.home),
            parent_pid=os.getpid(),
        )
        with self._mutex, folder.log_file.open("ab") as log:
            if self._stopping.is_set():
                raise DatabaseStartFailed("it was stopped", folder.log_file)
            process = self._process = subprocess.Popen(
                # -P: a folder named like a module, where the service was started, must not be taken for it.
                [sys.executable, "-P", "-m", "plait.localdb.host"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Many threads each with an arena of malloc's own would cost tens of MiB.
                env={"MALLOC_ARENA_MAX": "2", **os.environ},
                start_new_session=True,
            )
        try:
            report = _await_report(process, order)
        except BaseException:
            _end(process)
            raise
        match report.outcome:
            case "ready":
                return report.port
            case "folder_in_use":
                raise DataFolderInUse(folder.root, None)
            case "port_in_use":
                raise BoltPortInUse(port)
            case "failed":
                raise DatabaseStartFailed(report.reason, folder.log_file)

    def _end_process(self) -> None:
        with self._mutex:
            process = self._process
        if process is not None:
            _end(process)


def _require_free(port: int) -> None:
    """Tell at once that a port is taken: Neo4j finds out at the end of its start."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise BoltPortInUse(port) from error


def _await_report(process: subprocess.Popen[bytes], order: HostOrder) -> HostReport:
    """Give the process its order and wait for its one line; a process that ends without one has failed."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError), process.stdout as answers, selectors.DefaultSelector() as selector:
        process.stdin.write(order.line())
        process.stdin.flush()
        selector.register(answers, selectors.EVENT_READ)
        if not selector.select(START_LIMIT_SECONDS):
            return HostReport("failed", reason=f"it was not up after {START_LIMIT_SECONDS:.0f} seconds")
        line = answers.readline()
        if line:
            return HostReport.parse(line)
    return HostReport("failed", reason=f"its process ended with code {process.wait()} while it started")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process: asked first, then the hard way; returns when it is gone."""
    process.terminate()
    try:
        process.wait(STOP_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _let_go(process)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close our end of the pipe to a process that is gone."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
