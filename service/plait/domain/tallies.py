"""How much a part of a history holds, told from tallies at its ends and never by reading it."""

from collections.abc import Mapping
from typing import NamedTuple

from plait.domain.history import START, WHOLE_RUN, History, Mark, Segment


class Tally(NamedTuple):
    """How much a thread's own runs through a mark hold."""

    runs: int
    tokens: int


Ledger = Mapping[tuple[str, Mark], Tally]
"""The tally through each mark that the histories at hand end or begin with."""


def measure(part: History, ledger: Ledger) -> Tally:
    """How many runs and tokens a part of a history holds.

    A run that is cut inside counts as a run on both sides of the cut, and all its tokens as before the cut.
    """
    ends = [tallies_at_ends(segment, ledger) for segment in part.segments]
    cut = sum(segment.after.item != WHOLE_RUN for segment in part.segments)
    return Tally(
        cut + sum(end.runs - start.runs for start, end in ends),
        sum(end.tokens - start.tokens for start, end in ends),
    )


def tallies_at_ends(segment: Segment, ledger: Ledger) -> tuple[Tally, Tally]:
    """The tallies before and after a segment."""
    return (
        _through(ledger, segment.thread_id, segment.after),
        _through(ledger, segment.thread_id, segment.through),
    )


def _through(ledger: Ledger, thread_id: str, mark: Mark) -> Tally:
    return Tally(0, 0) if mark == START else ledger[(thread_id, mark)]
