"""A graph of many threads: trees of forks of forks, straight into the graph, as if the service had made every fork."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from itertools import islice

from neo4j import AsyncDriver

from bench.report import Step, progress
from bench.sample import RUNS, ForkSample, Properties, Sample, require_same, shape_of
from bench.sources import Source, make_sources
from bench.statements import write
from plait.commands.execution import new_id
from plait.domain.ids import IdKind

_TREES_A_TRANSACTION = 20
_WRITERS = 2
_THREADS_A_TREE = 100


async def make_forest(driver: AsyncDriver, sample: Sample, threads: int) -> list[str]:
    """Makes `threads` threads in trees of a hundred; returns the ids of all, in no order.

    Each tree grows by forks of a thread drawn from those it has: most are a few forks deep.
    """
    forks = _THREADS_A_TREE - 1
    roots = [Source(RUNS, forks=forks) for _ in range(threads // _THREADS_A_TREE)]
    await make_sources(driver, sample, roots, f"Growing {len(roots):,} roots")
    ids: list[str] = [root.id for root in roots]
    left = iter(roots)

    async def plant(step: Step) -> None:
        # Whole trees: a parent is never in another transaction that is still open.
        while trees := list(islice(left, _TREES_A_TRANSACTION)):
            rows = [row for root in trees for row in _fork_rows(root)]
            await _write_forks(driver, sample.fork, rows)
            ids.extend(row["thread"]["id"] for row in rows)
            step(len(rows))

    with progress(f"Growing {threads:,} threads", threads - len(roots)) as step:
        await asyncio.gather(*(plant(step) for _ in range(_WRITERS)))
    return ids


async def check_forest(driver: AsyncDriver, sample: Sample) -> None:
    """Raises `AssertionError` when a generated fork differs in shape from one made through the API."""
    root = Source(RUNS, forks=1)
    await make_sources(driver, sample, [root], "Checking the generator")
    rows = list(_fork_rows(root))
    await _write_forks(driver, sample.fork, rows)
    keys = [*root.keys, *(row["key"] for row in rows)]
    require_same(await shape_of(driver, root.id, keys), sample.forked_shape, "A generated fork")


async def _write_forks(driver: AsyncDriver, fork: ForkSample, rows: list[Properties]) -> None:
    await write(
        driver,
        "create_forks",
        thread=_less(fork.thread, rows[0]["thread"]),
        transfer=_less(fork.transfer, rows[0]["transfer"]),
        event=_less(fork.event, rows[0]["event"]),
        receipt=_less(fork.receipt, ["key"]),
        rows=rows,
    )
    await write(driver, "link_forks", edge=_less(fork.edge, ["transferId"]), rows=rows)


def _less(pattern: Properties, given: Iterable[str]) -> Properties:
    """The pattern without what each row gives: set even for a moment, the pattern's own id would be there twice."""
    return {name: value for name, value in pattern.items() if name not in set(given)}


def _fork_rows(root: Source) -> Iterator[Properties]:
    """The forks of a tree, in the order they are made: no earlier than their parents."""
    depths = {root.id: 0}
    known = [root.id]
    draw = random.Random(root.id)
    for number in range(root.forks):
        parent, thread_id, transfer_id = draw.choice(known), new_id(IdKind.THREAD), new_id(IdKind.TRANSFER)
        seq = root.own_events + number + 1
        depths[thread_id] = depths[parent] + 1
        known.append(thread_id)
        thread = {
            "id": thread_id,
            "parentThreadId": parent,
            "rootThreadId": root.id,
            "depth": depths[thread_id],
            "generation": depths[thread_id] + 1,
            "originThreadId": root.id,
            "originRunId": root.last_run_id,
            "originCheckpointId": root.last_checkpoint_id,
            "originTokens": root.tokens(root.runs),
        }
        transfer = {
            "id": transfer_id,
            "sourceThreadId": parent,
            "targetThreadId": thread_id,
            "sourcePointThreadId": root.id,
            "sourceRunId": root.last_run_id,
            "sourceCheckpointId": root.last_checkpoint_id,
            "sourceNativeThreadId": root.native_thread_id,
            "seq": seq,
        }
        event = {
            "id": new_id(IdKind.EVENT),
            "threadId": thread_id,
            "rootThreadId": root.id,
            "transferId": transfer_id,
            "seq": seq,
        }
        yield {"thread": thread, "transfer": transfer, "event": event, "key": new_id(IdKind.RECEIPT)}
