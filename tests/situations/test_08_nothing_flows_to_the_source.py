"""8. The fork's topic leaked into the source when people switched back.

Here nothing flows to the source but by a merge-back or a result, which are records.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client
from tests.support.graph import Graph

TOPIC = "the tangent about submarines"


@pytest.fixture
def story(service: Client) -> dict[str, Any]:
    """A source on Codex, and a fork of it that went its own way on Codex and then on Claude."""
    source = service.thread(title="source")["id"]
    service.whole_run(source, "one", "two", "codex")
    fork = service.fork(source)["thread"]["id"]
    native = service.whole_run(fork, TOPIC, TOPIC, "codex")
    portable = service.whole_run(fork, TOPIC, TOPIC, "claude")
    return {"source": source, "fork": fork, "codex": native["nativeThreadId"], "claude": portable["nativeThreadId"]}


def test_the_source_shows_what_it_showed_before(service: Client, story: dict[str, Any]) -> None:
    assert service.texts(story["source"]) == ["one", "two"]
    assert service.get_thread(story["source"], "runCount provider") == {"runCount": 1, "provider": "codex"}


def test_the_source_goes_on_in_its_own_provider_thread_and_is_told_nothing(
    service: Client, story: dict[str, Any]
) -> None:
    plan = service.start(story["source"], "three", "codex")["plan"]

    assert plan["outcome"] == "NONE"
    assert plan["resume"]["nativeThreadId"] not in (story["codex"], story["claude"])
    assert (plan["injected"], plan["handoffs"], plan["transfers"]) == (None, [], [])


def test_the_source_switches_to_the_forks_provider_and_hears_its_own_history_alone(
    service: Client, story: dict[str, Any]
) -> None:
    plan = service.start(story["source"], "three", "claude")["plan"]

    assert plan["outcome"] == "PORTABLE"
    assert "one" in plan["injected"]
    assert TOPIC not in plan["injected"]
    assert story["claude"] not in [candidate["nativeThreadId"] for candidate in plan["candidates"]]


def test_no_record_leads_from_the_fork_to_the_source(service: Client, graph: Graph, story: dict[str, Any]) -> None:
    service.whole_run(story["source"], "three", "four", "claude")

    into_source = graph.values(
        """
        MATCH (f:ContextTransfer)-[:INTO]->(:Thread {id: $source})
        RETURN f.type + ' from ' + f.sourcePointThreadId
        """,
        source=story["source"],
    )
    assert into_source == [f"provider_handoff from {story['source']}"]
    known = graph.value(
        """
        MATCH (:Thread {id: $source})-[:BACKED_BY]->(:ProviderThread)-[:COVERS]->(r:Run)
        RETURN count(CASE WHEN r.threadId <> $source THEN 1 END)
        """,
        source=story["source"],
    )
    assert known == 0
    carried = graph.values(
        """
        MATCH (:Thread {id: $source})<-[:INTO]-(:ContextTransfer)-[:MATERIALIZED_AS]->(:ContextHandoff)-[:CARRIES]->(r)
        RETURN DISTINCT r.threadId
        """,
        source=story["source"],
    )
    assert carried == [story["source"]]
