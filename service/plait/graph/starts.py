"""What a start is decided on and built from, read from the graph."""

from collections.abc import Iterable, Sequence
from typing import Any

from plait.domain.history import WHOLE_RUN, History, Mark, Segment
from plait.domain.merging import Bringing, Past, Waiting, bring
from plait.domain.model import Handoff, ProviderThread, Record, Run, Strategy, Thread, Transfer
from plait.domain.planner import ForkableTurn, KnownThread, StartSituation
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport
from plait.domain.tallies import Tally
from plait.graph.chains import Chain, read_chain
from plait.graph.contents import before
from plait.graph.database import Transaction
from plait.graph.statements import service_statement

_STATE = service_statement("start_state")
_TURN = service_statement("forkable_turn")

_LOOKED_AT = 100
"""Runs of the provider, of each thread in the history, among which one to fork at is looked for."""

_TURNS = 10
"""Turns to fork at that are looked at: with merges the latest may know more than the history."""

Tallies = dict[tuple[str, Mark], Tally]


class LoadedStart(Record):
    """A start's situation, with the unconsumed transfers into the thread and the handoffs built for them.

    `transfers` carry the thread's own history; `bringing` is what comes from other threads. `line` has the ids of the
    thread and of those it was forked from, up to the root.
    """

    thread: Thread
    line: frozenset[str]
    situation: StartSituation
    transfers: tuple[Transfer, ...]
    handoffs: tuple[Handoff, ...]
    bringing: Bringing


async def load_start(
    tx: Transaction,
    thread_id: str,
    provider: Capabilities,
    *,
    min_handoff_tokens: int,
    forced: Strategy | None,
    fork_failure: str | None = None,
) -> LoadedStart | None:
    """The situation of a start in this thread by this provider; none when there is no such thread.

    `fork_failure` is what the provider said when it has just failed to fork. Two statements at most, however long
    the history is, and one for each other thread that has something to bring.
    """
    row = await tx.fetch(_STATE, threadId=thread_id, provider=provider.key)
    if row is None:
        return None
    chains = _Chains(tx, row["chain"])
    past = chains.own.head_past(thread_id)
    own = [await _known(chains, entry) for entry in row["providerThreads"]]
    # In the order in which they were asked for; those of one event by their ids: any order will do that stays the same.
    in_order = sorted(row["brought"], key=lambda entry: (entry["transfer"]["seq"], entry["transfer"]["id"]))
    waiting = [await _waiting(chains, entry) for entry in in_order]
    # One place is for what the thread's own history needs.
    bringing = bring(
        thread_id,
        past,
        waiting,
        max(provider.handoff_tokens // min_handoff_tokens - 1, 0),
        results=provider.injection is not ContextInjection.NONE,
    )
    whole = past.history.followed_by(each.part for each in bringing.brought)
    forkable = None
    if provider.fork is not ForkSupport.NONE and whole:
        forkable = await _forkable(chains, provider, whole)
    thread = Thread.model_validate(row["thread"])
    situation = StartSituation(
        history=past.history,
        brought=bringing.brought,
        provider=provider,
        own_threads=tuple(own),
        forkable=forkable,
        # The last to be given: whatever was read added to it.
        ledger=chains.ledger,
        min_handoff_tokens=min_handoff_tokens,
        subagent=thread.spawned_by is not None,
        forced=forced,
        fork_failure=fork_failure,
    )
    built = [*row["handoffs"], *(handoff for entry in row["brought"] for handoff in entry["handoffs"])]
    return LoadedStart(
        thread=thread,
        line=frozenset(link["threadId"] for link in row["chain"]),
        situation=situation,
        transfers=tuple(Transfer.model_validate(entry) for entry in row["transfers"]),
        handoffs=tuple(Handoff.model_validate(entry) for entry in built),
        bringing=bringing,
    )


class _Chains:
    """The chain of the thread that starts, those of other threads when they are needed, and one ledger of all."""

    def __init__(self, tx: Transaction, rows: Iterable[dict[str, Any]]) -> None:
        self.tx = tx
        self.own = Chain(rows)
        self.ledger: Tallies = self.own.ledger()
        self._others: dict[str, Chain] = {}

    async def past_at(self, thread_id: str, mark: Mark, tally: Tally) -> Past:
        """The past of a point, whose tally is known as well."""
        self.ledger[(thread_id, mark)] = tally
        return (await self._chain(thread_id)).past_at(thread_id, mark)

    async def _chain(self, thread_id: str) -> Chain:
        if thread_id in self.own:
            return self.own
        chain = self._others.get(thread_id)
        if chain is None:
            chain = self._others[thread_id] = await read_chain(self.tx, thread_id)
            self.ledger.update(chain.ledger())
        return chain


async def _known(chains: _Chains, entry: dict[str, Any]) -> KnownThread:
    provider_thread = ProviderThread.model_validate(entry["providerThread"])
    tip = provider_thread.tip
    past = await chains.past_at(tip.thread_id, tip.mark, Tally(entry["tipOrdinal"], entry["tipTokens"]))
    return KnownThread(provider_thread=provider_thread, known=past.history)


async def _waiting(chains: _Chains, entry: dict[str, Any]) -> Waiting:
    transfer = Transfer.model_validate(entry["transfer"])
    run = Run.model_validate(entry["run"]) if entry["run"] else None
    source = Past()
    if run is None:
        point = transfer.source_point
        source = await chains.past_at(point.thread_id, point.mark, Tally(entry["ordinal"], entry["tokens"]))
    return Waiting(
        transfer=transfer,
        source=source,
        title=entry["title"],
        generation=entry["generation"],
        gone=entry["gone"],
        run=run,
    )


async def _forkable(chains: _Chains, provider: Capabilities, history: History) -> ForkableTurn | None:
    """The latest turn of this provider that knows nothing beyond the history.

    Without merges that is the latest of all. With them the history may lack what a thread had rolled back, which a
    turn that was brought in has seen.
    """
    segments = list(history.newest_first())
    for _ in range(_TURNS):
        row = await chains.tx.fetch(
            _TURN,
            provider=provider.key,
            segments=_whole_runs(segments),
            byTurn=provider.fork is ForkSupport.AT_TURN,
            within=_LOOKED_AT,
        )
        if row is None:
            return None
        turn = row["turn"]
        run = Run.model_validate(turn["run"])
        mark = Mark(run.position)
        known = (
            await chains.past_at(run.thread_id, mark, Tally(run.ordinal or 0, run.tokens_before + run.tokens))
        ).history
        if not known.minus(history):
            return ForkableTurn(
                run=run,
                known=known,
                later_turns=turn["laterTurns"],
                later_terminal_turns=turn["laterTerminalTurns"],
            )
        segments = before(segments, run)
    return None


def _whole_runs(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    return [
        {
            "threadId": segment.thread_id,
            "after": segment.after.run,
            "last": segment.through.run if segment.through.item == WHOLE_RUN else segment.through.run - 1,
        }
        for segment in segments
    ]
