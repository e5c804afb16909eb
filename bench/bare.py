"""The same fork without Plait: one managed transaction of the bare driver, with one statement written by hand."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime

from neo4j import AsyncDriver, AsyncManagedTransaction

from bench.sample import RUNS, Sample, require_same, shape_of
from bench.sources import Source, make_sources
from bench.statements import managed, statement
from plait.commands.execution import new_id
from plait.domain.ids import IdKind


class BareForks:
    """Forks at the latest stable point. `result` stands for the answer that the service keeps on the receipt."""

    def __init__(self, driver: AsyncDriver, result: str) -> None:
        self._driver = driver
        self._result = result
        self._statement = statement("bare_fork")

    async def fork(self, source_thread_id: str, key: str | None = None) -> str:
        """Makes one fork and returns its id."""
        key = key or uuid.uuid4().hex
        parameters: dict[str, object] = {
            "key": key,
            "inputHash": hashlib.sha256(key.encode()).hexdigest(),
            "sourceThreadId": source_thread_id,
            "threadId": new_id(IdKind.THREAD),
            "transferId": new_id(IdKind.TRANSFER),
            "eventId": new_id(IdKind.EVENT),
            "result": self._result,
            "now": datetime.now(UTC),
        }

        async def work(tx: AsyncManagedTransaction) -> str:
            record = await (await tx.run(self._statement, parameters)).single(strict=True)
            return record["thread"]["id"]

        return await managed(self._driver, work)


async def check_bare(driver: AsyncDriver, sample: Sample) -> None:
    """Raises `AssertionError` when the fork by hand leaves less or other things than the service does."""
    source = Source(RUNS)
    await make_sources(driver, sample, [source], "Checking the fork by hand")
    key = uuid.uuid4().hex
    await BareForks(driver, sample.fork.receipt["result"]).fork(source.id, key)
    require_same(await shape_of(driver, source.id, [*source.keys, key]), sample.forked_shape, "The fork by hand")
