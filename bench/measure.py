"""Measuring two things against each other: paired and interleaved, so that what disturbs one disturbs the other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `ok` is none where nothing is wanted: the line only explains the others.

    `others` is the share of the cores that other processes took meanwhile, 0 to 1; none: who asks fills it in.
    """

    what: str
    a: str
    b: str
    ratio: str
    wanted: str
    ok: bool | None
    samples: str
    others: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Times of two kinds of work in milliseconds, taken in turns."""

    a: Sequence[float]
    b: Sequence[float]

    @property
    def ratio(self) -> float:
        """Median of b over median of a."""
        return statistics.median(self.b) / statistics.median(self.a)

    def row(self, what: str, a: str, b: str, at_most: float | None) -> Row:
        """The line that says `b` may take `at_most` times as long as `a`."""
        return Row(
            what=what,
            a=f"{a}: {_times(self.a)}",
            b=f"{b}: {_times(self.b)}",
            ratio=f"{self.ratio:.2f}",
            wanted="" if at_most is None else f"≤ {at_most}",
            ok=None if at_most is None else self.ratio <= at_most,
            samples=f"{len(self.a)} pairs",
        )


async def paired(a: Work, b: Work, samples: int, each: Callable[[], None] = lambda: None) -> Pair:
    """Times `a` and `b` in turns, A B B A …, so that neither always comes first. Calls `each` after every pair."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(samples):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        for which in order:
            began = time.perf_counter()
            await (a, b)[which]()
            times[which].append((time.perf_counter() - began) * 1000)
        each()
    return Pair(*times)


def _times(values: Sequence[float]) -> str:
    """Median, and the 90th percentile."""
    return f"{statistics.median(values):.2f} ms (p90 {percentile(values, 90):.2f})"


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which `percent` of the values lie; of the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
