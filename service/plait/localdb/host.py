"""The database process: a Java virtual machine with Neo4j in it, ended by SIGTERM or with the process that started it.

Run as `python -m plait.localdb.host`. The first line on standard input is the order (`HostOrder`); standard input stays
open as long as the starter lives. The one line on standard output is what came of it (`HostReport`).
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO

from plait.localdb.embedded import end_java, explain, start
from plait.localdb.protocol import FOLDER_WAIT_SECONDS, HostOrder, HostReport

_LOOK_FOR_PARENT_SECONDS = 1.0


def main() -> None:
    report_to = _own_standard_output()
    order = HostOrder.parse(sys.stdin.buffer.readline())
    stop = threading.Event()
    # Ctrl-C reaches every process of the terminal; the starter decides what it means for this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: _request_stop(stop, order.stop_limit_seconds))
    threading.Thread(target=_watch_parent, args=(order, stop), daemon=True, name="parent").start()

    if not _take_folder(Path(order.lock_file), stop):
        _report(report_to, HostReport("folder_in_use"))
        os._exit(1)
    try:
        database = start(order)
        # The Java virtual machine and jpype have their own ideas of it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except Exception as error:  # what Java throws comes as one of its own exceptions
        _report(report_to, explain(error))
        os._exit(1)
    _report(report_to, HostReport("ready", port=database.port))
    stop.wait()
    database.shut_down()
    if order.leave_java:
        end_java()
    # Java's other threads have nothing left to do; waiting for them costs a second.
    os._exit(0)


def _own_standard_output() -> IO[bytes]:
    """Keep the pipe to the starter for the report alone: whatever Java prints goes to the log with standard error."""
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(pipe, "wb")


def _report(to: IO[bytes], report: HostReport) -> None:
    try:
        to.write(report.line())
        to.close()
    except BrokenPipeError:
        pass  # the starter is gone; its watcher ends this process


def _request_stop(stop: threading.Event, limit_seconds: float) -> None:
    if not stop.is_set():
        stop.set()
        limit = threading.Timer(limit_seconds, os._exit, args=(1,))
        limit.daemon = True
        limit.start()


def _watch_parent(order: HostOrder, stop: threading.Event) -> None:
    """Ask for the end when the starter is gone, however it went.

    Standard input ends with it. A process it forked may hold the other end open, so its id is watched as well.
    PR_SET_PDEATHSIG would tell of the end of the starting *thread*, which may end long before its process.
    """
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), ended.set()), daemon=True, name="stdin").start()
    while not ended.wait(_LOOK_FOR_PARENT_SECONDS) and os.getppid() == order.parent_pid:
        pass
    _request_stop(stop, order.stop_limit_seconds)


def _take_folder(lock_file: Path, stop: threading.Event) -> bool:
    """Hold the database files for as long as this process lives; False if another process keeps them."""
    descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + FOLDER_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if stop.is_set() or time.monotonic() > deadline:
                return False
            time.sleep(0.1)


if __name__ == "__main__":
    main()
