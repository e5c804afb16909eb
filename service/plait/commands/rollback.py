"""Rolling a thread back: its head moves to an earlier run; nothing is deleted."""

from collections.abc import Sequence

from plait.commands.contracts import RollbackResult, RollbackThread
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.commands.resolution import make_transfer, supersede
from plait.domain.errors import NotFound
from plait.domain.forking import NamedPoint
from plait.domain.history import History
from plait.domain.ids import IdKind
from plait.domain.model import Run, Thread, Transfer, TransferType
from plait.domain.rollback import Touched, aftermath, position_to_keep
from plait.domain.transfers import anew
from plait.graph.chains import last_point, read_chain
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
        thread = await unit.lock_thread(given.thread_id, _LOCK)
        require_open(thread)
        position = position_to_keep(thread, await _run(unit, given))
        row = await unit.tx.demand(_ROLL_BACK, threadId=thread.id, position=position, now=unit.now)
        rolled_back: list[str] = row["rolledBack"]
        touched = Touched.model_validate({name: row[name] for name in ("consumed", "waiting", "leaving")})
        after = aftermath(touched, frozenset(rolled_back))
        rolled = Thread.model_validate(row["thread"])
        await _make_anew(unit, rolled, after.anew)
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


async def _make_anew(unit: Unit, thread: Thread, consumed: Sequence[Transfer]) -> None:
    """Transfers from the same points as those whose runs were rolled back.

    What the target shares with the source of a merge is another point now.
    """
    ours = History()
    if any(transfer.type is TransferType.MERGE_BACK for transfer in consumed):
        ours = (await read_chain(unit.tx, thread.id)).head_history(thread.id)
    for transfer in consumed:
        base, point = None, transfer.source_point
        if transfer.type is TransferType.MERGE_BACK:
            theirs = (await read_chain(unit.tx, point.thread_id)).history_at(point.thread_id, point.mark)
            base = await last_point(unit.tx, theirs.common(ours))
        await make_transfer(unit, anew(transfer, new_id(IdKind.TRANSFER), base=base, created_at=unit.now))
