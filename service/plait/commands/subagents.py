"""Subagents: a run of one thread spawns another thread to do a task, and is given the result."""

import asyncio

import orjson
from pydantic import JsonValue

from plait.commands.contracts import (
    CancelSubagent,
    CompleteSubagent,
    SpawnResult,
    SpawnSubagent,
    StartResult,
    StartRun,
    SubagentResult,
)
from plait.commands.ending import Ended, end_run
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.handoffs import Draft, result_request, store
from plait.commands.locking import LockedRun, lock_run, require_open, require_started, run_not_active
from plait.commands.resolution import make_transfer
from plait.commands.results import take_results
from plait.commands.retention import lock_subagents
from plait.commands.start import StartCodec, begin, load, planned_event, runnable_provider, stored_handoffs
from plait.domain.errors import ErrorCode, NotFound, PlaitError
from plait.domain.forking import Origin, PointRun, offspring
from plait.domain.handoff import build_handoff
from plait.domain.ids import IdKind
from plait.domain.model import (
    NO_SEGMENTS,
    Creator,
    Handoff,
    HandoffKind,
    Relationship,
    ResultStatus,
    Run,
    RunStatus,
    SourcePoint,
    Strategy,
    SubagentContext,
    Thread,
    Transfer,
    TransferStatus,
    TransferType,
)
from plait.domain.planner import plan_start
from plait.domain.planning import Outcome
from plait.domain.subagents import Ending, may_take, require_room, spawner_of
from plait.domain.tokens import count_tokens
from plait.domain.transfers import pending_transfer, require_move
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_CREATE = service_statement("create_subagent")
_RUNS = service_statement("runs_by_id")
_THREADS = service_statement("threads_by_id")
_RESULT = service_statement("result_of_run")
_CONSUME = service_statement("consume_transfers")


class _SpawnCodec(Codec[SpawnResult]):
    """Keeps the start as `startRun` does: without the texts of its handoffs."""

    def __init__(self) -> None:
        super().__init__(SpawnResult)
        self._start = StartCodec(StartResult)

    def keep(self, answer: SpawnResult) -> str:
        records = answer.model_dump(mode="json", by_alias=True, include={"thread", "transfer"})
        return orjson.dumps(records | {"started": self._start.keep(answer.started)}).decode()

    async def recall(self, tx: Transaction, kept: str) -> SpawnResult:
        raw = orjson.loads(kept)
        return SpawnResult(
            thread=Thread.model_validate(raw["thread"]),
            transfer=Transfer.model_validate(raw["transfer"]),
            started=await self._start.recall(tx, raw["started"]),
        )


class _ResultCodec(Codec[SubagentResult]):
    """Keeps the id of the handoff, not its text."""

    def keep(self, answer: SubagentResult) -> str:
        kept = None if answer.handoff is None else Handoff.model_construct(id=answer.handoff.id)
        return answer.model_copy(update={"handoff": kept}).model_dump_json(by_alias=True, exclude_unset=True)

    async def recall(self, tx: Transaction, kept: str) -> SubagentResult:
        raw = orjson.loads(kept)
        handoff = raw.pop("handoff", None)
        found = await stored_handoffs(tx, [handoff["id"]] if handoff else [])
        return SubagentResult.model_validate(raw).model_copy(update={"handoff": next(iter(found), None)})


async def spawn_subagent(box: Toolbox, key: str | None, given: SpawnSubagent) -> SpawnResult:
    """A subagent of a run that works: a thread below its thread, with a run that its executor may now start.

    With `INHERIT` it has the history of the parent's latest stable point, with `NONE` its task alone. Raises
    `NotFound`, and `Refused` with `RUN_NOT_ACTIVE`, `RUN_NOT_STARTED`, `THREAD_ARCHIVED`, `LIMIT_EXCEEDED`,
    `PROVIDER_UNKNOWN`, `PROVIDER_UNAVAILABLE`, `UNSUPPORTED_TRANSFER` or `ID_TAKEN`.
    """
    # Counting the tokens of a long text takes a while: not on the event loop, and not while the thread is locked.
    tokens = await asyncio.to_thread(count_tokens, given.task)

    async def work(unit: Unit) -> SpawnResult:
        provider = runnable_provider(box.providers, given.provider, given.executor)
        locked = await lock_run(unit, given.parent_run_id)
        parent, spawner = locked.thread, locked.run
        require_open(parent)
        if not spawner.status.active:
            raise run_not_active(spawner, "Only a run that works can spawn a subagent.")
        require_started(spawner)
        require_room(parent, spawner, box.subagents)
        thread = await _create(unit, given, parent, spawner)
        loaded = await load(unit.tx, thread.id, provider, None)
        plan = plan_start(loaded.situation)
        if plan.outcome is Outcome.UNSUPPORTED:
            raise PlaitError(
                ErrorCode.UNSUPPORTED_TRANSFER,
                f"This subagent can't be started. {plan.reason} Take another provider, or context NONE.",
            )
        run = StartRun(
            id=given.run_id,
            thread_id=thread.id,
            provider=given.provider,
            model=given.model,
            message=given.task,
            executor=given.executor,
        )
        started = await begin(box, unit, run, loaded, plan, Creator.AGENT, tokens)
        transfer = started.start.transfers[0] if started.start else loaded.transfers[0]
        unit.record(
            "subagent.spawned",
            thread,
            run_id=started.run.id,
            transfer_id=transfer.id,
            data={"parentRunId": spawner.id, "context": given.context.value, **planned_event(started)},
        )
        return SpawnResult(thread=thread, transfer=transfer, started=started)

    return await execute(box, "spawnSubagent", key, given, _SpawnCodec(), work)


async def _create(unit: Unit, given: SpawnSubagent, parent: Thread, spawner: Run) -> Thread:
    """The thread of a subagent, and the transfer into it."""
    origin = await _origin(unit, parent) if given.context is SubagentContext.INHERIT else None
    spawned_by = SourcePoint(thread_id=parent.id, run_id=spawner.id, position=spawner.position)
    thread = offspring(
        given.id or new_id(IdKind.THREAD),
        parent,
        Relationship.SUBAGENT,
        origin,
        title=given.title,
        created_by=Creator.AGENT,
        created_at=unit.now,
    ).model_copy(
        update={
            "spawned_by_run_id": spawner.id,
            "spawned_by_position": spawner.position,
            "subagent_depth": parent.subagent_depth + 1,
        }
    )
    transfer = pending_transfer(
        new_id(IdKind.TRANSFER),
        TransferType.SUBAGENT_SPAWN,
        origin.point if origin else spawned_by,
        thread.id,
        source_thread_id=parent.id,
        created_by=Creator.AGENT,
        created_at=unit.now,
    )
    await unit.tx.demand(_CREATE, parentRunId=spawner.id, thread=properties(thread), transferId=transfer.id)
    await make_transfer(unit, transfer)
    return thread


async def _origin(unit: Unit, parent: Thread) -> Origin | None:
    """The latest stable point of the parent; none where nothing was completed before: there is nothing to inherit."""
    point = parent.latest_stable
    if point is None:
        return None
    row = await unit.tx.demand(_RUNS, ids=[point.run_id])
    run = Run.model_validate(row["records"][0])
    return Origin(point=point, run=PointRun.model_validate(run.model_dump(include=set(PointRun.model_fields))))


async def complete_subagent(box: Toolbox, key: str | None, given: CompleteSubagent) -> SubagentResult:
    """The result of a subagent's run: ended by this, unless it has ended. A run that waits for it is given it at once.

    For a run that has ended the result that is on record is the answer; another one that is given then is kept as an
    event. Raises `NotFound`, `InvalidInput` (the thread is no subagent), and `Refused` with `RUN_NOT_STARTED`.
    """

    async def work(unit: Unit) -> SubagentResult:
        locked = await lock_run(unit, given.run_id)
        spawner_of(locked.thread)
        if locked.run.status.active:
            require_started(locked.run)
            ended = await end_run(unit, locked, RunStatus.COMPLETED, Ending(ResultStatus.COMPLETED, given.result))
            run, result, kind = ended.run, _given(ended), "run.completed"
            data: dict[str, JsonValue] = {}
        else:
            run, result = locked.run, await _on_record(unit, locked)
            late = given.result is not None and given.result != result.result_text
            kind = "report.late" if late else "subagent.asked"
            data = {"report": given.model_dump(mode="json", by_alias=True)} if late else {}
        handoff = None
        if given.to_running_run and result.status is TransferStatus.PENDING:
            result, handoff = await _hand_over(box, unit, locked.thread, run, result)
        unit.record(
            kind,
            locked.thread,
            run_id=run.id,
            transfer_id=result.id,
            data={**data, "transfers": [{"id": result.id, "states": [result.status.value]}]},
        )
        return SubagentResult(run=run, transfer=result, handoff=handoff)

    return await execute(box, "completeSubagent", key, given, _ResultCodec(SubagentResult), work)


def _given(ended: Ended) -> Transfer:
    if ended.result is None:
        raise LookupError(f"run {ended.run.id} of a subagent gave nothing back")
    return ended.result


async def _on_record(unit: Unit, locked: LockedRun) -> Transfer:
    """The result that an ended run gave back. Its thread's parent is locked as by the end itself."""
    await unit.lock_thread(spawner_of(locked.thread).thread_id)
    row = await unit.tx.demand(_RESULT, threadId=locked.thread.id, runId=locked.run.id)
    if row["transfer"] is None:
        raise NotFound(f"Run {locked.run.id} gave no result back.")
    return Transfer.model_validate(row["transfer"])


async def _hand_over(
    box: Toolbox, unit: Unit, child: Thread, run: Run, result: Transfer
) -> tuple[Transfer, Handoff | None]:
    """Gives a result to the run that spawned the subagent, if that works: its executor is told it by the answer."""
    spawner = Run.model_validate((await unit.tx.demand(_RUNS, ids=[spawner_of(child).run_id]))["records"][0])
    provider = box.providers.get(spawner.provider)
    if provider is None or not may_take(spawner, result):
        return result, None
    request = result_request(result, run, child.title, provider, provider.handoff_tokens)
    built = await asyncio.to_thread(build_handoff, request)
    handoff = Handoff(
        id=new_id(IdKind.HANDOFF),
        transfer_id=result.id,
        target_thread_id=spawner.thread_id,
        provider=provider.key,
        kind=HandoffKind.DELTA_CONTEXT,
        text=built.text,
        hash=built.hash,
        tokens=built.tokens,
        budget_tokens=provider.handoff_tokens,
        segments=NO_SEGMENTS,
        payload=built.payload.model_dump_json(by_alias=True),
        created_at=unit.now,
    )
    await store(unit, [Draft(handoff, built.carries)])
    require_move(result, TransferStatus.RESOLVED_PORTABLE)
    changes = {
        "status": TransferStatus.CONSUMED.value,
        "strategy": Strategy.DELTA_CONTEXT.value,
        "targetProvider": provider.key,
        "handoffId": handoff.id,
        "resolvedAt": unit.now,
        "consumedAt": unit.now,
        "consumedByRunId": spawner.id,
    }
    row = await unit.tx.demand(
        _CONSUME, transfers=[{"id": result.id, "properties": changes}], runId=spawner.id, now=unit.now
    )
    consumed = Transfer.model_validate(row["records"][0])
    await take_results(box, unit, spawner, [consumed])
    return consumed, handoff


async def cancel_subagent(box: Toolbox, key: str | None, given: CancelSubagent) -> SubagentResult:
    """Stops a subagent's run, and the runs of all subagents below it. Each gives back that it was cancelled.

    For a run that has ended the result that is on record is the answer. Raises `NotFound` and `InvalidInput` (the
    thread is no subagent).
    """
    reason = given.reason or "The subagent was cancelled."

    async def work(unit: Unit) -> SubagentResult:
        locked = await lock_run(unit, given.run_id)
        spawner_of(locked.thread)
        if not locked.run.status.active:
            result = await _on_record(unit, locked)
            unit.record("subagent.asked", locked.thread, run_id=locked.run.id, transfer_id=result.id)
            return SubagentResult(run=locked.run, transfer=result)
        below = await lock_subagents(unit, locked.thread)
        ended = await _cancel(unit, locked, reason)
        cancelled = 1
        for thread in below:
            if thread.active_run_id is not None:
                await _cancel(unit, await lock_run(unit, thread.active_run_id), reason)
                cancelled += 1
        result = _given(ended)
        unit.record(
            "run.interrupted",
            locked.thread,
            run_id=locked.run.id,
            transfer_id=result.id,
            data={"by": "cancel", "cancelledRuns": cancelled},
        )
        return SubagentResult(run=ended.run, transfer=result, cancelled_runs=cancelled)

    return await execute(box, "cancelSubagent", key, given, _ResultCodec(SubagentResult), work)


async def _cancel(unit: Unit, locked: LockedRun, reason: str) -> Ended:
    return await end_run(unit, locked, RunStatus.INTERRUPTED, Ending(ResultStatus.CANCELLED), reason=reason)
