"""The records a command changes, locked for it, and the states in which it may not."""

from collections.abc import Container
from textwrap import shorten

from plait.commands.execution import RefusedOnRecord, Unit
from plait.domain.errors import ErrorCode, NotFound, Refused
from plait.domain.model import Record, Run, RunStatus, Thread, ThreadStatus, Transfer, TransferStatus
from plait.domain.transfers import LIVE
from plait.graph.statements import service_statement

_LOCK_RUN = service_statement("lock_run")
_TRANSFER = service_statement("transfer")
_RUNS = service_statement("runs_by_id")


class LockedRun(Record):
    """A run, and its thread locked for the command."""

    thread: Thread
    run: Run


async def lock_run(unit: Unit, run_id: str) -> LockedRun:
    """Raises `NotFound`."""
    row = await unit.tx.fetch(_LOCK_RUN, runId=run_id, now=unit.now)
    if row is None:
        raise NotFound(f"There is no run {run_id}.")
    return LockedRun.model_validate(row)


CHANGED_NOTHING = "The report was kept for audit and changed nothing. Start a new run to go on."

_REASON_CHARACTERS = 200
"""How much of the reason a refusal repeats: an executor may have given a long one."""


def require_reportable(unit: Unit, locked: LockedRun, report: Record, what_now: str = CHANGED_NOTHING) -> None:
    """Refuses a report about a run that has ended, and keeps what it said for audit.

    Raises `RefusedOnRecord` with `RUN_NOT_ACTIVE`.
    """
    run = locked.run
    if run.status.active:
        return
    refusal = run_not_active(run, what_now)
    unit.record(
        "report.late", locked.thread, run_id=run.id, data={"report": report.model_dump(mode="json", by_alias=True)}
    )
    raise RefusedOnRecord(refusal)


def run_not_active(run: Run, what_now: str) -> Refused:
    """The refusal of what is said about a run that has ended, with why it ended."""
    why = f": {shorten(run.reason, _REASON_CHARACTERS, placeholder=' …')}" if run.reason else ""
    return Refused(ErrorCode.RUN_NOT_ACTIVE, f"Run {run.id} has ended ({run.status.value}{why}). {what_now}")


def require_started(run: Run) -> None:
    """Raises `Refused` with `RUN_NOT_STARTED` when no provider has been reported to have accepted the run."""
    if run.status is RunStatus.STARTING:
        raise Refused(
            ErrorCode.RUN_NOT_STARTED,
            f"Run {run.id} has not been reported started. Call reportRunStarted when the provider has "
            "accepted the turn.",
        )


def require_open(thread: Thread) -> None:
    """Raises `Refused` with `THREAD_ARCHIVED` when the thread takes no more commands."""
    if thread.status is not ThreadStatus.ACTIVE:
        raise Refused(ErrorCode.THREAD_ARCHIVED, f"Thread {thread.id} is archived: it can be read, not changed.")


async def lock_waiting(
    unit: Unit, transfer_id: str, states: Container[TransferStatus] = LIVE
) -> tuple[Transfer, Thread]:
    """A transfer in one of these states that no run is starting on, and its target, locked.

    Raises `NotFound`, and `Refused` with `TRANSFER_NOT_PENDING` or `THREAD_BUSY`.
    """
    thread = await unit.lock_thread((await _transfer(unit, transfer_id)).target_thread_id)
    transfer = await _transfer(unit, transfer_id)
    if transfer.status not in states:
        by = next((f" by {key}" for key in (transfer.consumed_by_run_id, transfer.superseded_by_id) if key), "")
        raise Refused(ErrorCode.TRANSFER_NOT_PENDING, f"Transfer {transfer.id} is {transfer.status.value}{by} already.")
    if thread.active_run_id is not None:
        run = Run.model_validate((await unit.tx.demand(_RUNS, ids=[thread.active_run_id]))["records"][0])
        if transfer.id in run.transfer_ids:
            raise Refused(
                ErrorCode.THREAD_BUSY,
                f"Run {run.id} of thread {thread.id} is starting on this transfer; end the run first.",
                retryable=True,
            )
    return transfer, thread


async def _transfer(unit: Unit, transfer_id: str) -> Transfer:
    row = await unit.tx.fetch(_TRANSFER, transferId=transfer_id)
    if row is None:
        raise NotFound(f"There is no transfer {transfer_id}.")
    return Transfer.model_validate(row["transfer"])
