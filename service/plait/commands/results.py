"""The results of subagents, taken by a run of the thread that spawned them: an item of that run each."""

import asyncio
from collections.abc import Sequence

from plait.commands.execution import Toolbox, Unit, new_id
from plait.domain.ids import IdKind
from plait.domain.items import join_items
from plait.domain.model import Run, Transfer
from plait.domain.subagents import result_item
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_APPEND = service_statement("append_items")


async def take_results(box: Toolbox, unit: Unit, run: Run, results: Sequence[Transfer]) -> Run:
    """Puts results into an accepted run: what its provider was told of them is in the history from there on."""
    now = unit.now
    ids = [new_id(IdKind.ITEM) for _ in results]
    # Counting tokens takes a while: not on the event loop.
    items = await asyncio.to_thread(
        lambda: [result_item(item_id, result, run, now) for item_id, result in zip(ids, results, strict=True)]
    )
    changes = join_items(run.id, run.item_count, {}, items)
    row = await unit.tx.demand(
        _APPEND,
        threadId=run.thread_id,
        runId=run.id,
        created=[properties(item) for item in changes.created],
        updated=[],
        addedTokens=changes.added_tokens,
        leaseMilliseconds=box.lease_milliseconds,
    )
    return Run.model_validate(row["run"])
