"""Running the statements of `bench/cypher/`, which are the benchmarks' own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, LiteralString, TypeVar, cast

from neo4j import AsyncDriver, AsyncManagedTransaction

from bench.engine import DATABASE

T = TypeVar("T")


@cache
def statement(name: str) -> LiteralString:
    """The text of `bench/cypher/<name>.cypher`."""
    return cast(LiteralString, (Path(__file__).parent / "cypher" / f"{name}.cypher").read_text(encoding="utf-8"))


async def managed(driver: AsyncDriver, work: Callable[[AsyncManagedTransaction], Awaitable[T]]) -> T:
    """One managed write transaction, as little of the driver as it takes."""
    async with driver.session(database=DATABASE) as session:
        return await session.execute_write(work)


async def one(driver: AsyncDriver, name: str, **parameters: object) -> dict[str, Any]:
    """The one record of a statement. Raises `LookupError` when there is none."""

    async def work(tx: AsyncManagedTransaction) -> dict[str, Any] | None:
        record = await (await tx.run(statement(name), parameters)).single()
        return None if record is None else {key: record[key] for key in record.keys()}  # noqa: SIM118 - a record iterates over its values

    found = await managed(driver, work)
    if found is None:
        raise LookupError(f"{name} gave no record")
    return found


async def write(driver: AsyncDriver, name: str, **parameters: object) -> None:
    """Runs a statement that answers nothing."""

    async def work(tx: AsyncManagedTransaction) -> None:
        await (await tx.run(statement(name), parameters)).consume()

    await managed(driver, work)
