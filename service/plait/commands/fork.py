"""Forking: one thread, one edge, one transfer, whatever the length of the source."""

from plait.commands.contracts import ForkResult, ForkThread, PointInput
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.domain.errors import InvalidInput, NotFound
from plait.domain.forking import NamedPoint, explicit_point, latest_stable_point
from plait.domain.ids import IdKind
from plait.domain.model import (
    Relationship,
    SourcePoint,
    Thread,
    ThreadStatus,
    Transfer,
    TransferStatus,
    TransferType,
)
from plait.graph.chains import own_history, read_history
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_FORK = service_statement("fork_thread")
_POINT = service_statement("point_run")
_CODEC = Codec(ForkResult)


async def fork_thread(box: Toolbox, key: str | None, given: ForkThread) -> ForkResult:
    """A fork of a thread at a stable point. No provider, no context, no copy of items.

    Raises `NotFound`, `InvalidInput`, and `Refused` with `NO_STABLE_POINT`, `RUN_ACTIVE`, `RUN_NOT_STABLE`,
    `RUN_ROLLED_BACK`, `THREAD_ARCHIVED` or `ID_TAKEN`.
    """

    async def work(unit: Unit) -> ForkResult:
        source = await unit.lock_thread(given.source_thread_id)
        require_open(source)
        point = await _point(unit, source, given.point)
        thread = _thread(given, source, point, unit)
        transfer = Transfer(
            id=new_id(IdKind.TRANSFER),
            type=TransferType.FORK,
            status=TransferStatus.PENDING,
            source_thread_id=source.id,
            target_thread_id=thread.id,
            source_point_thread_id=point.thread_id,
            source_run_id=point.run_id,
            source_position=point.position,
            source_checkpoint_id=point.checkpoint_id,
            source_turn_item_id=point.turn_item_id,
            source_item_position=point.item_position,
            created_by=given.created_by,
            created_at=unit.now,
        )
        row = await unit.tx.demand(
            _FORK,
            thread=properties(thread),
            transfer=properties(transfer),
            sourceThreadId=source.id,
            runId=point.run_id,
            pointId=point.turn_item_id or point.checkpoint_id or point.run_id,
            now=unit.now,
        )
        unit.made_transfers.append(transfer.id)
        unit.record("thread.forked", thread, transfer_id=transfer.id, data={"sourceThreadId": source.id})
        return ForkResult(
            thread=Thread.model_validate(row["thread"]), transfer=Transfer.model_validate(row["transfer"])
        )

    return await execute(box, "forkThread", key, given, _CODEC, work)


def _thread(given: ForkThread, source: Thread, point: SourcePoint, unit: Unit) -> Thread:
    return Thread(
        id=given.id or new_id(IdKind.THREAD),
        title=given.title,
        status=ThreadStatus.ACTIVE,
        created_by=given.created_by,
        created_at=unit.now,
        updated_at=unit.now,
        generation=source.generation + 1,
        depth=source.depth + 1,
        parent_thread_id=source.id,
        relationship_to_parent=Relationship.FORK,
        root_thread_id=source.root_thread_id,
        origin_thread_id=point.thread_id,
        origin_run_id=point.run_id,
        origin_position=point.position,
        origin_checkpoint_id=point.checkpoint_id,
        origin_turn_item_id=point.turn_item_id,
        origin_item_position=point.item_position,
    )


async def _point(unit: Unit, source: Thread, asked: PointInput) -> SourcePoint:
    given = [value for value in (asked.run_id, asked.checkpoint_id, asked.turn_item_id) if value is not None]
    if not given:
        return latest_stable_point(source)
    if len(given) > 1:
        raise InvalidInput("point takes one of runId, checkpointId and turnItemId, not several.")
    row = await unit.tx.fetch(_POINT, id=given[0])
    if row is None:
        raise NotFound(f"There is no {given[0]}.")
    named = NamedPoint.model_validate(row)
    # A point of the source's own needs no look at its ancestors, however deep the source stands.
    own = named.run.thread_id == source.id
    history = own_history(source) if own else await read_history(unit.tx, source)
    return explicit_point(source, history, named)
