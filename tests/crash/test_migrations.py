"""Migrations at start: each once whoever starts, complete after a kill, and none on a graph of another version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from plait.graph.migrations import load_migrations
from plait.localdb import Endpoint, LocalNeo4j
from tests.conftest import StartPlait
from tests.support.bolt_proxy import BoltProxy, before_statement
from tests.support.client import Client
from tests.support.graph import Graph
from tests.support.neo4j import wipe
from tests.support.service import ServiceProcess

MIGRATIONS = load_migrations()


@pytest.fixture
def endpoint(own_neo4j: LocalNeo4j) -> Endpoint:
    """A Neo4j with nothing in it, not even a constraint."""
    wipe(own_neo4j.endpoint, schema=True)
    return own_neo4j.endpoint


@pytest.fixture
def graph(endpoint: Endpoint) -> Iterator[Graph]:
    opened = Graph(endpoint)
    yield opened
    opened.close()


def applied(graph: Graph) -> list[tuple[int, str]]:
    """The migrations on record: number and checksum."""
    rows = graph.rows("MATCH (m:SchemaMigration) RETURN m.version AS version, m.checksum AS checksum ORDER BY version")
    return [(row["version"], row["checksum"]) for row in rows]


def schema(graph: Graph) -> set[tuple[str, ...]]:
    """The names of all constraints, and of all indexes with their states."""
    constraints = {("constraint", row["name"]) for row in graph.rows("SHOW CONSTRAINTS YIELD name")}
    indexes = graph.rows("SHOW INDEXES YIELD name, state, type WHERE type <> 'LOOKUP' RETURN name, state")
    return constraints | {("index", row["name"], row["state"]) for row in indexes}


def log(service: ServiceProcess) -> list[dict[str, Any]]:
    """The log lines of a service, which are JSON objects."""
    return [json.loads(line) for line in service.output.splitlines() if line.startswith("{")]


WHOLE = [(migration.version, migration.checksum) for migration in MIGRATIONS]


@pytest.mark.parametrize("count", [2, 8])
def test_replicas_that_start_at_once_on_an_empty_database_apply_each_migration_once(
    plait_process: StartPlait, endpoint: Endpoint, graph: Graph, count: int
) -> None:
    replicas = [plait_process(endpoint, ready=False) for _ in range(count)]
    for replica in replicas:
        replica.wait_ready()
    for replica in replicas:
        replica.kill()

    assert applied(graph) == WHOLE
    lines = [line for replica in replicas for line in log(replica)]
    assert sorted(line["migration"] for line in lines if line["event"] == "migration applied") == [
        migration.name for migration in MIGRATIONS
    ]
    assert {line["level"] for line in lines} == {"info"}
    assert {state for *_, state in schema(graph) if state in ("ONLINE", "POPULATING", "FAILED")} == {"ONLINE"}


def test_a_service_killed_while_it_migrates_is_made_up_for_by_the_next(
    plait_process: StartPlait, endpoint: Endpoint, graph: Graph
) -> None:
    plait_process(endpoint).terminate()
    whole = schema(graph)
    wipe(endpoint, schema=True)
    first, last = MIGRATIONS[0], MIGRATIONS[-1]

    with BoltProxy(endpoint) as proxy:
        for statement, done in (
            (first.statements[len(first.statements) // 2], 0),
            (first.name, 0),  # what puts it on record
            (last.statements[-1], len(MIGRATIONS) - 1),
        ):
            trap = proxy.hold(statement, before_statement(1))
            service = plait_process(proxy.endpoint, ready=False)
            trap.wait()
            service.kill()
            proxy.cut_all()
            assert applied(graph) == WHOLE[:done], f"killed before {statement}"

    service = plait_process(endpoint)

    assert applied(graph) == WHOLE
    assert schema(graph) == whole
    client = Client(service.url)
    assert client.thread(title="All is there")["title"] == "All is there"
    client.close()


REFUSED = {
    "a newer migration": (
        "CREATE (:SchemaMigration {version: 99, name: '0099_later', checksum: 'x'})",
        "The graph has migration 99, which this version of Plait does not know. Run a newer Plait.",
    ),
    "a migration with other statements": (
        "MATCH (m:SchemaMigration {version: 1}) SET m.checksum = 'other'",
        "Migration 0001_identity was applied with other statements than its file has. "
        "Run the version of Plait that applied it.",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("away", [False, True], ids=["", "and Neo4j is away at first"])
def test_a_graph_of_another_version_is_refused_in_one_sentence_and_left_as_it_is(
    plait_process: StartPlait, endpoint: Endpoint, graph: Graph, change: str, sentence: str, away: bool
) -> None:
    plait_process(endpoint).terminate()
    graph.rows(change)
    before = (applied(graph), schema(graph))

    with BoltProxy(endpoint) as proxy:
        if away:
            proxy.refuse()
        service = plait_process(proxy.endpoint, ready=False)
        if away:
            service.wait_answering()
            proxy.let_in()
        code = service.wait_ended()

    assert code == 1
    assert [line for line in service.output.splitlines() if line.startswith("plait: ")] == [f"plait: {sentence}"]
    assert "Traceback" not in service.output
    assert "Plait is ready" not in service.output
    assert ("Plait waits for Neo4j" in service.output) is away
    assert (applied(graph), schema(graph)) == before


def test_a_graph_whose_records_break_a_constraint_is_refused_in_one_sentence(
    plait_process: StartPlait, endpoint: Endpoint, graph: Graph
) -> None:
    graph.rows("UNWIND [1, 2] AS n CREATE (:Thread {id: 'somebody else made both'})")

    service = plait_process(endpoint, ready=False)

    assert service.wait_ended() == 1
    (told,) = [line for line in service.output.splitlines() if line.startswith("plait: ")]
    assert told.startswith("plait: The graph holds records that Plait did not make and a constraint of it forbids.")
    assert "somebody else made both" in told
    assert "Traceback" not in service.output
