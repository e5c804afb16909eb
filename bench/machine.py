"""What the figures were taken on, and how much of it others used meanwhile: a busy machine spoils every figure."""

from __future__ import annotations

import platform
import resource
import time
from dataclasses import dataclass
from importlib.metadata import version

import psutil


def machine() -> str:
    """Cores, memory and versions; nothing that names the machine."""
    memory = psutil.virtual_memory().total / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("neo4j", "strawberry-graphql", "uvicorn"))
    return f"{psutil.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {versions}"


@dataclass(slots=True)
class Neighbours:
    """Watches, from when it is made, what share of the cores processes take that are not the benchmark's."""

    all_seconds: float = 0.0
    own_seconds: float = 0.0
    began: float = 0.0

    def __post_init__(self) -> None:
        self.all_seconds, self.own_seconds, self.began = _busy_seconds(), _own_seconds(), time.monotonic()

    def share(self) -> float:
        """The share of all cores they have taken, 0 to 1."""
        others = (_busy_seconds() - self.all_seconds) - (_own_seconds() - self.own_seconds)
        return max(0.0, others / ((time.monotonic() - self.began) * (psutil.cpu_count() or 1)))


def _busy_seconds() -> float:
    """CPU time that all processes have used on all cores, and that others of the host have taken from them."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)


def _own_seconds() -> float:
    """CPU time of this process and of all it has started, whether they still run or not."""
    process = psutil.Process()
    seconds = _seconds(process)
    for child in process.children(recursive=True):
        try:
            seconds += _seconds(child)
        except psutil.NoSuchProcess:
            continue
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds + ended.ru_utime + ended.ru_stime


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
