"""Rolling a thread back: its head moves to an earlier run; nothing is deleted."""

from plait.commands.contracts import RollbackResult, RollbackThread
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.commands.resolution import make_transfer, supersede
from plait.domain.errors import NotFound
from plait.domain.forking import NamedPoint
from plait.domain.ids import IdKind
from plait.domain.merging import BROUGHT
from plait.domain.model import Run, Thread, Transfer
from plait.domain.rollback import Touched, aftermath, position_to_keep
from plait.domain.transfers import pending_transfer
from plait.graph.chains import last_point, past_of, read_past
from plait.graph.statements import service_statement

_POINT = service_statement("point_run")
_ROLL_BACK = service_statement("roll_back")
_LOCK = service_statement("lock_rollback")
_CODEC = Codec(RollbackResult)


async def rollback_thread(box: Toolbox, key: str | None, given: RollbackThread) -> RollbackResult:
    """Takes the runs after the named one out of the thread's history. To its latest run: changes nothing.

    Raises `NotFound`, `InvalidInput`, and `Refused` with `THREAD_BUSY`, `THREAD_ARCHIVED`, `RUN_ROLLED_BACK` or
    `RUN_NOT_STARTED`.
    """

    async def work(unit: Unit) -> RollbackResult:
        thread = await _lock(unit, given.thread_id)
        require_open(thread)
        position = position_to_keep(thread, await _run(unit, given))
        row = await unit.tx.demand(_ROLL_BACK, threadId=thread.id, position=position, now=unit.now)
        rolled_back: list[str] = row["rolledBack"]
        touched = Touched.model_validate({name: row[name] for name in ("consumed", "waiting", "leaving")})
        after = aftermath(touched, frozenset(rolled_back))
        rolled = Thread.model_validate(row["thread"])
        for transfer in after.anew:
            await _make_anew(unit, rolled, transfer)
        await supersede(unit, after.superseded, None)
        unit.record(
            "thread.rolled_back",
            thread,
            run_id=row["thread"].get("headRunId"),
            data={"toPosition": position, "rolledBackRuns": len(rolled_back)},
        )
        return RollbackResult(thread=rolled, rolled_back_runs=len(rolled_back))

    return await execute(box, "rollbackThread", key, given, _CODEC, work)


async def _run(unit: Unit, given: RollbackThread) -> Run:
    named = given.to_run_id or given.to_checkpoint_id
    row = await unit.tx.fetch(_POINT, id=named)
    if row is None:
        raise NotFound(f"There is no record {named} to go back to.")
    return NamedPoint.model_validate(row).run


async def _lock(unit: Unit, thread_id: str) -> Thread:
    """The thread, locked with those that wait for something of it. Raises `NotFound`."""
    row = await unit.tx.fetch(_LOCK, threadId=thread_id, now=unit.now)
    if row is None:
        raise NotFound(f"There is no thread {thread_id}.")
    return Thread.model_validate(row["thread"])


async def _make_anew(unit: Unit, thread: Thread, consumed: Transfer) -> None:
    """A transfer from the same point as one whose run was rolled back. That one stays as it is.

    What the target shares with the source of a merge is another point now.
    """
    base = consumed.base_point
    if consumed.type in BROUGHT:
        point = consumed.source_point
        theirs = await past_of(unit.tx, point.thread_id, point.mark)
        base = await last_point(unit.tx, theirs.history.common((await read_past(unit.tx, thread)).history))
    await make_transfer(
        unit,
        pending_transfer(
            new_id(IdKind.TRANSFER),
            consumed.type,
            consumed.source_point,
            consumed.target_thread_id,
            base=base,
            source_thread_id=consumed.source_thread_id,
            created_by=consumed.created_by,
            created_at=unit.now,
        ),
    )
