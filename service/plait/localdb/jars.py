"""The jars of the local Neo4j: where they are on this machine, how they get there, and that they are the locked ones.

They live in the Maven repository folder that jgo is set to (`M2_REPO`, or `~/.m2/repository`), shared by all data
folders and with Maven itself. Every start checks every hash, and needs no network when all are there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import threading
import tomllib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext, PythonResolver

from plait.localdb.errors import JarsUnavailable

LOCK_NAME = "jgo.lock.toml"

_PARALLEL_DOWNLOADS = 4
_DOWNLOAD_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Jar:
    """One jar as the lock names it; `sha256` in hex."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def path(self) -> Path:
        """Where it lies below a Maven repository folder."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        name = f"{self.artifact}-{self.version}{suffix}.jar"
        return Path(*self.group.split("."), self.artifact, self.version, name)


@dataclass(frozen=True)
class DownloadProgress:
    """How far a download is: of the `total` missing jars, `done` are here; `received` bytes came in so far."""

    done: int
    total: int
    received: int


ReportProgress = Callable[[DownloadProgress], None]


def locked_jars() -> tuple[Jar, ...]:
    """The jars of the lock file that ships with this package, in class path order."""
    text = resources.files("plait.localdb").joinpath(LOCK_NAME).read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["dependencies"]
    return tuple(
        Jar(e["groupId"], e["artifactId"], e["version"], e.get("classifier", ""), e["sha256"]) for e in entries
    )


def class_path(report: ReportProgress | None = None, repository: Path | None = None) -> list[Path]:
    """The class path of Neo4j, every jar present and checked; fetches what is missing and tells `report` how far it is.

    `repository` is the Maven repository folder; none means the one jgo is set to. Raises `JarsUnavailable`.
    """
    settings = GlobalSettings.load()
    root = repository or Path(settings.repo_cache)
    jars = locked_jars()
    try:
        if _faulty(root, jars):
            root.mkdir(parents=True, exist_ok=True)
            with _one_at_a_time(root):
                # Another process may have fetched them while this one waited.
                missing = _faulty(root, jars)
                _fetch(root, missing, {"central": MAVEN_CENTRAL_URL, **settings.repositories}, report)
    except OSError as error:
        raise JarsUnavailable(
            f"The jars of Neo4j can't be kept in {root}: {error}. Make that folder writable."
        ) from error
    return [root / jar.path for jar in jars]


def _faulty(root: Path, jars: Sequence[Jar]) -> list[Jar]:
    """Those of `jars` that are not below `root`, or are there with other content than the lock names."""
    with ThreadPoolExecutor(max_workers=_PARALLEL_DOWNLOADS) as pool:
        sound = pool.map(partial(_is_sound, root), jars)
        return [jar for jar, ok in zip(jars, sound, strict=True) if not ok]


def _is_sound(root: Path, jar: Jar) -> bool:
    try:
        with (root / jar.path).open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == jar.sha256
    except (FileNotFoundError, NotADirectoryError):
        return False


def _fetch(root: Path, jars: Sequence[Jar], remotes: dict[str, str], report: ReportProgress | None) -> None:
    """Fetch `jars` into a folder of its own below `root`, check each and move it to its place in one step.

    jgo writes straight to the final name; an interrupted download there would look like a finished one.
    """
    counter = _Counter(len(jars), report)
    with tempfile.TemporaryDirectory(prefix=".plait-", dir=root) as staging:
        pool = ThreadPoolExecutor(max_workers=_PARALLEL_DOWNLOADS)
        try:
            for _ in pool.map(partial(_fetch_one, root, Path(staging), remotes, counter), jars):
                pass
        finally:
            # Ctrl-C and a failure both end here: what has not begun must not begin.
            pool.shutdown(wait=True, cancel_futures=True)


def _fetch_one(root: Path, staging: Path, remotes: dict[str, str], counter: _Counter, jar: Jar) -> None:
    context = MavenContext(
        repo_cache=staging,
        remote_repos=remotes,
        timeout=_DOWNLOAD_TIMEOUT_SECONDS,
        resolver=PythonResolver(progress_callback=counter.file),
    )
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact(classifier=jar.classifier)
    name = f"{jar.group}:{jar.artifact}:{jar.version}"
    try:
        fetched = Path(artifact.resolve())
    except Exception as error:  # jgo raises what requests, the disk and its own checks raise: no common base
        raise JarsUnavailable(
            f"Neo4j's jar {name} could not be fetched ({error}). Check the network and start again: what is already "
            "here is kept. With a Neo4j of your own, set PLAIT_NEO4J_URI instead."
        ) from error
    if not _is_sound(staging, jar):
        raise JarsUnavailable(
            f"Neo4j's jar {name} came with other content than {LOCK_NAME} names, and was thrown away. "
            "Check which Maven repository jgo is set to use."
        )
    target = root / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(fetched, target)
    counter.finished()


class _Counter:
    """Adds up the progress of parallel downloads; `report` is called by one thread at a time."""

    def __init__(self, total: int, report: ReportProgress | None) -> None:
        self._total = total
        self._report = report
        self._done = 0
        self._received = 0
        self._mutex = threading.Lock()

    @contextmanager
    def file(self, name: str, size: int) -> Generator[Callable[[int], None]]:
        """The form in which jgo reports the progress of one file."""
        yield self._add

    def finished(self) -> None:
        with self._mutex:
            self._done += 1
            self._tell()

    def _add(self, count: int) -> None:
        with self._mutex:
            self._received += count
            self._tell()

    def _tell(self) -> None:
        if self._report is not None:
            self._report(DownloadProgress(self._done, self._total, self._received))


@contextmanager
def _one_at_a_time(root: Path) -> Generator[None]:
    """Let one process fetch; the others wait and then find the jars there."""
    with (root / ".plait.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
