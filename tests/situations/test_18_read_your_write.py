"""18. A lineage query right after a write was empty; an unknown id scanned everything.

Here a client that wrote reads its own write, and an id of nothing is `NOT_FOUND`.
"""

from __future__ import annotations

import uuid
from itertools import pairwise

import pytest

from plait.graph.statements import service_statement
from tests.support.client import Client, Refusal
from tests.support.graph import Graph

ROUNDS = 10


def test_a_lineage_query_right_after_a_fork_has_the_fork(service: Client) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "one")
    made = [source]

    for _ in range(ROUNDS):
        made.append(service.fork(made[-1])["thread"]["id"])

        lineage = service.lineage(source)

        assert [node["thread"]["id"] for node in lineage["nodes"]] == made
        assert lineage["totalCount"] == len(made)
        edges = [(edge["sourceThreadId"], edge["targetThreadId"]) for edge in lineage["edges"]]
        assert sorted(edges) == sorted(pairwise(made))


def test_every_other_read_right_after_its_write_has_it_too(service: Client) -> None:
    thread = service.thread(title="seen at once")
    assert service.get_thread(thread["id"]) == thread
    for number in range(1, ROUNDS):
        run = service.start(thread["id"], f"message {number}")["run"]
        assert service.get_run(run["id"]) == run
        assert service.get_thread(thread["id"])["activeRunId"] == run["id"]
        accepted = service.started(run["id"], nativeTurnId=f"turn {number}")
        if number == 1:
            assert accepted["run"]["nativeThreadId"] is None
        (item,) = service.append(run["id"], {"kind": "ASSISTANT_MESSAGE", "text": f"answer {number}"})
        assert service.visible(thread["id"])[-1]["id"] == item["id"]
        point = service.complete(run["id"])["checkpoint"]["id"]
        assert service.get_thread(thread["id"], "checkpoints(first: 1) { id }")["checkpoints"] == [{"id": point}]
        assert service.get_thread(thread["id"], "runs { totalCount }")["runs"]["totalCount"] == number


def unknown(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4()}"


@pytest.mark.parametrize(
    ("query", "prefix"),
    [
        ("thread(id: $id) { id }", "thr"),
        ("run(id: $id) { id }", "run"),
        ("checkpoint(id: $id) { id }", "cpt"),
        ("transfer(id: $id) { id }", "trf"),
        ("handoff(id: $id) { id }", "hnd"),
        ("lineage(threadId: $id) { totalCount }", "thr"),
        ('explainStart(threadId: $id, provider: "codex") { outcome }', "thr"),
        *(("node(id: $id) { id }", prefix) for prefix in ("thr", "run", "itm", "cpt", "pvt", "trf", "hnd")),
    ],
)
def test_an_id_of_nothing_is_not_found_and_never_an_empty_answer(service: Client, query: str, prefix: str) -> None:
    asked = unknown(prefix)

    with pytest.raises(Refusal) as refused:
        service.execute(f"query ($id: ID!) {{ {query} }}", id=asked)

    assert refused.value.code == "NOT_FOUND"
    assert asked in refused.value.message
    assert not refused.value.retryable


@pytest.mark.parametrize(
    "name",
    [
        *(f"{kind}_by_id" for kind in ("threads", "runs", "items", "checkpoints", "provider_threads", "transfers")),
        *("handoffs_by_id", "chain", "lineage", "start_state", "lock_thread", "lock_run", "point_run", "transfer"),
    ],
)
def test_what_begins_with_an_id_finds_it_by_its_index_and_scans_nothing(graph: Graph, name: str) -> None:
    steps = graph.plan(service_statement(name).text)

    assert [step for step in steps if "Seek" in step]
    assert [step for step in steps if "Scan" in step] == []
