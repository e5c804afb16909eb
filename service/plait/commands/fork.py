"""Forking: one thread, one edge, one transfer, whatever the length of the source."""

from typing import Any

from plait.commands.contracts import ForkResult, ForkThread, PointInput
from plait.commands.execution import Codec, Opening, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.domain.errors import InvalidInput, NotFound
from plait.domain.forking import NamedPoint, Origin, PointRun, explicit_point, latest_stable_point, offspring
from plait.domain.ids import IdKind
from plait.domain.model import (
    Record,
    Relationship,
    Thread,
    Transfer,
    TransferType,
)
from plait.domain.transfers import pending_transfer
from plait.graph.chains import own_history, read_chain
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_CLAIM = service_statement("claim_fork")
_FORK = service_statement("fork_thread")
_POINT = service_statement("point_run")
_CODEC = Codec(ForkResult)


async def fork_thread(box: Toolbox, key: str | None, given: ForkThread) -> ForkResult:
    """A fork of a thread at a stable point. No provider, no context, no copy of items.

    Raises `NotFound`, `InvalidInput`, and `Refused` with `NO_STABLE_POINT`, `RUN_ACTIVE`, `RUN_NOT_STABLE`,
    `RUN_ROLLED_BACK`, `THREAD_ARCHIVED` or `ID_TAKEN`.
    """

    async def work(unit: Unit) -> ForkResult:
        if unit.opened["thread"] is None:
            raise NotFound(f"There is no thread {given.source_thread_id}.")
        source = Thread.model_validate(unit.opened["thread"])
        require_open(source)
        origin = await _point(unit, source, given.point)
        thread = offspring(
            given.id or new_id(IdKind.THREAD),
            source,
            Relationship.FORK,
            origin,
            title=given.title,
            created_by=given.created_by,
            created_at=unit.now,
        )
        transfer = _transfer(given, thread, origin, unit)
        unit.made_transfers.append(transfer.id)
        unit.record("thread.forked", thread, transfer_id=transfer.id, data={"sourceThreadId": source.id})
        unit.write_last(
            _FORK,
            thread=_untimed(thread),
            transfer=_untimed(transfer),
            sourceThreadId=source.id,
            sourceStatus=source.status.value,
            stableRunId=source.stable_run_id,
            headRunId=source.head_run_id,
            pointId=origin.point.turn_item_id or origin.point.checkpoint_id or origin.point.run_id,
        )
        return ForkResult(thread=thread, transfer=transfer)

    opening = Opening(_CLAIM, {"threadId": given.source_thread_id})
    return await execute(box, "forkThread", key, given, _CODEC, work, opening)


def _transfer(given: ForkThread, thread: Thread, origin: Origin, unit: Unit) -> Transfer:
    run = origin.run
    refs = {"provider_thread_ref": run.native_thread_id, "provider_turn_ref": run.native_turn_id}
    return pending_transfer(
        new_id(IdKind.TRANSFER),
        TransferType.FORK,
        origin.point.model_copy(update=refs),
        thread.id,
        source_thread_id=given.source_thread_id,
        source_provider=run.provider,
        created_by=given.created_by,
        created_at=unit.now,
    )


def _untimed(record: Record) -> dict[str, Any]:
    """The properties without the times, which the statement sets: a time costs as much as all the rest to send."""
    return {name: value for name, value in properties(record).items() if name not in ("createdAt", "updatedAt")}


async def _point(unit: Unit, source: Thread, asked: PointInput) -> Origin:
    given = [value for value in (asked.run_id, asked.checkpoint_id, asked.turn_item_id) if value is not None]
    if not given:
        return Origin(point=latest_stable_point(source), run=PointRun.model_validate(unit.opened["run"]))
    if len(given) > 1:
        raise InvalidInput("point takes one of runId, checkpointId and turnItemId, not several.")
    row = await unit.tx.fetch(_POINT, id=given[0])
    if row is None:
        raise NotFound(f"There is no record {given[0]} to fork at.")
    named = NamedPoint.model_validate(row)
    run = PointRun.model_validate(named.run.model_dump(include=set(PointRun.model_fields)))
    if named.run.thread_id == source.id:
        # A point of the source's own needs no look at its ancestors, however deep the source stands.
        return Origin(point=explicit_point(source, own_history(source), {source.id}, named), run=run)
    chain = await read_chain(unit.tx, source.id)
    return Origin(point=explicit_point(source, chain.head_history(source.id), chain, named), run=run)
