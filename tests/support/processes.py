"""Looking at processes from outside: whether one is gone, and which one is a service's database."""

from __future__ import annotations

import time

import psutil

GONE_LIMIT_SECONDS = 90


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has collected yet has ended too."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_gone(pid: int) -> None:
    """Wait until a process has ended by itself."""
    deadline = time.monotonic() + GONE_LIMIT_SECONDS
    while not is_gone(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.05)


def database_pid(service_pid: int) -> int:
    """The id of the database process that a service started."""
    found = [child.pid for child in psutil.Process(service_pid).children() if "plait.localdb.host" in child.cmdline()]
    assert len(found) == 1, f"process {service_pid} has {len(found)} database processes"
    return found[0]
