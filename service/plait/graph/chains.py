"""From the graph to a thread's history: the chain of threads it runs through, and what those took in from others."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from pydantic import TypeAdapter

from plait.domain.history import START, WHOLE_RUN, History, Joint, Mark, Segment, ThreadLink
from plait.domain.merging import Past
from plait.domain.model import Record, Run, SourcePoint, Thread
from plait.domain.planning import Parcel
from plait.domain.tallies import Tally
from plait.graph.database import Transaction
from plait.graph.statements import service_statement

_CHAIN = service_statement("chain")
_RUN_AT = service_statement("run_at")


class TakenIn(NamedTuple):
    """A segment of another thread that a run took in, with the tallies at its ends, as the run keeps it."""

    segment: Segment
    before_it: Tally
    with_it: Tally


class KeptJoint(NamedTuple):
    """What a run keeps of what was brought to it, as JSON; nothing of either where nothing was."""

    adds: str | None
    leaves: str | None


def joint_of(parcels: Iterable[Parcel]) -> KeptJoint:
    """What the run that takes these parcels keeps of them."""
    adds: list[TakenIn] = []
    leaves: list[TakenIn] = []
    for parcel in parcels:
        tallies = iter(parcel.tallies)
        adds += [TakenIn(segment, *next(tallies)) for segment in parcel.part.segments]
        leaves += [TakenIn(segment, *next(tallies)) for segment in parcel.leaves.segments]
    return KeptJoint(_as_json(adds), _as_json(leaves))


def _as_json(rows: Sequence[TakenIn]) -> str | None:
    kept = [
        {
            "threadId": segment.thread_id,
            "after": tuple(segment.after),
            "through": tuple(segment.through),
            "beforeIt": tuple(before_it),
            "withIt": tuple(with_it),
        }
        for segment, before_it, with_it in rows
    ]
    return orjson.dumps(kept).decode() if kept else None


def _from_json(kept: str | None) -> tuple[TakenIn, ...]:
    # By hand: a history may run through thousands of joints, and a model for each took most of the time.
    return tuple(
        [
            TakenIn(
                Segment(row["threadId"], Mark(*row["after"]), Mark(*row["through"])),
                Tally(*row["beforeIt"]),
                Tally(*row["withIt"]),
            )
            for row in (orjson.loads(kept) if kept else ())
        ]
    )


class JointRow(Record):
    """A run that stands on other, or more, than the run before it, as `chain.cypher` gives it."""

    position: int
    ordinal: int
    tokens_before: int
    previous: int
    previous_ordinal: int
    previous_tokens: int
    adds: str | None
    leaves: str | None

    @cached_property
    def taken(self) -> tuple[TakenIn, ...]:
        return _from_json(self.adds)

    @cached_property
    def left(self) -> tuple[TakenIn, ...]:
        return _from_json(self.leaves)

    @property
    def joint(self) -> Joint:
        return Joint(
            Mark(self.position - 1),
            Mark(self.previous) if self.previous else START,
            tuple([row.segment for row in self.taken]),
            tuple([row.segment for row in self.left]) if self.leaves else (),
        )


class ChainLink(Record):
    """One thread of a chain, as `chain.cypher` gives it."""

    thread_id: str
    origin_thread_id: str | None
    origin_position: int | None
    origin_item_position: int | None
    origin_ordinal: int
    origin_tokens: int
    head_position: int
    head_ordinal: int
    head_tokens: int
    joints: tuple[JointRow, ...]

    @property
    def origin(self) -> Mark:
        if self.origin_position is None:
            return START
        return Mark(self.origin_position, WHOLE_RUN if self.origin_item_position is None else self.origin_item_position)

    @cached_property
    def link(self) -> ThreadLink:
        """Kept, as a start asks for it once for each provider thread."""
        joints = tuple(sorted(row.joint for row in self.joints))
        return ThreadLink(self.thread_id, self.origin_thread_id, self.origin, joints)


_LINKS = TypeAdapter(tuple[ChainLink, ...])


class Chain:
    """The threads a history runs through, from one thread back to where its root's runs begin."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._links = {link.thread_id: link for link in _LINKS.validate_python(tuple(rows))}

    def from_thread(self, thread_id: str) -> Iterator[ThreadLink]:
        """The links from a thread to the root, by the points they were forked from.

        A fork of an unused fork has its point in the thread that owns it, so threads without runs are passed over.
        """
        link = self._links.get(thread_id)
        while link is not None:
            yield link.link
            link = self._links.get(link.origin_thread_id) if link.origin_thread_id else None

    def history_at(self, thread_id: str, mark: Mark) -> History:
        """The history of a point."""
        return History.at(mark, self.from_thread(thread_id))

    def head_history(self, thread_id: str) -> History:
        """The history of a thread's head, or of its origin while it has no run."""
        return self.history_at(thread_id, Mark(self._links[thread_id].head_position))

    def past_at(self, thread_id: str, mark: Mark) -> Past:
        """The history of a point, with what was left out of it."""
        links = tuple(self.from_thread(thread_id))
        return Past(History.at(mark, links), History.left_out_at(mark, links))

    def head_past(self, thread_id: str) -> Past:
        """As `head_history`, with what was left out of it."""
        return self.past_at(thread_id, Mark(self._links[thread_id].head_position))

    def __contains__(self, thread_id: object) -> bool:
        """Whether a thread is the one the chain begins with, or an ancestor of it."""
        return thread_id in self._links

    def ledger(self) -> dict[tuple[str, Mark], Tally]:
        """The tally through each mark at which a segment of a history in this chain begins or ends."""
        ledger: dict[tuple[str, Mark], Tally] = {}
        for link in self._links.values():
            ledger[(link.thread_id, Mark(link.head_position))] = Tally(link.head_ordinal, link.head_tokens)
            if link.origin_thread_id is not None:
                ledger[(link.origin_thread_id, link.origin)] = Tally(link.origin_ordinal, link.origin_tokens)
            for row in link.joints:
                ledger[(link.thread_id, Mark(row.position - 1))] = Tally(row.ordinal - 1, row.tokens_before)
                ledger[(link.thread_id, Mark(row.previous))] = Tally(row.previous_ordinal, row.previous_tokens)
                for taken in (*row.taken, *row.left):
                    thread_id, after, through = taken.segment
                    ledger[(thread_id, after)] = taken.before_it
                    ledger[(thread_id, through)] = taken.with_it
        return ledger


async def read_chain(tx: Transaction, thread_id: str) -> Chain:
    """The threads that a thread's history runs through: none, not even itself, where there is no such thread."""
    return Chain((await tx.demand(_CHAIN, threadId=thread_id))["chain"])


async def last_point(tx: Transaction, history: History) -> SourcePoint | None:
    """The last point of a history, by the run that stands there and, where it ends inside the run, by the item."""
    if history.last is None:
        return None
    thread_id, mark = history.last
    row = await tx.demand(_RUN_AT, threadId=thread_id, position=mark.run, item=mark.item)
    run = Run.model_validate(row["run"])
    cut = run.position == mark.run and mark.item < run.item_count
    return SourcePoint(
        thread_id=thread_id,
        run_id=run.id,
        position=run.position,
        turn_item_id=row["itemId"] if cut else None,
        item_position=mark.item if cut else None,
        provider_thread_ref=run.native_thread_id,
        provider_turn_ref=run.native_turn_id,
    )


def own_history(thread: Thread) -> History:
    """The part of a thread's history that is its own runs; those it has rolled back stand among them."""
    return History.at(Mark(thread.head_position), [ThreadLink(thread.id)])
