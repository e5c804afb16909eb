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
from plait.commands.ending import Ended, GivenBack, end_run
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.commands.handoffs import HandoffCodec, result_draft, store
from plait.commands.locking import LockedRun, lock_run, require_open, require_started, run_not_active
from plait.commands.resolution import consume, states_of
from plait.commands.results import take_results
from plait.commands.retention import lock_subagents
from plait.commands.spawning import make_child
from plait.commands.start import StartCodec, begin, load, planned_event, runnable_provider
from plait.domain.errors import ErrorCode, NotFound, PlaitError
from plait.domain.forking import Origin, PointRun
from plait.domain.model import (
    Creator,
    ResultStatus,
    Run,
    RunStatus,
    Strategy,
    SubagentContext,
    Thread,
    Transfer,
)
from plait.domain.planner import plan_start
from plait.domain.planning import Outcome
from plait.domain.subagents import Ending, may_take, require_room, spawner_of
from plait.domain.tokens import count_tokens
from plait.domain.transfers import Passage, consumption
from plait.graph.database import Transaction
from plait.graph.statements import service_statement

_RUNS = service_statement("runs_by_id")
_RESULT = service_statement("result_of_run")


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
        origin = await _origin(unit, parent) if given.context is SubagentContext.INHERIT else None
        thread, _ = await make_child(unit, parent, spawner, origin, thread_id=given.id, title=given.title)
        loaded = await load(unit.tx, thread.id, provider, None)
        plan = plan_start(loaded.situation)
        if plan.outcome is Outcome.UNSUPPORTED:
            raise PlaitError(
                ErrorCode.UNSUPPORTED_TRANSFER,
                f"This subagent can't be started. {plan.reason} Take another provider, or context NONE.",
            )
        wanted = StartRun(
            id=given.run_id,
            thread_id=thread.id,
            provider=given.provider,
            model=given.model,
            message=given.task,
            executor=given.executor,
        )
        run, start = await begin(box, unit, wanted, loaded, plan, Creator.AGENT, tokens)
        (transfer,) = start.transfers
        unit.record(
            "subagent.spawned",
            thread,
            run_id=run.id,
            transfer_id=transfer.id,
            data={"parentRunId": spawner.id, "context": given.context.value, **planned_event(start)},
        )
        return SpawnResult(thread=thread, transfer=transfer, started=StartResult(run=run, start=start))

    return await execute(box, "spawnSubagent", key, given, _SpawnCodec(), work)


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
            run, back, kind = ended.run, _given(ended), "run.completed"
            data: dict[str, JsonValue] = {}
        else:
            run, back = locked.run, await _on_record(unit, locked)
            late = given.result is not None and given.result != back.result.result_text
            kind = "report.late" if late else "subagent.asked"
            data = {"report": given.model_dump(mode="json", by_alias=True)} if late else {}
        result, handoff, passages = back.result, None, dict[str, Passage]()
        provider = box.providers.get(back.spawner.provider)
        if given.to_running_run and provider is not None and may_take(back.spawner, result):
            draft = await result_draft(unit, result, run, locked.thread.title, provider, provider.handoff_tokens)
            await store(unit, [draft])
            handoff = draft.handoff
            told = consumption(result, back.spawner, Strategy.DELTA_CONTEXT, unit.now, handoffId=handoff.id)
            passages = {result.id: told}
            (result,) = await consume(unit, back.spawner, passages)
            await take_results(box, unit, back.spawner, [result])
        unit.record(
            kind,
            locked.thread,
            run_id=run.id,
            transfer_id=result.id,
            data={**data, "transfers": states_of(passages)},
        )
        return SubagentResult(run=run, transfer=result, handoff=handoff)

    return await execute(box, "completeSubagent", key, given, HandoffCodec(SubagentResult), work)


def _given(ended: Ended) -> GivenBack:
    if ended.given is None:
        raise LookupError(f"run {ended.run.id} of a subagent gave nothing back")
    return ended.given


async def _on_record(unit: Unit, locked: LockedRun) -> GivenBack:
    """The result that an ended run gave back. The thread that spawned it is locked as by the end itself."""
    spawner = (await lock_run(unit, spawner_of(locked.thread).run_id)).run
    row = await unit.tx.demand(_RESULT, threadId=locked.thread.id, runId=locked.run.id)
    if row["transfer"] is None:
        raise NotFound(f"Run {locked.run.id} gave no result back.")
    return GivenBack(Transfer.model_validate(row["transfer"]), spawner)


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
            result = (await _on_record(unit, locked)).result
            unit.record("subagent.asked", locked.thread, run_id=locked.run.id, transfer_id=result.id)
            return SubagentResult(run=locked.run, transfer=result)
        below = await lock_subagents(unit, locked.thread)
        ended = await _cancel(unit, locked, reason)
        cancelled = 1
        for thread in below:
            if thread.active_run_id is not None:
                await _cancel(unit, await lock_run(unit, thread.active_run_id), reason)
                cancelled += 1
        result = _given(ended).result
        unit.record(
            "run.interrupted",
            locked.thread,
            run_id=locked.run.id,
            transfer_id=result.id,
            data={"by": "cancel", "cancelledRuns": cancelled},
        )
        return SubagentResult(run=ended.run, transfer=result, cancelled_runs=cancelled)

    return await execute(box, "cancelSubagent", key, given, HandoffCodec(SubagentResult), work)


async def _cancel(unit: Unit, locked: LockedRun, reason: str) -> Ended:
    return await end_run(unit, locked, RunStatus.INTERRUPTED, Ending(ResultStatus.CANCELLED), reason=reason)
