"""Explicit checkpoints."""

from plait.commands.contracts import CheckpointResult, CreateCheckpoint
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.domain.errors import ErrorCode, InvalidInput, NotFound, Refused
from plait.domain.ids import IdKind
from plait.domain.model import Checkpoint, CheckpointKind, Run, RunStatus
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_RUN = service_statement("point_run")
_CREATE = service_statement("create_checkpoint")
_CODEC = Codec(CheckpointResult)


async def create_checkpoint(box: Toolbox, key: str | None, given: CreateCheckpoint) -> CheckpointResult:
    """A named checkpoint on a run of the thread that ended (default: its last one). The run is then a source point.

    Raises `NotFound`, `InvalidInput`, and `Refused` with `NO_STABLE_POINT`, `RUN_ACTIVE`, `RUN_NOT_STARTED`,
    `RUN_ROLLED_BACK` or `THREAD_ARCHIVED`.
    """

    async def work(unit: Unit) -> CheckpointResult:
        thread = await unit.lock_thread(given.thread_id)
        require_open(thread)
        run_id = given.run_id or thread.head_run_id
        if run_id is None:
            raise Refused(ErrorCode.NO_STABLE_POINT, f"Thread {thread.id} has no run of its own to checkpoint.")
        run = await _run(unit, run_id, thread.id)
        checkpoint = Checkpoint(
            id=new_id(IdKind.CHECKPOINT),
            thread_id=thread.id,
            run_id=run.id,
            position=run.position,
            generation=run.generation + 1,
            kind=CheckpointKind.EXPLICIT,
            label=given.label,
            summary=given.summary,
            workspace_vcs=given.workspace.vcs if given.workspace else None,
            workspace_commit=given.workspace.commit if given.workspace else None,
            created_at=unit.now,
        )
        row = await unit.tx.demand(_CREATE, threadId=thread.id, runId=run.id, checkpoint=properties(checkpoint))
        unit.record("checkpoint.created", thread, run_id=run.id, data={"checkpointId": checkpoint.id})
        return CheckpointResult(checkpoint=Checkpoint.model_validate(row["checkpoint"]))

    return await execute(box, "createCheckpoint", key, given, _CODEC, work)


async def _run(unit: Unit, run_id: str, thread_id: str) -> Run:
    row = await unit.tx.fetch(_RUN, id=run_id)
    if row is None:
        raise NotFound(f"There is no run {run_id}.")
    run = Run.model_validate(row["run"])
    if run.thread_id != thread_id:
        raise InvalidInput(f"Run {run_id} does not belong to thread {thread_id}.")
    if run.status.active:
        raise Refused(ErrorCode.RUN_ACTIVE, f"Run {run_id} is still active; wait until it ends.")
    if run.status is RunStatus.ROLLED_BACK:
        raise Refused(ErrorCode.RUN_ROLLED_BACK, f"Run {run_id} was rolled back. Name a run that is still there.")
    if run.started_at is None:
        raise Refused(ErrorCode.RUN_NOT_STARTED, f"Run {run_id} never reached a provider: it is in no history.")
    return run
