"""Starts at the same moment: one wins, the others are told that the thread is busy, and nothing is built twice."""

from __future__ import annotations

import pytest

from tests.support.client import Client, key
from tests.support.graph import Graph
from tests.support.together import answers, refusals, together

ROUNDS = 5
TABS = 4


@pytest.fixture(scope="module")
def source(service: Client) -> str:
    thread = service.thread()["id"]
    for number in range(3):
        service.whole_run(thread, f"ask {number}", f"answer {number}")
    return thread


def records(graph: Graph, fork: str) -> dict[str, int]:
    (row,) = graph.rows(
        """
        MATCH (t:Thread {id: $id})
        RETURN COUNT { (t)-[:HAS_RUN]->() } AS runs, COUNT { (t)<-[:INTO]-() } AS transfers,
               COUNT { (t)<-[:INTO]-()-[:MATERIALIZED_AS]->() } AS handoffs
        """,
        id=fork,
    )
    return row


@pytest.mark.parametrize(("provider", "handoffs"), [("claude", 1), ("codex", 0)])
def test_one_first_run_wins_and_one_handoff_exists(
    service: Client, graph: Graph, source: str, provider: str, handoffs: int
) -> None:
    for _ in range(ROUNDS):
        fork = service.fork(source)["thread"]["id"]

        made = together(TABS, lambda number, fork=fork: service.start(fork, f"from tab {number}", provider))

        assert len(answers(made)) == 1
        assert {(refusal.code, refusal.retryable) for refusal in refusals(made)} == {("THREAD_BUSY", True)}
        assert records(graph, fork) == {"runs": 1, "transfers": 1, "handoffs": handoffs}


def test_of_starts_on_different_providers_one_wins_too(service: Client, graph: Graph, source: str) -> None:
    providers = ("codex", "claude", "opencode", "acp")
    for _ in range(ROUNDS):
        fork = service.fork(source)["thread"]["id"]

        made = together(TABS, lambda number, fork=fork: service.start(fork, "go on", providers[number]))

        (won,) = answers(made)
        assert [refusal.code for refusal in refusals(made)] == ["THREAD_BUSY"] * (TABS - 1)
        expected = 0 if won["run"]["provider"] == "codex" else 1
        assert records(graph, fork) == {"runs": 1, "transfers": 1, "handoffs": expected}


def test_forks_of_one_source_start_side_by_side(service: Client, graph: Graph, source: str) -> None:
    forks = [service.fork(source)["thread"]["id"] for _ in range(TABS)]

    made = together(TABS, lambda number: service.whole_run(forks[number], "go on", provider="claude"))

    assert [done["run"]["status"] for done in answers(made)] == ["COMPLETED"] * TABS
    for fork in forks:
        assert records(graph, fork) == {"runs": 1, "transfers": 1, "handoffs": 1}


def test_forks_of_one_source_made_side_by_side_all_come(service: Client, source: str) -> None:
    before = service.lineage(source, "DESCENDANTS", maxDepth=1)["totalCount"]

    made = together(8, lambda _: service.fork(source))

    assert len({fork["thread"]["id"] for fork in answers(made)}) == 8
    assert service.lineage(source, "DESCENDANTS", maxDepth=1)["totalCount"] == before + 8


def test_of_two_acceptances_at_once_one_is_recorded(service: Client, graph: Graph, source: str) -> None:
    for _ in range(ROUNDS):
        fork = service.fork(source)["thread"]["id"]
        run = service.start(fork, "go on", "claude")["run"]["id"]

        made = together(
            TABS, lambda _, run=run: service.started(run, nativeThreadId=f"native-{key()}", nativeTurnId="t")
        )

        assert len(answers(made)) == 1
        assert {refusal.code for refusal in refusals(made)} == {"RUN_ALREADY_STARTED"}
        behind = "MATCH (:Thread {id: $id})-[:BACKED_BY]->(p) RETURN count(p)"
        assert graph.value(behind, id=fork) == 1


def test_an_end_and_a_failure_at_once_end_the_run_once(service: Client, graph: Graph) -> None:
    ends = ("completeRun", "failRun", "interruptRun", "completeRun")
    for _ in range(ROUNDS):
        thread = service.thread()["id"]
        run = service.running(thread, "ask")["run"]["id"]

        made = together(TABS, lambda number, run=run: service.end(ends[number], run))

        (won,) = answers(made)
        assert {refusal.code for refusal in refusals(made)} == {"RUN_NOT_ACTIVE"}
        assert service.get_run(run)["status"] == won["status"]
        checkpoints = graph.value("MATCH (c:Checkpoint {threadId: $id}) RETURN count(c)", id=thread)
        assert checkpoints == (won["status"] == "COMPLETED")


def test_items_appended_at_once_all_come_each_with_its_own_place(service: Client) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]

    together(8, lambda number: service.append(run, *({"kind": "OTHER", "text": f"{number}.{n}"} for n in range(5))))

    items = service.items(run)[1:]
    assert [item["position"] for item in items] == list(range(2, 42))
    for number in range(8):
        mine = [item["text"] for item in items if item["text"].startswith(f"{number}.")]
        assert mine == [f"{number}.{n}" for n in range(5)]
