"""What a start is decided on and built from, read from the graph."""

from typing import Any

from plait.domain.history import WHOLE_RUN, History, Mark
from plait.domain.model import Handoff, Record, Run, Strategy, Thread, Transfer
from plait.domain.planner import ForkableTurn, KnownThread, StartSituation, Tally
from plait.domain.planning import Capabilities, ForkSupport
from plait.graph.chains import Chain
from plait.graph.database import Transaction
from plait.graph.statements import service_statement

_STATE = service_statement("start_state")
_TURN = service_statement("forkable_turn")

_LOOKED_AT = 100
"""Runs of the provider, of each thread in the history, among which one to fork at is looked for."""


class LoadedStart(Record):
    """A start's situation, with the unconsumed transfers into the thread and the handoffs built for them."""

    thread: Thread
    situation: StartSituation
    transfers: tuple[Transfer, ...]
    handoffs: tuple[Handoff, ...]


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
    the history is.
    """
    row = await tx.fetch(_STATE, threadId=thread_id, provider=provider.key)
    if row is None:
        return None
    thread = Thread.model_validate(row["thread"])
    chain = Chain(row["chain"])
    history = chain.head_history(thread_id)
    ledger = chain.ledger(thread_id)
    own: list[KnownThread] = []
    for entry in row["providerThreads"]:
        tip = Mark(entry["providerThread"]["tipPosition"])
        ledger[(thread_id, tip)] = Tally(entry["tipOrdinal"], entry["tipTokens"])
        known = chain.history_at(thread_id, tip)
        own.append(KnownThread.model_validate({"providerThread": entry["providerThread"], "known": known}))
    forkable = None
    if provider.fork is not ForkSupport.NONE and history:
        forkable = await _forkable(tx, provider, history, chain)
    if forkable is not None:
        run = forkable.run
        ledger[(run.thread_id, Mark(run.position))] = Tally(run.ordinal or 0, run.tokens_before + run.tokens)
    situation = StartSituation(
        history=history,
        provider=provider,
        own_threads=tuple(own),
        forkable=forkable,
        ledger=ledger,
        min_handoff_tokens=min_handoff_tokens,
        forced=forced,
        fork_failure=fork_failure,
    )
    return LoadedStart(
        thread=thread,
        situation=situation,
        transfers=tuple(Transfer.model_validate(entry) for entry in row["transfers"]),
        handoffs=tuple(Handoff.model_validate(entry) for entry in row["handoffs"]),
    )


async def _forkable(tx: Transaction, provider: Capabilities, history: History, chain: Chain) -> ForkableTurn | None:
    segments: list[dict[str, Any]] = [
        {
            "threadId": segment.thread_id,
            "after": segment.after.run,
            "last": segment.through.run if segment.through.item == WHOLE_RUN else segment.through.run - 1,
        }
        for segment in history.newest_first()
    ]
    row = await tx.fetch(
        _TURN,
        provider=provider.key,
        segments=segments,
        byTurn=provider.fork is ForkSupport.AT_TURN,
        within=_LOOKED_AT,
    )
    if row is None:
        return None
    turn = row["turn"]
    run = Run.model_validate(turn["run"])
    return ForkableTurn(
        run=run,
        known=chain.history_at(run.thread_id, Mark(run.position)),
        later_turns=turn["laterTurns"],
        later_terminal_turns=turn["laterTerminalTurns"],
    )
