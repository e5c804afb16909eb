"""Leases: a run whose executor has fallen silent is interrupted, by whichever replica looks first."""

from plait.commands.contracts import HeartbeatRun, RunResult
from plait.commands.ending import end_run
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.commands.locking import lock_run
from plait.domain.errors import StorageUnavailable
from plait.domain.model import ResultStatus, RunStatus
from plait.domain.subagents import Ending
from plait.graph.statements import service_statement

_SILENT = service_statement("silent_runs")
_SINCE = service_statement("silence_of_run")
_CODEC = Codec(RunResult)

_AT_ONCE = 100
"""Runs a sweep looks at; what is left is for the next."""


class _HeardOf(Exception):
    """The executor was heard of after all, the run has ended, or another replica was first."""


async def interrupt_silent_runs(box: Toolbox) -> int:
    """Interrupts active runs whose lease has run out, and returns how many. Raises `StorageUnavailable`.

    Several replicas may do so at once: each run is looked at again once its thread is locked. A run that can't be
    ended keeps none of the others: what it met is raised when all have been looked at, in an `ExceptionGroup`.
    """
    row = await box.database.answer(_SILENT, limit=_AT_ONCE)
    count, met = 0, list[Exception]()
    for run_id in row["ids"]:
        try:
            await _interrupt(box, run_id)
        except _HeardOf:
            continue
        except StorageUnavailable:
            raise
        except Exception as error:
            met.append(error)
        else:
            count += 1
    if met:
        raise ExceptionGroup("some silent runs could not be interrupted", met)
    return count


async def _interrupt(box: Toolbox, run_id: str) -> RunResult:
    async def work(unit: Unit) -> RunResult:
        locked = await lock_run(unit, run_id)
        silent = await unit.tx.demand(_SINCE, runId=run_id)
        if silent["since"] is None:
            raise _HeardOf
        ended = await end_run(
            unit,
            locked,
            RunStatus.INTERRUPTED,
            Ending(ResultStatus.UNKNOWN),
            reason=f"Nothing was heard of its executor: its lease ran out at {silent['since'].isoformat()}.",
        )
        unit.record(
            "run.interrupted",
            locked.thread,
            run_id=run_id,
            transfer_id=ended.result_id,
            data={"by": "lease"},
        )
        return RunResult(run=ended.run)

    return await execute(box, "interruptSilentRun", None, HeartbeatRun(run_id=run_id), _CODEC, work)
