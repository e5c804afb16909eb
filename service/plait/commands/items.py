"""The items of a run under way: new ones, and streaming ones that grow or finish."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

import orjson

from plait.commands.contracts import AppendTurnItems, ItemsResult, NewItem
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import lock_run, require_reportable, require_started
from plait.domain.ids import IdKind
from plait.domain.items import join_items
from plait.domain.model import ItemKind, ItemStatus, Run, TurnItem
from plait.domain.tokens import count_tokens
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_ITEMS = service_statement("items_by_id")
_APPEND = service_statement("append_items")


class _Said(TypedDict):
    kind: ItemKind
    status: ItemStatus
    text: str | None
    data: str | None
    tokens: int


class _ItemsCodec(Codec[ItemsResult]):
    """Keeps the ids of the items on the receipt, not their texts.

    A finished item never changes. What a streaming one was at the time is what the request says of it.
    """

    def __init__(self, given: AppendTurnItems, said: Sequence[_Said]) -> None:
        super().__init__(ItemsResult)
        self._reported = tuple(zip(given.items, said, strict=True))

    def keep(self, answer: ItemsResult) -> str:
        return orjson.dumps([item.id for item in answer.items]).decode()

    async def recall(self, tx: Transaction, kept: str) -> ItemsResult:
        ids: list[str] = orjson.loads(kept)
        row = await tx.demand(_ITEMS, ids=ids)
        stored = {item["id"]: TurnItem.model_validate(item) for item in row["records"]}
        return ItemsResult(
            items=tuple(
                stored[item_id].model_copy(update=dict(said)) if item.streaming else stored[item_id]
                for item_id, (item, said) in zip(ids, self._reported, strict=True)
            )
        )


async def append_turn_items(box: Toolbox, key: str | None, given: AppendTurnItems) -> ItemsResult:
    """Adds items to a run under way, or finishes streaming ones. Extends the run's lease.

    Raises `NotFound`, and `Refused` with `RUN_NOT_STARTED`, `RUN_NOT_ACTIVE` or `ID_TAKEN`.
    """

    # Counting the tokens of long texts takes a while: not on the event loop, and not while the thread is locked.
    said = await asyncio.to_thread(lambda: [_said(item) for item in given.items])

    async def work(unit: Unit) -> ItemsResult:
        locked = await lock_run(unit, given.run_id)
        require_reportable(unit, locked, given)
        require_started(locked.run)
        report = [_item(locked.run, *pair, unit.now) for pair in zip(given.items, said, strict=True)]
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
            leaseMilliseconds=box.lease_milliseconds,
        )
        unit.record(
            "items.appended",
            locked.thread,
            run_id=locked.run.id,
            data={"itemIds": [item.id for item in changes.reported]},
        )
        return ItemsResult(items=changes.reported)

    return await execute(box, "appendTurnItems", key, given, _ItemsCodec(given, said), work)


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


def _item(run: Run, item: NewItem, said: _Said, now: datetime) -> TurnItem:
    return TurnItem(
        id=item.id or new_id(IdKind.ITEM),
        run_id=run.id,
        thread_id=run.thread_id,
        position=1,
        created_at=now,
        **said,
    )
