"""The records a command changes, locked for it, and the states in which it may not."""

from textwrap import shorten

from plait.commands.execution import RefusedOnRecord, Unit
from plait.domain.errors import ErrorCode, NotFound, Refused
from plait.domain.model import Record, Run, RunStatus, Thread, ThreadStatus
from plait.graph.statements import service_statement

_LOCK_RUN = service_statement("lock_run")


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
