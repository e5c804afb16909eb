"""Native children: what a provider tells of the subagents it started itself, and threads that are made of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import NODE, Client, Refusal, key
from tests.support.graph import Graph
from tests.support.refusals import check_sentence


@pytest.fixture
def run(service: Client) -> str:
    thread = service.thread()["id"]
    return service.running(thread, "Find the bug")["run"]["id"]


def nodes(service: Client, run: str) -> list[dict[str, Any]]:
    return service.get_run(run, f"executionNodes {{ {NODE} }}")["executionNodes"]


class TestAReport:
    def test_makes_a_node_under_its_run_and_nothing_else(self, service: Client, graph: Graph, run: str) -> None:
        native = f"child-{key()}"
        with graph.growth() as written:
            node = service.observe(run, native, title="A scout", task="Look it up")

        assert (node["status"], node["title"], node["task"], node["result"]) == (
            "RUNNING",
            "A scout",
            "Look it up",
            None,
        )
        assert nodes(service, run) == [node]
        assert written == {
            "ExecutionNode": 1,
            "-HAS_NODE->": 1,
            "CommandReceipt": 1,
            "Event": 1,
        }
        assert service.execute(
            "query ($id: ID!) { node(id: $id) { id ... on ExecutionNode { nativeId } } }", id=node["id"]
        )["node"] == {"id": node["id"], "nativeId": native}

    def test_adds_to_what_is_known(self, service: Client, run: str) -> None:
        native = f"child-{key()}"
        first = service.observe(run, native, title="A scout")

        last = service.observe(run, native, status="COMPLETED", result="Line 7")

        assert last == first | {"status": "COMPLETED", "result": "Line 7"}

    def test_is_welcome_after_the_run_has_ended(self, service: Client, run: str) -> None:
        service.complete(run)
        assert service.observe(run, f"child-{key()}", status="COMPLETED")["status"] == "COMPLETED"

    def test_changes_no_history(self, service: Client, run: str) -> None:
        thread = service.get_run(run)["threadId"]
        service.observe(run, f"child-{key()}", status="COMPLETED", result="Line 7")
        assert service.texts(thread) == ["Find the bug"]

    def test_on_a_run_that_never_started_is_refused(self, service: Client, graph: Graph) -> None:
        run = service.start(service.thread()["id"], "Find the bug")["run"]["id"]
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            service.observe(run, "x")
        assert refused.value.code == "RUN_NOT_STARTED"
        check_sentence(refused.value)
        assert written == {}

    def test_of_a_child_that_started_itself_is_refused(self, service: Client, run: str) -> None:
        with pytest.raises(Refusal) as refused:
            service.observe(run, "x", nativeParentId="x")
        assert refused.value.code == "INVALID_INPUT"


class TestAPromotion:
    def test_makes_a_thread_of_one_run_below_the_parent(self, service: Client, run: str) -> None:
        native = f"child-{key()}"
        node = service.observe(
            run, native, title="A scout", task="Look it up", status="COMPLETED", result="Line 7", promote=True
        )

        thread = node["promotedThread"]["id"]
        made = service.get_thread(thread)
        assert (made["relationshipToParent"], made["createdBy"], made["title"]) == ("SUBAGENT", "AGENT", "A scout")
        assert made["parentThreadId"] == service.get_run(run)["threadId"]
        assert service.texts(thread) == ["Look it up", "Line 7"]
        (transfer,) = service.transfers(thread)
        assert (transfer["type"], transfer["status"]) == ("SUBAGENT_SPAWN", "CONSUMED")

    def test_lets_it_go_on_natively_and_elsewhere(self, service: Client, run: str) -> None:
        native = f"child-{key()}"
        node = service.observe(run, native, task="Look it up", status="COMPLETED", result="Line 7", promote=True)
        thread = node["promotedThread"]["id"]

        same, other = service.explain(thread, "codex"), service.start(thread, "Go on", "claude")

        assert (same["outcome"], same["resume"]["nativeThreadId"]) == ("NONE", native)
        assert "Line 7" in other["plan"]["injected"]

    def test_gives_no_result_the_parents_provider_has_it(self, service: Client, run: str) -> None:
        service.observe(run, f"child-{key()}", status="COMPLETED", result="Line 7", promote=True)
        assert service.results(service.get_run(run)["threadId"]) == []

    def test_happens_once(self, service: Client, graph: Graph, run: str) -> None:
        native = f"child-{key()}"
        node = service.observe(run, native, status="COMPLETED", promote=True)
        with graph.growth() as written:
            again = service.observe(run, native, status="COMPLETED", promote=True)
        assert again == node
        assert "Thread" not in written

    @pytest.mark.parametrize(
        ("status", "ends"), [("FAILED", "FAILED"), ("CANCELLED", "INTERRUPTED"), ("UNKNOWN", "INTERRUPTED")]
    )
    def test_of_one_that_did_not_do_its_task_says_so(self, service: Client, run: str, status: str, ends: str) -> None:
        node = service.observe(run, f"child-{key()}", status=status, result="It broke", promote=True)
        (only,) = service.run_ids(node["promotedThread"]["id"])
        assert service.get_run(only, "status reason") == {"status": ends, "reason": "It broke"}

    def test_of_one_that_works_is_refused(self, service: Client, graph: Graph, run: str) -> None:
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            service.observe(run, "x", promote=True)
        assert (refused.value.code, refused.value.retryable) == ("RUN_ACTIVE", False)
        check_sentence(refused.value)
        assert written == {}

    def test_of_a_native_thread_that_stands_behind_another_is_refused(self, service: Client, run: str) -> None:
        native = service.get_run(run)["nativeThreadId"]
        with pytest.raises(Refusal) as refused:
            service.observe(run, native, status="COMPLETED", promote=True)
        assert refused.value.code == "ID_TAKEN"
