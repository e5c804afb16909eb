"""What a person at a terminal sees: plain lines, complaints, and the progress of a download."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from plait.localdb import DownloadProgress

_out = Console(highlight=False, markup=False, soft_wrap=True)
_err = Console(highlight=False, markup=False, soft_wrap=True, stderr=True)


def say(line: str) -> None:
    """One line to standard output, never wrapped: addresses and paths in it are to be copied."""
    _out.print(line)
    _out.file.flush()


def complain(message: str) -> None:
    """A message to standard error, each of its lines marked as ours."""
    for line in message.splitlines():
        _err.print(f"plait: {line}")


class DownloadBar:
    """The progress of the first download: a bar at a terminal, a line every tenth of the way elsewhere.

    Nothing is shown when nothing is downloaded.
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._tenths = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, progress: DownloadProgress) -> None:
        """Show how far it is; called from the threads that download, one at a time."""
        megabytes = f"{progress.received / 1_000_000:.0f} MB"
        if _err.is_terminal:
            self._draw(progress, megabytes)
            return
        tenths = progress.done * 10 // progress.total
        if tenths > self._tenths:
            self._tenths = tenths
            _err.print(f"Downloading Neo4j: {progress.done} of {progress.total} files, {megabytes}")

    def _draw(self, progress: DownloadProgress, megabytes: str) -> None:
        if self._bar is None:
            self._bar = Progress(
                TextColumn("Downloading Neo4j"),
                BarColumn(),
                TextColumn("{task.completed} of {task.total} files, {task.fields[megabytes]}"),
                TimeElapsedColumn(),
                console=_err,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=progress.total, megabytes=megabytes)
        assert self._task is not None
        self._bar.update(self._task, completed=progress.done, megabytes=megabytes)
