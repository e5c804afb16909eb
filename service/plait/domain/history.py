"""Histories as segments: which part of which threads a point can see, and what one history has beyond another."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class Joint(NamedTuple):
    """A place in a thread's own line of runs where more, or other, stands before than the run before.

    What comes after `after` is preceded by the own line through `previous`, which is earlier where runs were rolled
    back; then by `adds`, what the run after the joint has taken in from elsewhere. `leaves` is what was left out of
    that on purpose: it is in no history here, and is not to be brought again.
    """

    after: Mark
    previous: Mark
    adds: tuple[Segment, ...] = ()
    leaves: tuple[Segment, ...] = ()


class ThreadLink(NamedTuple):
    """What a history needs to know of one thread: where it was forked from (nowhere: a root), its joints in order."""

    thread_id: str
    origin_thread_id: str | None = None
    origin: Mark = START
    joints: tuple[Joint, ...] = ()

    def passed(self, mark: Mark) -> Iterator[tuple[Joint, Mark]]:
        """The joints on the way from `mark` back to the origin, newest first, each with the mark it is come from."""
        for joint in reversed(self.joints):
            if joint.after < mark:
                yield joint, mark
                mark = joint.previous

    def line(self, mark: Mark) -> Iterator[Segment]:
        """What stands before `mark` and after the origin, newest first."""
        for joint, at in self.passed(mark):
            yield Segment(self.thread_id, joint.after, at)
            yield from reversed(joint.adds)
            mark = joint.previous
        if mark > START:
            yield Segment(self.thread_id, START, mark)


class History(NamedTuple):
    """A set of runs in topological order, oldest first, as segments that share nothing."""

    segments: tuple[Segment, ...] = ()

    @classmethod
    def at(cls, mark: Mark, chain: Iterable[ThreadLink]) -> "History":
        """The history of the point `mark` in the first thread of `chain`, which leads from there to the root."""
        segments: list[Segment] = []
        for link in chain:
            segments.extend(link.line(mark))
            mark = link.origin
        return cls(tuple(reversed(segments)))

    @classmethod
    def left_out_at(cls, mark: Mark, chain: Iterable[ThreadLink]) -> "History":
        """What those who made the history of a point have left out of it on purpose."""
        left = cls()
        for link in chain:
            for joint, _ in link.passed(mark):
                left = left.plus(cls(joint.leaves))
            mark = link.origin
        return left

    def minus(self, known: "History") -> "History":
        """What this history has and `known` has not, in this history's order."""
        spans = _spans(known.segments)
        return History(tuple(piece for segment in self.segments for piece in _subtract(segment, spans)))

    def plus(self, other: "History") -> "History":
        """This history, then what `other` has beyond it."""
        return History(self.segments + other.minus(self).segments)

    def followed_by(self, parts: Iterable["History"]) -> "History":
        """This history, then parts that share nothing with it nor with each other."""
        return History((*self.segments, *(segment for part in parts for segment in part.segments)))

    def common(self, other: "History") -> "History":
        """What both have, in this history's order."""
        return self.minus(self.minus(other))

    def without(self, thread_id: str) -> "History":
        """This history less all of one thread's own runs."""
        return History(tuple(segment for segment in self.segments if segment.thread_id != thread_id))

    def in_whole_runs(self) -> "History":
        """The same, with each run that it holds in several pieces all at the place of the first one."""
        segments = list(self.segments)
        for later, segment in enumerate(segments):
            if segment.after.item == WHOLE_RUN:
                continue
            for earlier in range(later):
                if (segments[earlier].thread_id, segments[earlier].through) == (segment.thread_id, segment.after):
                    through = min(segment.through, Mark(segment.after.run))
                    segments[earlier] = segments[earlier]._replace(through=through)
                    segments[later] = segment._replace(after=through)
                    break
        return History(tuple(segment for segment in segments if segment.after < segment.through))

    def holds(self, thread_id: str, mark: Mark) -> bool:
        """Whether the whole of a run (or its items up to the mark) is in this history."""
        before = Mark(mark.run - 1)
        return not History((Segment(thread_id, before, mark),)).minus(self)

    @property
    def last(self) -> tuple[str, Mark] | None:
        """The last place in it: a thread and a mark; none when it is empty."""
        return (self.segments[-1].thread_id, self.segments[-1].through) if self.segments else None

    def __bool__(self) -> bool:
        return bool(self.segments)

    def newest_first(self) -> Iterator[Segment]:
        return reversed(self.segments)


def _spans(segments: Iterable[Segment]) -> dict[str, list[Segment]]:
    """The segments of each thread in the order of their marks, those that touch joined into one."""
    spans: dict[str, list[Segment]] = {}
    for segment in sorted(segments):
        own = spans.setdefault(segment.thread_id, [])
        if own and segment.after <= own[-1].through:
            own[-1] = own[-1]._replace(through=max(own[-1].through, segment.through))
        else:
            own.append(segment)
    return spans


def _subtract(segment: Segment, spans: Mapping[str, Sequence[Segment]]) -> Iterator[Segment]:
    """What is left of a segment without the spans of its thread."""
    rest = segment
    own = spans.get(segment.thread_id, ())
    for span in own[bisect_right(own, rest.after, key=lambda span: span.through) :]:
        if span.after >= rest.through:
            break
        if span.after > rest.after:
            yield rest._replace(through=span.after)
        if span.through >= rest.through:
            return
        rest = rest._replace(after=span.through)
    yield rest
