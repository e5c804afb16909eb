"""What an executor reports of a run under way besides its items: its heartbeat, its end."""

from plait.commands.contracts import EndRun, HeartbeatRun, RunResult
from plait.commands.ending import end_run
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.commands.locking import lock_run, require_reportable, require_started, run_not_active
from plait.domain.model import Run, RunStatus
from plait.graph.statements import service_statement

_SET_RUN = service_statement("set_run")
_CODEC = Codec(RunResult)


async def heartbeat_run(box: Toolbox, key: str | None, given: HeartbeatRun) -> RunResult:
    """Extends the lease of an active run. Raises `NotFound`, and `Refused` with `RUN_NOT_ACTIVE`."""

    async def work(unit: Unit) -> RunResult:
        locked = await lock_run(unit, given.run_id)
        if not locked.run.status.active:
            # No word worth keeping, and an executor that nobody told may send it for ever.
            raise run_not_active(locked.run, "Stop working on it.")
        row = await unit.tx.demand(
            _SET_RUN, runId=given.run_id, properties={}, leaseMilliseconds=box.lease_milliseconds
        )
        unit.record("run.heartbeat", locked.thread, run_id=given.run_id)
        return RunResult(run=Run.model_validate(row["run"]))

    return await execute(box, "heartbeatRun", key, given, _CODEC, work)


async def complete_run(box: Toolbox, key: str | None, given: EndRun) -> RunResult:
    """Ends a run that did its work: it gets its checkpoint and is the thread's latest stable point.

    Raises `NotFound`, and `Refused` with `RUN_NOT_STARTED` or `RUN_NOT_ACTIVE`.
    """
    return await _end(box, "completeRun", key, given, RunStatus.COMPLETED)


async def fail_run(box: Toolbox, key: str | None, given: EndRun) -> RunResult:
    """Ends a run that failed, before or after its provider accepted it. Raises as `complete_run`."""
    return await _end(box, "failRun", key, given, RunStatus.FAILED)


async def interrupt_run(box: Toolbox, key: str | None, given: EndRun) -> RunResult:
    """Ends a run that was stopped. Raises as `complete_run`."""
    return await _end(box, "interruptRun", key, given, RunStatus.INTERRUPTED)


async def _end(box: Toolbox, name: str, key: str | None, given: EndRun, status: RunStatus) -> RunResult:
    async def work(unit: Unit) -> RunResult:
        locked = await lock_run(unit, given.run_id)
        require_reportable(unit, locked, given)
        if status is RunStatus.COMPLETED:
            require_started(locked.run)
        ended = await end_run(
            unit,
            locked,
            status,
            reason=given.reason,
            inputTokens=given.usage.input_tokens if given.usage else None,
            outputTokens=given.usage.output_tokens if given.usage else None,
        )
        unit.record(
            f"run.{status.value}",
            locked.thread,
            run_id=locked.run.id,
            transfer_id=ended.result_id,
        )
        return RunResult(run=ended.run, checkpoint=ended.checkpoint)

    return await execute(box, name, key, given, _CODEC, work)
