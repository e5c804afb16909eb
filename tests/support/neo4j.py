"""The one real Neo4j of a test run, and how to empty it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

import neo4j

from plait.localdb import Endpoint, LocalNeo4j
from plait.settings import Settings


@contextlib.contextmanager
def running_neo4j(data_dir: Path) -> Generator[Endpoint]:
    """A local Neo4j in `data_dir` until the block ends."""
    # Named, so that a developer's own PLAIT_… variables don't reach the tests.
    with LocalNeo4j(Settings(data_dir=data_dir, neo4j_uri=None, local_bolt_port=0)) as local:
        yield local.endpoint


def wipe(endpoint: Endpoint, *, schema: bool = False) -> None:
    """Delete every node and relationship; with `schema` also the constraints and indexes."""
    with (
        neo4j.GraphDatabase.driver(endpoint.uri, auth=endpoint.auth) as driver,
        driver.session(database=endpoint.database) as session,
    ):
        # While the constraints stay, the record of the migrations that made them has to stay as well.
        gone = (
            "MATCH (n) WHERE $schema OR NOT n:SchemaMigration CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"
        )
        session.run(gone, schema=schema).consume()
        if schema:
            for name in [row["name"] for row in session.run("SHOW CONSTRAINTS YIELD name")]:
                session.run(f"DROP CONSTRAINT `{name}` IF EXISTS").consume()  # pyright: ignore[reportArgumentType]
            lookups = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"
            for name in [row["name"] for row in session.run(lookups)]:
                session.run(f"DROP INDEX `{name}` IF EXISTS").consume()  # pyright: ignore[reportArgumentType]
