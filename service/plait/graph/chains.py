"""From the graph to a thread's history: the chain of threads it runs through."""

from collections.abc import Iterable, Iterator
from typing import Any

from plait.domain.history import START, WHOLE_RUN, History, Joint, Mark, ThreadLink
from plait.domain.model import Record, Thread
from plait.domain.planner import Tally
from plait.graph.database import Transaction
from plait.graph.statements import service_statement

_CHAIN = service_statement("chain")


class JointRow(Record):
    """A run that goes on from an earlier one than the run before it, as `chain.cypher` gives it."""

    position: int
    ordinal: int
    tokens_before: int
    previous: int
    previous_ordinal: int
    previous_tokens: int

    @property
    def joint(self) -> Joint:
        return Joint(Mark(self.position - 1), Mark(self.previous) if self.previous else START)


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


class Chain:
    """The threads a history runs through, from one thread back to where its root's runs begin."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        links = [ChainLink.model_validate(row) for row in rows]
        self._links = {link.thread_id: link for link in links}

    def from_thread(self, thread_id: str) -> Iterator[ThreadLink]:
        """The links from a thread to the root, by the points they were forked from.

        A fork of an unused fork has its point in the thread that owns it, so threads without runs are passed over.
        """
        link = self._links.get(thread_id)
        while link is not None:
            joints = tuple(sorted(row.joint for row in link.joints))
            yield ThreadLink(link.thread_id, link.origin_thread_id, link.origin, joints)
            link = self._links.get(link.origin_thread_id) if link.origin_thread_id else None

    def history_at(self, thread_id: str, mark: Mark) -> History:
        """The history of a point."""
        return History.at(mark, self.from_thread(thread_id))

    def head_history(self, thread_id: str) -> History:
        """The history of a thread's head, or of its origin while it has no run."""
        return self.history_at(thread_id, Mark(self._links[thread_id].head_position))

    def ledger(self, thread_id: str) -> dict[tuple[str, Mark], Tally]:
        """The tally through each mark at which a segment of a history in this chain begins or ends."""
        link = self._links[thread_id]
        ledger = {(thread_id, Mark(link.head_position)): Tally(link.head_ordinal, link.head_tokens)}
        while True:
            for row in link.joints:
                before, previous = Mark(row.position - 1), Mark(row.previous)
                ledger[(link.thread_id, before)] = Tally(row.ordinal - 1, row.tokens_before)
                ledger[(link.thread_id, previous)] = Tally(row.previous_ordinal, row.previous_tokens)
            if link.origin_thread_id is None:
                return ledger
            ledger[(link.origin_thread_id, link.origin)] = Tally(link.origin_ordinal, link.origin_tokens)
            link = self._links[link.origin_thread_id]


async def read_history(tx: Transaction, thread: Thread) -> History:
    """The history of a thread's head."""
    row = await tx.demand(_CHAIN, threadId=thread.id)
    return Chain(row["chain"]).head_history(thread.id)


def own_history(thread: Thread) -> History:
    """The part of a thread's history that is its own runs; those it has rolled back stand among them."""
    return History.at(Mark(thread.head_position), [ThreadLink(thread.id)])
