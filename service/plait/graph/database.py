"""Running statements on Neo4j: managed transactions, one record a statement, errors mapped in one place."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import NoneType
from typing import Any, TypeVar, cast

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession, Record, unit_of_work
from neo4j.exceptions import ClientError, ConstraintError, DriverError, IncompleteCommit, Neo4jError
from neo4j.time import DateTime

from plait.domain.errors import ErrorCode, InvalidInput, PlaitError, StorageUnavailable
from plait.graph.statements import Statement

T = TypeVar("T")
Row = dict[str, Any]

_TIMED_OUT = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
)


_TOO_LARGE = (
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    "Neo.TransientError.General.TransactionMemoryLimit",
    "Neo.TransientError.General.TransactionOutOfMemoryError",
)
_LABEL = re.compile(r"label `(\w+)`")
_PLAIN = frozenset({str, int, float, bool, NoneType})
_GRACE_SECONDS = 5
"""How much longer than its time-out a transaction is waited for: Neo4j itself ends it late, but tells."""


class KeyTaken(Exception):
    """A write met a key that another transaction had taken in the meantime; run the command again to see it.

    `label` is that of the node that has the key, where the database names it.
    """

    def __init__(self, label: str | None) -> None:
        super().__init__(f"a key of a {label or 'node'} is taken")
        self.label = label


class CommitUnknown(Exception):
    """The connection broke while the commit was under way: it happened wholly or not at all."""


class Transaction:
    """A managed transaction that runs our statements and gives the one record of each."""

    def __init__(self, inner: AsyncManagedTransaction) -> None:
        self._inner = inner

    async def fetch(self, statement: Statement, **parameters: object) -> Row | None:
        """The one record of `statement`, with native date-times; none when it gave none."""
        statement.check(parameters)
        result = await self._inner.run(statement.text, cast(dict[str, Any], parameters))
        # One record a statement is the rule; consuming it also surfaces errors of the write here.
        record: Record | None = await result.single(strict=False)
        if record is None:
            return None
        return {key: _native(record[key]) for key in record.keys()}  # noqa: SIM118 - a record iterates over its values

    async def demand(self, statement: Statement, **parameters: object) -> Row:
        """As `fetch`, where the statement always gives a record."""
        row = await self.fetch(statement, **parameters)
        if row is None:
            raise LookupError(f"{statement.name} gave no record")
        return row


class Database:
    """The driver behind one face. Sessions share a bookmark manager, so a read sees the writes made here before."""

    def __init__(self, driver: AsyncDriver, name: str, timeout_seconds: float, address: str) -> None:
        self.address = address
        """Where Neo4j is, for people."""
        self._driver = driver
        self._name = name
        self._in_time = unit_of_work(timeout=timeout_seconds)
        # A Neo4j that falls silent ends nothing: an established connection would be waited on for minutes.
        self._patience = timeout_seconds + _GRACE_SECONDS
        self._open = False
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()

    def open(self) -> None:
        """Lets work in, once the schema is there: without its constraints a write could double a record."""
        self._open = True

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` in one write transaction, retried by the driver.

        Raises `KeyTaken`, `CommitUnknown`, `StorageUnavailable`, and whatever `work` raises.
        """

        async def unit(tx: AsyncManagedTransaction) -> T:
            return await work(Transaction(tx))

        self._require_open()
        async with mapped_errors(), asyncio.timeout(self._patience), self.session("WRITE") as session:
            return await session.execute_write(self._in_time(unit))

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` in one read transaction, routed to readers. Raises `StorageUnavailable`."""

        async def unit(tx: AsyncManagedTransaction) -> T:
            return await work(Transaction(tx))

        self._require_open()
        async with mapped_errors(), asyncio.timeout(self._patience), self.session("READ") as session:
            return await session.execute_read(self._in_time(unit))

    async def answer(self, statement: Statement, **parameters: object) -> Row:
        """The one record of a read statement."""

        async def unit(tx: Transaction) -> Row:
            return await tx.demand(statement, **parameters)

        return await self.read(unit)

    async def ready(self) -> bool:
        """Whether Neo4j answers now and its schema is there; waits 2 s at most."""
        if not self._open:
            return False
        try:
            async with asyncio.timeout(2):
                await self._driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
        except (DriverError, Neo4jError, OSError, TimeoutError):
            return False
        return True

    def _require_open(self) -> None:
        if not self._open:
            raise StorageUnavailable("The graph database is not ready yet; try again in a moment.")

    async def close(self) -> None:
        await self._driver.close()

    def session(self, mode: str = "WRITE") -> AsyncSession:
        """A session on our database; mode is WRITE or READ."""
        # The driver leaves its configuration keywords untyped.
        return self._driver.session(  # pyright: ignore[reportUnknownMemberType]
            database=self._name, default_access_mode=mode, bookmark_manager=self._bookmarks
        )


@asynccontextmanager
async def mapped_errors() -> AsyncGenerator[None]:
    """Maps the driver's exceptions to ours: the only place that knows them."""
    try:
        yield
    except PlaitError:
        raise
    except ConstraintError as error:
        named = _LABEL.search(error.message or "")
        raise KeyTaken(named[1] if named else None) from error
    except IncompleteCommit as error:
        raise CommitUnknown from error
    except Neo4jError as error:
        raise _of_server(error) from error
    except (DriverError, OSError, TimeoutError) as error:
        raise StorageUnavailable("The graph database does not answer; try again in a moment.") from error


def _of_server(error: Neo4jError) -> Exception:
    code = error.code or ""
    if code in _TIMED_OUT:
        return StorageUnavailable(
            "The graph database took too long over this; ask for less, or try again.", ErrorCode.STORAGE_TIMEOUT
        )
    if code in _TOO_LARGE:
        return InvalidInput("This would take more memory than one request may; ask for less.", ErrorCode.LIMIT_EXCEEDED)
    if error.is_retryable() or code.startswith(("Neo.TransientError", "Neo.DatabaseError")):
        return StorageUnavailable("The graph database is busy or restarting; try again in a moment.")
    if code.startswith("Neo.ClientError.Security"):
        return StorageUnavailable("The graph database refuses the service's user; an operator must mend its password.")
    if isinstance(error, ClientError) and code == "Neo.ClientError.Statement.ArgumentError":
        return InvalidInput("The graph database refused a value of the input.")
    return error


def _native(value: Any) -> Any:
    """The same with native date-times. Our statements give maps, never nodes, so this is all there is to do."""
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value).items()
        # A long chain has ten thousand values, nearly all of them plain.
        return {key: inner if type(inner) in _PLAIN else _native(inner) for key, inner in entries}
    if isinstance(value, list):
        return [inner if type(inner) in _PLAIN else _native(inner) for inner in cast(list[Any], value)]
    if isinstance(value, DateTime):
        return value.to_native()
    return value
