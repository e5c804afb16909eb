"""A fork is cheap: what it writes is the same handful of records, however long and however old its source is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.behaviour.conftest import LONG
from tests.support.client import Client
from tests.support.graph import Graph

FORK = {
    "Thread": 1,
    "ContextTransfer": 1,
    "CommandReceipt": 1,
    "Event": 1,
    "-FORK->": 1,
    "-FROM->": 1,
    "-INTO->": 1,
}
"""One of each record, and the edges that tie the transfer to its point and its target."""


@pytest.fixture(params=[2, LONG])
def source(service: Client, request: pytest.FixtureRequest) -> str:
    if request.param == LONG:
        return request.getfixturevalue("long_thread")
    thread = service.thread()["id"]
    for number in range(request.param):
        service.whole_run(thread, f"ask {number}")
    return thread


def points(service: Client, thread: str) -> list[dict[str, Any] | None]:
    run = service.get_thread(thread, "runs(first: 1) { nodes { id checkpoints { id } items { nodes { id } } } }")
    (first,) = run["runs"]["nodes"]
    return [
        None,
        {"runId": first["id"]},
        {"checkpointId": first["checkpoints"][0]["id"]},
        {"turnItemId": first["items"]["nodes"][0]["id"]},
    ]


def test_a_fork_writes_one_of_each_record_and_nothing_else(service: Client, graph: Graph, source: str) -> None:
    for point in points(service, source):
        with graph.growth() as written:
            service.fork(source, point=point)

        assert written == FORK


def test_a_fork_of_an_unused_fork_writes_the_same(service: Client, graph: Graph, source: str) -> None:
    thread = source
    for _ in range(5):
        with graph.growth() as written:
            thread = service.fork(thread)["thread"]["id"]

        assert written == FORK


def test_nothing_of_a_provider_exists_before_the_first_start(service: Client, graph: Graph, source: str) -> None:
    fork = service.fork(source)["thread"]["id"]
    service.visible(fork)
    for provider in ("codex", "claude", "mute"):
        service.explain(fork, provider)

    behind = graph.rows(
        """
        MATCH (t:Thread {id: $fork})
        RETURN COUNT { (t)-[:HAS_RUN]->() } AS runs, COUNT { (t)-[:BACKED_BY]->() } AS providerThreads,
               COUNT { (t)<-[:INTO]-()-[:MATERIALIZED_AS]->() } AS handoffs, t.provider AS provider
        """,
        fork=fork,
    )
    assert behind == [{"runs": 0, "providerThreads": 0, "handoffs": 0, "provider": None}]


def test_the_source_is_as_it_was(service: Client, graph: Graph, source: str) -> None:
    """Only when it last changed moves; its events are the count of the whole tree, and when the latest was."""
    statement = "MATCH (t:Thread {id: $id}) RETURN t {.*, updatedAt: null, eventCount: null, latestEventAt: null}"
    before = graph.value(statement, id=source)

    service.fork(source)

    assert graph.value(statement, id=source) == before


def test_an_explanation_of_a_start_writes_nothing(service: Client, graph: Graph, source: str) -> None:
    fork = service.fork(source)["thread"]["id"]
    for provider in ("codex", "claude", "acp", "mute"):
        with graph.growth() as written:
            explained = service.explain(fork, provider)
        assert written == {}
        assert [candidate["taken"] for candidate in explained["candidates"]].count(True) == (provider != "mute")
