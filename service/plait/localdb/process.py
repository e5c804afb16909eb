"""Starting and ending the database process, and the one exchange with it; what it is for is the caller's."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from plait.localdb.protocol import STOP_LIMIT_SECONDS, HostOrder, HostReport

START_LIMIT_SECONDS = 300.0
"""Past this a start counts as failed. It takes seconds; more on a busy machine, or to recover after a hard end."""

Process = subprocess.Popen[bytes]


def launch(log_file: Path) -> Process:
    """A new database process that waits for its order; what it and Java print goes to the end of `log_file`."""
    with log_file.open("ab") as log:
        return subprocess.Popen(
            # -P: a folder named like a module, where the service was started, must not be taken for it.
            [sys.executable, "-P", "-m", "plait.localdb.host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            # Many threads each with an arena of malloc's own would cost tens of MiB.
            env={"MALLOC_ARENA_MAX": "2", **os.environ},
            start_new_session=True,
        )


def give_order(process: Process, order: HostOrder) -> HostReport:
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


def end(process: Process, limit_seconds: float = STOP_LIMIT_SECONDS) -> None:
    """End a process: asked first, after the limit the hard way; returns when it is gone."""
    process.terminate()
    try:
        process.wait(limit_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    let_go(process)


def let_go(process: Process) -> None:
    """Close our end of the pipe to a process that is gone."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
