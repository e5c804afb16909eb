"""The end of a run, however it comes: the thread is free, and what a subagent has to give back is on record."""

from typing import NamedTuple

from plait.commands.execution import Unit, new_id
from plait.commands.locking import LockedRun, lock_run
from plait.commands.resolution import make_transfer, supersede
from plait.domain.ids import IdKind
from plait.domain.model import Checkpoint, CheckpointKind, Relationship, ResultStatus, Run, RunStatus, Transfer
from plait.domain.subagents import Ending, ending_of, result_transfer, spawner_of
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_END = service_statement("end_run")
_LAST_ANSWER = service_statement("last_answer")


class GivenBack(NamedTuple):
    """The result of a subagent's run, and the run that spawned the subagent, its thread locked."""

    result: Transfer
    spawner: Run


class Ended(NamedTuple):
    """A run that has ended, its checkpoint if it did its work, and what it gives back if it is a subagent's."""

    run: Run
    checkpoint: Checkpoint | None
    given: GivenBack | None = None

    @property
    def result_id(self) -> str | None:
        return self.given.result.id if self.given else None


async def end_run(
    unit: Unit,
    locked: LockedRun,
    status: RunStatus,
    ending: Ending | None = None,
    *,
    gives_back: bool = True,
    **changes: object,
) -> Ended:
    """Ends an active run; `changes` are more properties of it. `ending` says more of the end of a subagent's run.

    Without `gives_back` a subagent's run has no result for its parent: that knows it already.
    """
    completed = status is RunStatus.COMPLETED
    row = await unit.tx.demand(
        _END,
        threadId=locked.thread.id,
        runId=locked.run.id,
        properties={"status": status.value, "endedAt": unit.now, "stable": completed, **changes},
        checkpoints=[properties(_checkpoint(unit, locked.run))] if completed else [],
    )
    run = Run.model_validate(row["run"])
    checkpoint = next((Checkpoint.model_validate(entry) for entry in row["checkpoints"]), None)
    given = None
    if gives_back and locked.thread.relationship_to_parent is Relationship.SUBAGENT:
        given = await _give_back(unit, locked, run, ending or ending_of(run))
    return Ended(run, checkpoint, given)


async def _give_back(unit: Unit, locked: LockedRun, run: Run, ending: Ending) -> GivenBack:
    """The result of a subagent's run waits for the thread that spawned it, unless that went back past the spawn."""
    point = spawner_of(locked.thread)
    spawner = (await lock_run(unit, point.run_id)).run
    if ending.status is ResultStatus.COMPLETED and ending.answer is None:
        ending = ending._replace(answer=(await unit.tx.demand(_LAST_ANSWER, runId=run.id))["text"])
    result = await make_transfer(
        unit, result_transfer(new_id(IdKind.TRANSFER), locked.thread, run, point, ending, unit.now)
    )
    if spawner.status is RunStatus.ROLLED_BACK:
        (result,) = await supersede(unit, (result,), None)
    return GivenBack(result, spawner)


def _checkpoint(unit: Unit, run: Run) -> Checkpoint:
    return Checkpoint(
        id=new_id(IdKind.CHECKPOINT),
        thread_id=run.thread_id,
        run_id=run.id,
        position=run.position,
        generation=run.generation + 1,
        kind=CheckpointKind.AUTOMATIC,
        created_at=unit.now,
    )
