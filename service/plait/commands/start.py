"""Starting a run: plan it on the history and on what the provider knows, resolve what it needs, all at once."""

import asyncio
from collections.abc import Mapping
from typing import TypedDict

import orjson
from pydantic import JsonValue

from plait.commands.contracts import PlannedStart, StartResult, StartRun
from plait.commands.execution import Codec, RefusedOnRecord, Toolbox, Unit, execute, new_id
from plait.commands.handoffs import stored_handoffs
from plait.commands.locking import require_open
from plait.commands.resolution import at_hand, fail_transfers, resolve
from plait.domain.errors import ErrorCode, NotFound, PlaitError, Refused
from plait.domain.handoff import MIN_HANDOFF_TOKENS
from plait.domain.ids import IdKind
from plait.domain.model import (
    Creator,
    Executor,
    Handoff,
    ItemKind,
    ItemStatus,
    Run,
    RunStatus,
    Strategy,
    Thread,
    TurnItem,
)
from plait.domain.planner import plan_start
from plait.domain.planning import Capabilities, Outcome, StartPlan
from plait.domain.tokens import count_tokens
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart, load_start
from plait.graph.statements import service_statement

_START = service_statement("start_run")


class PlannedProperties(TypedDict):
    plan: str
    transfer_ids: tuple[str, ...]
    handoff_ids: tuple[str, ...]


class StartCodec(Codec[StartResult]):
    """Keeps the ids of the handoffs, not their texts: they are records of their own, and never change."""

    def keep(self, answer: StartResult) -> str:
        if answer.start is None:
            return super().keep(answer)
        ids = tuple(Handoff.model_construct(id=handoff.id) for handoff in answer.start.handoffs)
        start = answer.start.model_copy(update={"handoffs": ids})
        return answer.model_copy(update={"start": start}).model_dump_json(by_alias=True, exclude_unset=True)

    async def recall(self, tx: Transaction, kept: str) -> StartResult:
        raw = orjson.loads(kept)
        ids = [handoff["id"] for handoff in raw["start"].pop("handoffs", [])] if raw.get("start") else []
        answer = StartResult.model_validate(raw)
        if answer.start is None:
            return answer
        start = answer.start.model_copy(update={"handoffs": await stored_handoffs(tx, ids)})
        return answer.model_copy(update={"start": start})


async def start_run(box: Toolbox, key: str | None, given: StartRun) -> StartResult:
    """A run that its executor may now start, and the plan to start it by.

    Raises `NotFound`, and `Refused` with `PROVIDER_UNKNOWN`, `PROVIDER_UNAVAILABLE`, `THREAD_ARCHIVED`,
    `THREAD_BUSY`, `UNSUPPORTED_TRANSFER` (the transfer is failed then, and no run exists) or `ID_TAKEN`.
    """

    # Counting the tokens of a long text takes a while: not on the event loop, and not while the thread is locked.
    tokens = await asyncio.to_thread(count_tokens, given.message)

    async def work(unit: Unit) -> StartResult:
        provider = runnable_provider(box.providers, given.provider, given.executor)
        thread = await unit.lock_thread(given.thread_id)
        require_open(thread)
        if thread.active_run_id is not None:
            raise Refused(
                ErrorCode.THREAD_BUSY,
                f"Thread {thread.id} is busy with run {thread.active_run_id}; wait until it ends, or fork the thread.",
                retryable=True,
            )
        loaded = await load(unit.tx, given.thread_id, provider, given.strategy)
        plan = plan_start(loaded.situation)
        if plan.outcome is Outcome.UNSUPPORTED:
            await _refuse(unit, loaded, plan)
        run, start = await begin(box, unit, given, loaded, plan, creator_of(thread, provider), tokens)
        unit.record(
            "run.planned",
            thread,
            run_id=run.id,
            transfer_id=next(iter(run.transfer_ids), None),
            data=planned_event(start),
        )
        return StartResult(run=run, start=start)

    return await execute(box, "startRun", key, given, StartCodec(StartResult), work)


async def begin(
    box: Toolbox, unit: Unit, given: StartRun, loaded: LoadedStart, plan: StartPlan, created_by: Creator, tokens: int
) -> tuple[Run, PlannedStart]:
    """Resolves what a supported plan needs, and makes the run. `tokens` counts the message."""
    start = await resolve(unit, loaded, plan, created_by, given.message)
    return await _create(box, unit, given, loaded, start, tokens), start


def planned_event(start: PlannedStart) -> dict[str, JsonValue]:
    """What the event of a planned run says of it."""
    return {
        "outcome": start.plan.outcome.value,
        "transfers": [{"id": transfer.id, "states": [transfer.status.value]} for transfer in start.transfers],
    }


async def explain_start(
    box: Toolbox, thread_id: str, provider_key: str, model: str | None, strategy: Strategy | None
) -> PlannedStart:
    """The plan that `start_run` would make now, with nothing written. Raises `NotFound`, `Refused`.

    It names the transfer that the start would use, and a handoff that is built already; not those it would make.
    """
    del model
    provider = known_provider(box.providers, provider_key)

    async def work(tx: Transaction) -> PlannedStart:
        loaded = await load(tx, thread_id, provider, strategy)
        return at_hand(loaded, plan_start(loaded.situation))

    return await box.database.read(work)


async def load(
    tx: Transaction, thread_id: str, provider: Capabilities, forced: Strategy | None, fork_failure: str | None = None
) -> LoadedStart:
    """The situation of a start. Raises `NotFound`."""
    loaded = await load_start(
        tx, thread_id, provider, min_handoff_tokens=MIN_HANDOFF_TOKENS, forced=forced, fork_failure=fork_failure
    )
    if loaded is None:
        raise NotFound(f"There is no thread {thread_id}.")
    return loaded


async def _refuse(unit: Unit, loaded: LoadedStart, plan: StartPlan) -> None:
    """Refuses an unsupported start before any run exists; a transfer it would have used is failed, on record."""
    advice = " Take another provider." if plan.forced is None else " Leave strategy out, or take another provider."
    error = PlaitError(ErrorCode.UNSUPPORTED_TRANSFER, f"This start is not supported. {plan.reason}{advice}")
    failed = await fail_transfers(unit, loaded, plan)
    if not failed:
        raise error
    unit.record(
        "transfer.failed",
        loaded.thread,
        transfer_id=failed[0].id,
        data={"reason": plan.reason, "transferIds": [transfer.id for transfer in failed]},
    )
    raise RefusedOnRecord(error)


async def _create(
    box: Toolbox, unit: Unit, given: StartRun, loaded: LoadedStart, start: PlannedStart, tokens: int
) -> Run:
    thread = loaded.thread
    run = Run(
        id=given.id or new_id(IdKind.RUN),
        thread_id=thread.id,
        position=thread.run_count + 1,
        generation=generation_of(loaded),
        provider=given.provider,
        model=given.model,
        executor=given.executor,
        status=RunStatus.STARTING,
        created_at=unit.now,
        item_count=1,
        tokens=tokens,
        tokens_before=thread.accepted_tokens,
        **planned_properties(start),
    )
    item = TurnItem(
        id=new_id(IdKind.ITEM),
        run_id=run.id,
        thread_id=thread.id,
        position=1,
        kind=ItemKind.USER_MESSAGE,
        status=ItemStatus.FINISHED,
        text=given.message,
        tokens=tokens,
        created_at=unit.now,
    )
    row = await unit.tx.demand(
        _START,
        threadId=thread.id,
        run=properties(run),
        item=properties(item),
        leaseMilliseconds=box.lease_milliseconds,
    )
    return Run.model_validate(row["run"])


def generation_of(loaded: LoadedStart) -> int:
    """One more than the largest of the runs that the new one stands on."""
    return 1 + max(loaded.thread.head_generation, *(each.generation for each in loaded.bringing.brought), 0)


def planned_properties(start: PlannedStart) -> PlannedProperties:
    """What a run remembers of its plan: the decision, and what accepting it will consume."""
    return PlannedProperties(
        plan=start.plan.model_dump_json(by_alias=True),
        transfer_ids=tuple(transfer.id for transfer in start.transfers),
        handoff_ids=tuple(handoff.id for handoff in start.handoffs),
    )


def creator_of(thread: Thread, provider: Capabilities) -> Creator:
    """A person changes the provider; a new provider thread of the same provider is Plait's own doing."""
    return Creator.SYSTEM if thread.provider == provider.key else Creator.USER


def runnable_provider(providers: Mapping[str, Capabilities], key: str, executor: Executor) -> Capabilities:
    """The provider of a run. Raises `Refused` with `PROVIDER_UNKNOWN` or `PROVIDER_UNAVAILABLE`."""
    provider = known_provider(providers, key)
    if executor is not Executor.CLIENT:
        raise Refused(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "This service has no adapter that runs providers itself. Use executor CLIENT and run it in your app.",
        )
    return provider


def known_provider(providers: Mapping[str, Capabilities], key: str) -> Capabilities:
    provider = providers.get(key)
    if provider is None:
        known = ", ".join(sorted(providers))
        raise Refused(ErrorCode.PROVIDER_UNKNOWN, f"There is no provider {key!a}; the settings name {known}.")
    return provider
