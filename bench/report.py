"""What the person at the terminal sees: progress on standard error, the table on standard output."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.measure import Row

_errors = Console(stderr=True)
Step = Callable[[int], None]


def say(text: str) -> None:
    """A line on standard error."""
    _errors.print(text, highlight=False)


@contextmanager
def progress(what: str, total: int) -> Generator[Step]:
    """A bar while the block runs; the block calls what it is given with how much is done more."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=_errors,
        transient=True,
        refresh_per_second=2,
        disable=not _errors.is_terminal,
    ) as bars:
        task = bars.add_task(what, total=total)
        yield lambda more: bars.advance(task, more)


def print_table(rows: Sequence[Row], title: str) -> None:
    """The table on standard output, wide enough to be kept. `others`: the share of the cores that others took."""
    table = Table(title=title, box=box.MARKDOWN, title_justify="left")
    for name in ("what", "a", "b", "ratio", "wanted", "verdict", "samples", "others"):
        table.add_column(name, justify="right" if name == "ratio" else "left", overflow="fold")
    for row in rows:
        verdict = "" if row.ok is None else "ok" if row.ok else "FALLS SHORT"
        table.add_row(row.what, row.a, row.b, row.ratio, row.wanted, verdict, row.samples, f"{row.others or 0:.0%}")
    Console(width=None if Console().is_terminal else 220).print(table, highlight=False)
