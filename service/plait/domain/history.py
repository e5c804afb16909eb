"""Histories as segments: which part of which threads a point can see, and what one history has beyond another."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

WHOLE_RUN = 2**31 - 1
"""The item number that stands for "all of the run"."""


class Mark(NamedTuple):
    """A place in one thread: through item `item` of run number `run`. Marks of one thread are ordered."""

    run: int
    item: int = WHOLE_RUN


START = Mark(0)
"""The mark before the first run of a thread."""


class Segment(NamedTuple):
    """The runs of one thread after one mark and through another: the half-open interval (after, through]."""

    thread_id: str
    after: Mark
    through: Mark

    @property
    def first_run(self) -> int:
        """The number of the first run it reaches into."""
        return self.after.run + 1 if self.after.item == WHOLE_RUN else self.after.run

    @property
    def last_run(self) -> int:
        """The number of the last run it reaches into."""
        return self.through.run


class ThreadLink(NamedTuple):
    """What a history needs to know of one thread: where it was forked from. No origin: a root."""

    thread_id: str
    origin_thread_id: str | None = None
    origin: Mark = START


class History(NamedTuple):
    """A set of runs in topological order, oldest first, as segments."""

    segments: tuple[Segment, ...] = ()

    @classmethod
    def at(cls, mark: Mark, chain: Iterable[ThreadLink]) -> "History":
        """The history of the point `mark` in the first thread of `chain`, which leads from there to the root."""
        segments: list[Segment] = []
        for link in chain:
            if mark > START:
                segments.append(Segment(link.thread_id, START, mark))
            mark = link.origin
        return cls(tuple(reversed(segments)))

    def minus(self, known: "History") -> "History":
        """What this history has and `known` has not, in this history's order."""
        by_thread: dict[str, list[Segment]] = {}
        for segment in known.segments:
            by_thread.setdefault(segment.thread_id, []).append(segment)
        rest: list[Segment] = []
        for segment in self.segments:
            rest.extend(_subtract(segment, by_thread.get(segment.thread_id, ())))
        return History(tuple(rest))

    def holds(self, thread_id: str, mark: Mark) -> bool:
        """Whether the whole of a run (or its items up to the mark) is in this history."""
        before = Mark(mark.run - 1)
        return not History((Segment(thread_id, before, mark),)).minus(self)

    def __bool__(self) -> bool:
        return bool(self.segments)

    def newest_first(self) -> Iterator[Segment]:
        return reversed(self.segments)


def _subtract(segment: Segment, others: Iterable[Segment]) -> list[Segment]:
    """What is left of a segment without others of its thread."""
    pieces = [segment]
    for other in others:
        left: list[Segment] = []
        for piece in pieces:
            if piece.after < other.after:
                left.append(piece._replace(through=min(piece.through, other.after)))
            if piece.through > other.through:
                left.append(piece._replace(after=max(piece.after, other.through)))
        pieces = [piece for piece in left if piece.after < piece.through]
    return pieces
