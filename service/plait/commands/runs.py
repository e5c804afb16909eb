"""What an executor reports of a run under way: its items, its heartbeat, its end."""

from datetime import datetime
from typing import TypedDict

import orjson

from plait.commands.contracts import AppendTurnItems, EndRun, HeartbeatRun, ItemsResult, NewItem, RunResult
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.report import LockedRun, lock_run, require_reportable, run_not_active
from plait.domain.errors import ErrorCode, Refused
from plait.domain.ids import IdKind
from plait.domain.items import join_items
from plait.domain.model import Checkpoint, CheckpointKind, ItemKind, ItemStatus, Run, RunStatus, TurnItem
from plait.domain.tokens import count_tokens
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_ITEMS = service_statement("items_by_id")
_APPEND = service_statement("append_items")
_END = service_statement("end_run")
_SET_RUN = service_statement("set_run")
_CODEC = Codec(RunResult)


class _ItemsCodec(Codec[ItemsResult]):
    """Keeps the ids of the items on the receipt, not their texts.

    A finished item never changes. What a streaming one was at the time is what the request says of it.
    """

    def __init__(self, given: AppendTurnItems) -> None:
        super().__init__(ItemsResult)
        self._given = given

    def keep(self, answer: ItemsResult) -> str:
        return orjson.dumps([item.id for item in answer.items]).decode()

    async def recall(self, tx: Transaction, kept: str) -> ItemsResult:
        ids: list[str] = orjson.loads(kept)
        row = await tx.demand(_ITEMS, ids=ids)
        stored = {item["id"]: TurnItem.model_validate(item) for item in row["records"]}
        said = zip(ids, self._given.items, strict=True)
        return ItemsResult(
            items=tuple(
                stored[item_id].model_copy(update=dict(_said(item))) if item.streaming else stored[item_id]
                for item_id, item in said
            )
        )


async def append_turn_items(box: Toolbox, key: str | None, given: AppendTurnItems) -> ItemsResult:
    """Adds items to a run under way, or finishes streaming ones. Extends the run's lease.

    Raises `NotFound`, and `Refused` with `RUN_NOT_STARTED`, `RUN_NOT_ACTIVE` or `ID_TAKEN`.
    """

    async def work(unit: Unit) -> ItemsResult:
        locked = await lock_run(unit, given.run_id)
        require_reportable(unit, locked, given)
        _require_started(locked)
        report = [_item(locked.run, item, unit.now) for item in given.items]
        row = await unit.tx.demand(_ITEMS, ids=[item.id for item in given.items if item.id is not None])
        known = {item.id: item for item in map(TurnItem.model_validate, row["records"])}
        changes = join_items(locked.run.id, locked.run.item_count, known, report)
        await unit.tx.demand(
            _APPEND,
            threadId=locked.thread.id,
            runId=locked.run.id,
            created=[properties(item) for item in changes.created],
            updated=[properties(item) for item in changes.updated],
            addedTokens=changes.added_tokens,
            leaseUntil=unit.now + box.lease,
        )
        unit.record(
            "items.appended",
            locked.thread,
            run_id=locked.run.id,
            data={"itemIds": [item.id for item in changes.reported]},
        )
        return ItemsResult(items=changes.reported)

    return await execute(box, "appendTurnItems", key, given, _ItemsCodec(given), work)


async def heartbeat_run(box: Toolbox, key: str | None, given: HeartbeatRun) -> RunResult:
    """Extends the lease of an active run. Raises `NotFound`, and `Refused` with `RUN_NOT_ACTIVE`."""

    async def work(unit: Unit) -> RunResult:
        locked = await lock_run(unit, given.run_id)
        if not locked.run.status.active:
            # No word worth keeping, and an executor that nobody told may send it for ever.
            raise run_not_active(locked.run, "Stop working on it.")
        row = await unit.tx.demand(_SET_RUN, runId=given.run_id, properties={"leaseUntil": unit.now + box.lease})
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
        completed = status is RunStatus.COMPLETED
        if completed:
            _require_started(locked)
        row = await unit.tx.demand(
            _END,
            threadId=locked.thread.id,
            runId=locked.run.id,
            properties={
                "status": status.value,
                "endedAt": unit.now,
                "reason": given.reason,
                "stable": completed,
                "inputTokens": given.usage.input_tokens if given.usage else None,
                "outputTokens": given.usage.output_tokens if given.usage else None,
            },
            checkpoints=[properties(_checkpoint(locked.run, unit.now))] if completed else [],
        )
        unit.record(f"run.{status.value}", locked.thread, run_id=locked.run.id)
        checkpoints = [Checkpoint.model_validate(entry) for entry in row["checkpoints"]]
        return RunResult(run=Run.model_validate(row["run"]), checkpoint=checkpoints[0] if checkpoints else None)

    return await execute(box, name, key, given, _CODEC, work)


def _require_started(locked: LockedRun) -> None:
    if locked.run.status is RunStatus.STARTING:
        raise Refused(
            ErrorCode.RUN_NOT_STARTED,
            f"Run {locked.run.id} has not been reported started. Call reportRunStarted when the provider has "
            "accepted the turn.",
        )


def _checkpoint(run: Run, now: datetime) -> Checkpoint:
    return Checkpoint(
        id=new_id(IdKind.CHECKPOINT),
        thread_id=run.thread_id,
        run_id=run.id,
        position=run.position,
        generation=run.generation + 1,
        kind=CheckpointKind.AUTOMATIC,
        created_at=now,
    )


class _Said(TypedDict):
    kind: ItemKind
    status: ItemStatus
    text: str | None
    data: str | None
    tokens: int


def _said(item: NewItem) -> _Said:
    """What a report says of an item."""
    data = orjson.dumps(item.data).decode() if item.data is not None else None
    return _Said(
        kind=item.kind,
        status=ItemStatus.STREAMING if item.streaming else ItemStatus.FINISHED,
        text=item.text,
        data=data,
        tokens=count_tokens(item.text or "") + count_tokens(data or ""),
    )


def _item(run: Run, item: NewItem, now: datetime) -> TurnItem:
    return TurnItem(
        id=item.id or new_id(IdKind.ITEM),
        run_id=run.id,
        thread_id=run.thread_id,
        position=1,
        created_at=now,
        **_said(item),
    )
