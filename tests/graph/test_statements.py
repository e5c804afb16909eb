"""Every statement of `cypher/`, held against the real database: it plans, and its header tells the truth."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

import plait
from plait.graph.migrations import migrate
from plait.graph.statements import PARAMETER_TYPES, cypher_folder, service_statement
from plait.localdb import Endpoint
from plait.settings import Settings
from plait.wiring import open_database

SERVICE = sorted((cypher_folder() / "service").glob("*.cypher"))
ANALYSTS = sorted((cypher_folder() / "analysts").glob("*.cypher"))
STATEMENTS = SERVICE + ANALYSTS
SCANS = {
    "list_threads": "walks the index of creation times from its cursor on; far, where a filter lets few through",
    "count_threads": "walks the label until it has counted up to its limit",
}
"""Statements of the service that may read by label, and why that is bounded."""


READ_OFF_AN_INDEX = {
    "forkable_turn",
    "history_runs",
    "items_of_runs",
    "items_page",
    "latest_summary",
    "list_threads",
    "oldest_runs",
    "runs_page",
    "segment_ends",
    "start_state",
    "thread_checkpoints",
    "visible_items_backward",
    "visible_items_forward",
}
"""Statements that page through what may be long: they must not read it all to sort it."""


@pytest.fixture(scope="module")
def session(neo4j_endpoint: Endpoint) -> Iterator[neo4j.Session]:
    """A session on the migrated database."""

    async def prepare() -> None:
        database = open_database(
            Settings(
                neo4j_uri=neo4j_endpoint.uri,
                neo4j_user=neo4j_endpoint.user,
                neo4j_password=neo4j_endpoint.password,
                neo4j_database=neo4j_endpoint.database,
            )
        )
        await migrate(database)
        await database.close()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(prepare())
    loop.close()
    with (
        neo4j.GraphDatabase.driver(neo4j_endpoint.uri, auth=neo4j_endpoint.auth) as driver,
        driver.session(database=neo4j_endpoint.database) as opened,
    ):
        yield opened


def header(file: Path) -> dict[str, str]:
    """The parameters a file declares, with their types."""
    return dict(re.findall(r"^// \$(\w+): (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE))


def sample(kind: str) -> Any:
    """A value of a declared type, for planning only."""
    return {
        "STRING": "x",
        "INTEGER": 1,
        "BOOLEAN": True,
        "MAP": {},
        "LIST<STRING>": [],
        "LIST<MAP>": [],
        "ZONED DATETIME": None,
    }[kind]


def explain(session: neo4j.Session, file: Path) -> neo4j.ResultSummary:
    parameters = {name: sample(kind) for name, kind in header(file).items()}
    text = "EXPLAIN " + file.read_text(encoding="utf-8")
    return session.run(text, parameters).consume()  # type: ignore[arg-type]


def operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", []):
        yield from operators(child)


def kind(operator: dict[str, Any]) -> str:
    return operator["operatorType"].partition("@")[0]


def multiplies(plan: dict[str, Any]) -> bool:
    """Whether a product is of more than single nodes found by their unique keys."""
    leaves = [kind(operator) for operator in operators(plan) if not operator.get("children")]
    return not all(leaf.startswith(("NodeUniqueIndexSeek", "Argument")) for leaf in leaves)


@pytest.mark.parametrize("file", STATEMENTS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_its_header_says_what_it_answers_and_what_it_takes(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    first = text.splitlines()[0]
    assert first.startswith("// ")
    assert not first.startswith("// $")
    assert set(header(file).values()) <= PARAMETER_TYPES.keys()
    body = re.sub(r"^//.*$", "", text, flags=re.MULTILINE)
    assert set(re.findall(r"\$(\w+)", body)) == set(header(file)), "declared parameters are those it uses"
    assert re.search(r"^// Columns: .+$", text, re.MULTILINE)


@pytest.mark.parametrize("file", STATEMENTS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_it_plans_on_indexes_without_a_warning(file: Path, session: neo4j.Session) -> None:
    summary = explain(session, file)
    assert summary.plan is not None
    steps = list(operators(summary.plan))  # type: ignore[arg-type]
    found = {kind(step) for step in steps}
    assert "AllNodesScan" not in found
    if file.parent.name == "service":
        assert not [step for step in steps if kind(step) == "CartesianProduct" and multiplies(step)]
    if file.parent.name == "service" and file.stem not in SCANS:
        assert not {step for step in found if step.startswith(("NodeByLabelScan", "NodeIndexScan"))}
    if file.stem in READ_OFF_AN_INDEX:
        assert not found & {"Top", "Sort"}, "the order comes from the index"
    warnings = [
        f"{status.gql_status} {status.status_description}"
        for status in summary.gql_status_objects
        if status.is_notification and status.raw_severity == "WARNING"
    ]
    # A label or property that no node of the empty database has yet is no fault of the statement.
    assert not [warning for warning in warnings if not warning.startswith("01N5")]


@pytest.mark.parametrize("file", STATEMENTS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_its_columns_are_those_of_its_header(file: Path, session: neo4j.Session) -> None:
    parameters = {name: sample(kind) for name, kind in header(file).items()}
    text = "EXPLAIN " + file.read_text(encoding="utf-8")
    keys = session.run(text, parameters).keys()  # type: ignore[arg-type]
    declared = re.search(r"^// Columns: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert declared is not None
    assert list(keys) == [part.strip() for part in declared[1].split(",")]


def test_every_statement_of_the_service_is_used_and_every_used_one_exists() -> None:
    sources = Path(plait.__file__).parent.rglob("*.py")
    used = {
        name
        for file in sources
        for name in re.findall(r'service_statement\("(\w+)"\)', file.read_text(encoding="utf-8"))
    }
    assert used == {file.stem for file in SERVICE}
    for name in used:
        assert service_statement(name).text


def test_a_fork_is_recorded_as_every_command_is() -> None:
    """It is one statement with its record, for speed: the record must not come to differ."""
    first = "MATCH (receipt:CommandReceipt {key: $key})"
    record, fork = (service_statement(name).text for name in ("record_command", "fork_thread"))
    assert fork[fork.index(first) :] == record[record.index(first) :]
    assert {"rootThreadId", "event", "transferIds", "key", "result", "now"} <= service_statement(
        "fork_thread"
    ).parameters.keys()


def test_a_fork_claims_its_receipt_as_every_command_does() -> None:
    claim, fork = (service_statement(name).text for name in ("claim_receipt", "claim_fork"))
    merge = claim[claim.index("MERGE") : claim.index("RETURN")]
    assert merge in fork
    assert claim[claim.index("RETURN") :].strip() in fork


def test_a_start_reads_the_threads_of_a_history_as_every_reader_does() -> None:
    """It reads them with all else in one statement: what a history is must not come to differ."""
    chain, *others = (" ".join(service_statement(name).text.split()) for name in ("chain", "start_state", "coverage"))
    collected = chain[chain.index("WITH DISTINCT a") :]

    assert all(collected in other for other in others)
