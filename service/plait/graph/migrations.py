"""Migrations: numbered `.cypher` files, applied at start, each once, under a lock that dies with its holder."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString, cast

import structlog
from neo4j import AsyncSession, Query
from neo4j.exceptions import ClientError, Neo4jError, TransientError

from plait.graph.database import Database, mapped_errors
from plait.graph.statements import cypher_folder

_log = structlog.get_logger(__name__)
_LOCK_KEY: LiteralString = (
    "CREATE CONSTRAINT schema_migration_version IF NOT EXISTS FOR (n:SchemaMigration) REQUIRE n.version IS UNIQUE"
)
# Version 0 is the lock: whoever has written it in an open transaction migrates; if that process dies, Neo4j rolls back.
_LOCK: LiteralString = "MERGE (lock:SchemaMigration {version: 0}) SET lock.lockedAt = datetime()"
_APPLIED: LiteralString = (
    "MATCH (m:SchemaMigration) WHERE m.version > 0 RETURN m.version AS version, m.checksum AS checksum"
)
_RECORD: LiteralString = (
    "MERGE (m:SchemaMigration {version: $version}) SET m.name = $name, m.checksum = $checksum, m.appliedAt = datetime()"
)
_LIMIT_SECONDS = 600
"""How long one statement, and the lock around all of them, may take: on a large graph longer than any request."""


class MigrationMismatch(Exception):
    """The graph is not what this version of Plait can work on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    checksum: str
    statements: tuple[str, ...]


def load_migrations(folder: Path | None = None) -> tuple[Migration, ...]:
    """All migrations, by number. The checksum is over the statements, so that a comment may be mended."""
    files = sorted((folder or cypher_folder() / "migrations").glob("*.cypher"))
    return tuple(_load(file) for file in files)


def _load(file: Path) -> Migration:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("//")]
    statements = tuple(part.strip() for part in "\n".join(lines).split(";") if part.strip())
    digest = hashlib.sha256("\n".join(statements).encode()).hexdigest()
    return Migration(int(file.name.partition("_")[0]), file.stem, digest, statements)


async def migrate(database: Database, migrations: tuple[Migration, ...] | None = None) -> int:
    """Applies what is missing and returns how many that were. Safe with several replicas starting at once.

    Raises `MigrationMismatch`, `StorageUnavailable`.
    """
    wanted = load_migrations() if migrations is None else migrations
    async with mapped_errors(), database.session() as holder:
        await _tolerant(holder, _LOCK_KEY)
        lock = await holder.begin_transaction(timeout=_LIMIT_SECONDS)
        await (await lock.run(_LOCK)).consume()
        try:
            async with database.session() as session:
                return await _apply(session, wanted)
        finally:
            await lock.rollback()


async def _apply(session: AsyncSession, wanted: tuple[Migration, ...]) -> int:
    rows = await (await session.run(_APPLIED)).data()
    applied = {int(row["version"]): str(row["checksum"]) for row in rows}
    unknown = sorted(applied.keys() - {migration.version for migration in wanted})
    if unknown:
        raise MigrationMismatch(
            f"The graph has migration {unknown[-1]}, which this version of Plait does not know. Run a newer Plait."
        )
    count = 0
    for migration in wanted:
        if migration.version in applied:
            if applied[migration.version] != migration.checksum:
                raise MigrationMismatch(
                    f"Migration {migration.name} was applied with other statements than its file has. "
                    "Run the version of Plait that applied it."
                )
            continue
        for statement in migration.statements:
            await _tolerant(session, cast(LiteralString, statement))
        await (
            await session.run(_RECORD, version=migration.version, name=migration.name, checksum=migration.checksum)
        ).consume()
        _log.info("migration applied", migration=migration.name)
        count += 1
    if count:
        await (await session.run(_limited("CALL db.awaitIndexes(300)"))).consume()
    return count


async def _tolerant(session: AsyncSession, statement: LiteralString) -> None:
    """Runs a schema statement; two replicas that create the lock's constraint at once may see each other."""
    for attempt in range(5):
        try:
            await (await session.run(_limited(statement))).consume()
        except (ClientError, TransientError) as error:
            raced = (error.code or "").endswith(
                ("AlreadyExists", "DeadlockDetected", "ConstraintWithNameAlreadyExists")
            )
            if not raced or attempt == 4:
                raise
            await asyncio.sleep(0.05 * (attempt + 1))
        except Neo4jError as error:
            if (error.code or "").endswith("ConstraintCreationFailed"):
                told = " ".join((error.message or "").split())
                raise MigrationMismatch(
                    f"The graph holds records that Plait did not make and a constraint of it forbids. {told}"
                ) from error
            raise
        else:
            return


def _limited(statement: LiteralString) -> Query:
    return Query(statement, timeout=_LIMIT_SECONDS)
