"""What a provider's thread knows: which part of a history it has natively, and which by which handoff.

A start tells a provider thread just what it has not. So it knows the history of its last run, each run once; and what
no handoff told it, it has natively, by turns of its own or of the thread it was forked from.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from plait.domain.history import History, Segment

T = TypeVar("T")
Spans = Mapping[str, list[tuple[Segment, T]]]


class CoverageVia(StrEnum):
    NATIVE = "native"
    HANDOFF = "handoff"


class Told(NamedTuple):
    """A handoff that a provider thread was told, and the part of a history it stands for."""

    handoff_id: str
    part: History


class Covered(NamedTuple):
    """A segment that is known in one way. `present`: it is in the thread's history; else it was rolled back since."""

    segment: Segment
    handoff_id: str | None
    present: bool


class Link(NamedTuple):
    """The native fork that made a provider thread: of which one, through which of its runs. None: it was made anew."""

    origin_id: str | None
    through: int | None


class Telling(NamedTuple):
    """A run of a provider thread, by its position, and a handoff that was told with it."""

    position: int
    told: Told


def told_to(
    provider_thread_id: str, links: Mapping[str, Link], tellings: Mapping[str, Iterable[Telling]]
) -> Iterator[Told]:
    """All handoffs a provider thread knows of: those it was told, and those its origin had been told by the fork."""
    key: str | None = provider_thread_id
    through: int | None = None
    while key is not None:
        for telling in tellings.get(key, ()):
            if through is None or telling.position <= through:
                yield telling.told
        key, through = links[key]


def coverage(known: History, told: Iterable[Told], present: History) -> tuple[Covered, ...]:
    """What is known, in the order of the history, cut where the way it is known changes."""
    by_handoff = _spans((segment, each.handoff_id) for each in told for segment in each.part.segments)
    # Most segments are in both histories as they are: a long one is not searched for each of them.
    shared = frozenset(present.segments)
    changed = {segment.thread_id for segment in known.segments if segment not in shared}
    in_history = _spans((segment, True) for segment in present.segments if segment.thread_id in changed)
    pieces = (
        Covered(piece, handoff_id, found is not None)
        for segment in known.segments
        for part, handoff_id in _cut(segment, by_handoff)
        for piece, found in ([(part, True)] if segment in shared else _cut(part, in_history))
    )
    return tuple(_joined(pieces))


def _joined(pieces: Iterable[Covered]) -> Iterator[Covered]:
    """The same, those that touch and are known in the same way made one."""
    last: Covered | None = None
    for piece in pieces:
        if last is not None and _same(last, piece):
            last = last._replace(segment=last.segment._replace(through=piece.segment.through))
        else:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last


def _same(one: Covered, other: Covered) -> bool:
    ends = (one.segment.thread_id, one.segment.through, one.handoff_id, one.present)
    return ends == (other.segment.thread_id, other.segment.after, other.handoff_id, other.present)


def _spans(labelled: Iterable[tuple[Segment, T]]) -> Spans[T]:
    spans: dict[str, list[tuple[Segment, T]]] = {}
    for segment, label in sorted(labelled, key=lambda each: each[0]):
        spans.setdefault(segment.thread_id, []).append((segment, label))
    return spans


def _cut(segment: Segment, spans: Spans[T]) -> Iterator[tuple[Segment, T | None]]:
    """A segment in pieces, each with the label of the span it lies in, or none."""
    rest = segment
    own = spans.get(segment.thread_id, [])
    for span, label in own[bisect_right(own, rest.after, key=lambda each: each[0].through) :]:
        if span.after >= rest.through:
            break
        if span.after > rest.after:
            yield rest._replace(through=span.after), None
            rest = rest._replace(after=span.after)
        through = min(span.through, rest.through)
        if rest.after < through:
            yield rest._replace(through=through), label
            rest = rest._replace(after=through)
    if rest.after < rest.through:
        yield rest, None
