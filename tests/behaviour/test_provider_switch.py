"""Another provider in the same thread, and back: a transfer from the thread to itself, of exactly what was missed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph


@pytest.fixture
def thread(service: Client) -> str:
    return service.thread(title="one conversation")["id"]


def told(plan: dict[str, Any]) -> list[int]:
    """The numbers of the runs whose answers the plan injects."""
    return [number for number in range(1, 10) if f"answer {number}." in (plan["injected"] or "")]


def run(service: Client, thread: str, number: int, provider: str) -> dict[str, Any]:
    return service.whole_run(thread, f"ask {number}.", f"answer {number}.", provider)


def handoffs(graph: Graph, thread: str) -> list[tuple[int, int]]:
    rows = graph.rows(
        """
        MATCH (a:Run {threadId: $id})-[e:HANDOFF]->(b:Run)
        MATCH (:ContextTransfer {id: e.transferId, type: 'provider_handoff'})-[:CONSUMED_BY]->(b)
        RETURN a.position AS before, b.position AS after ORDER BY after
        """,
        id=thread,
    )
    return [(row["before"], row["after"]) for row in rows]


def test_a_switch_tells_the_new_provider_all(service: Client, graph: Graph, thread: str) -> None:
    run(service, thread, 1, "codex")
    last = run(service, thread, 2, "codex")

    switched = run(service, thread, 3, "claude")

    plan = switched["plan"]
    assert (plan["outcome"], told(plan)) == ("PORTABLE", [1, 2])
    (transfer,) = [service.transfer(transfer["id"]) for transfer in plan["transfers"]]
    assert (transfer["type"], transfer["status"], transfer["createdBy"]) == ("PROVIDER_HANDOFF", "CONSUMED", "USER")
    assert transfer["sourceThread"] == transfer["targetThread"] == {"id": thread}
    assert (transfer["sourceProvider"], transfer["targetProvider"]) == ("codex", "claude")
    assert transfer["sourcePoint"]["runId"] == last["run"]["id"]
    assert transfer["basePoint"] is None
    assert handoffs(graph, thread) == [(2, 3)]
    assert service.get_thread(thread)["provider"] == "claude"


def test_going_back_tells_exactly_what_was_missed(service: Client, graph: Graph, thread: str) -> None:
    run(service, thread, 1, "codex")
    known = run(service, thread, 2, "codex")
    run(service, thread, 3, "claude")
    missed = run(service, thread, 4, "claude")

    back = run(service, thread, 5, "codex")

    plan = back["plan"]
    assert (plan["outcome"], plan["strategy"], told(plan)) == ("DELTA", "DELTA_CONTEXT", [3, 4])
    assert plan["resume"]["nativeThreadId"] == known["nativeThreadId"]
    (transfer,) = [service.transfer(transfer["id"]) for transfer in plan["transfers"]]
    assert transfer["basePoint"] == {"threadId": thread, "runId": known["run"]["id"]}
    assert transfer["sourcePoint"]["runId"] == missed["run"]["id"]
    assert transfer["resolution"]["strategy"] == "DELTA_CONTEXT"
    since = "MATCH (:ContextTransfer {id: $id})-[:SINCE]->(r:Run) RETURN r.id"
    assert graph.values(since, id=transfer["id"]) == [known["run"]["id"]]
    assert handoffs(graph, thread) == [(2, 3), (4, 5)]


def test_to_and_fro_each_start_is_a_delta_of_one_run_in_the_same_two_native_threads(
    service: Client, graph: Graph, thread: str
) -> None:
    plans = [run(service, thread, number, ("claude", "codex")[number % 2])["plan"] for number in range(1, 8)]

    assert [told(plan) for plan in plans] == [[], [1], [2], [3], [4], [5], [6]]
    assert [plan["outcome"] for plan in plans] == ["NONE", "PORTABLE", *["DELTA"] * 5]
    assert sorted(entry["turns"] for entry in service.provider_threads(thread)) == [3, 4]
    assert handoffs(graph, thread) == [(number, number + 1) for number in range(1, 7)]


def test_staying_needs_no_transfer(service: Client, thread: str) -> None:
    run(service, thread, 1, "codex")
    run(service, thread, 2, "claude")

    stayed = run(service, thread, 3, "claude")["plan"]

    assert (stayed["outcome"], stayed["strategy"], stayed["transfers"], stayed["injected"]) == ("NONE", None, [], None)


def test_what_failed_or_was_interrupted_there_is_told_with_how_it_ended(service: Client, thread: str) -> None:
    run(service, thread, 1, "codex")
    failed = service.running(thread, "ask 2.", "claude")["run"]["id"]
    service.append(failed, {"kind": "ASSISTANT_MESSAGE", "text": "answer 2."})
    service.end("failRun", failed, reason="the disk was full")

    plan = service.start(thread, "ask 3.", "codex")["plan"]

    assert (plan["outcome"], told(plan)) == ("DELTA", [2])
    assert "the run ended failed" in plan["injected"]
    assert "the disk was full" in plan["injected"]


def test_a_switch_inside_a_fork_tells_inherited_and_own_history(service: Client, graph: Graph, thread: str) -> None:
    run(service, thread, 1, "codex")
    fork = service.fork(thread)["thread"]["id"]
    run(service, fork, 2, "codex")

    switched = run(service, fork, 3, "claude")
    back = run(service, fork, 4, "codex")

    assert (switched["plan"]["outcome"], told(switched["plan"])) == ("PORTABLE", [1, 2])
    assert (back["plan"]["outcome"], told(back["plan"])) == ("DELTA", [3])
    assert handoffs(graph, fork) == [(1, 2), (2, 3)]
    assert handoffs(graph, thread) == []


def test_a_switch_that_is_not_supported_changes_nothing(service: Client, graph: Graph, thread: str) -> None:
    run(service, thread, 1, "codex")

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.start(thread, "ask 2.", "mute")

    assert refused.value.code == "UNSUPPORTED_TRANSFER"
    assert written == {}
    assert run(service, thread, 2, "codex")["plan"]["outcome"] == "NONE"


def test_the_first_thread_of_a_conversation_needs_nothing(service: Client, graph: Graph, thread: str) -> None:
    plan = run(service, thread, 1, "claude")["plan"]

    assert (plan["outcome"], plan["strategy"], plan["injected"]) == ("NONE", None, None)
    assert (plan["transfers"], plan["resume"], plan["nativeFork"]) == ([], None, None)
    assert graph.value("MATCH (:Thread {id: $id})<-[:INTO]-(f) RETURN count(f)", id=thread) == 0
