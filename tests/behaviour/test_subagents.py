"""Subagents: what one is told, how its result comes back, and what becomes of it when either side ends otherwise."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph
from tests.support.refusals import check_sentence

NOBODY = "run_00000000-0000-7000-8000-000000000000"


@pytest.fixture
def parent(service: Client) -> str:
    """A thread with one completed run on Codex."""
    thread = service.thread(title="The parent")["id"]
    service.whole_run(thread, "Mind the parser", "It is minded", native=(f"native-{thread}", f"turn-{thread}"))
    return thread


@pytest.fixture
def spawner(service: Client, parent: str) -> str:
    """A run of the parent that works."""
    return service.running(parent, "Find the bug")["run"]["id"]


def taken(service: Client, thread: str) -> list[str]:
    """The results in a thread's history, in order."""
    items = [item for item in service.visible(thread) if item["kind"] == "SUBAGENT"]
    return [item["data"]["result"] for item in items]


class TestASpawn:
    def test_makes_a_thread_a_run_and_an_edge_below_the_parent(
        self, service: Client, graph: Graph, parent: str, spawner: str
    ) -> None:
        with graph.growth() as written:
            spawned = service.spawn(spawner, title="A scout")

        thread = spawned["thread"]
        assert (thread["parentThreadId"], thread["relationshipToParent"]) == (parent, "SUBAGENT")
        assert (thread["createdBy"], thread["depth"], thread["title"]) == ("AGENT", 1, "A scout")
        assert spawned["run"]["status"] == "STARTING"
        assert spawned["transfer"]["type"] == "SUBAGENT_SPAWN"
        assert service.get_thread(thread["id"], "spawnedByRunId") == {"spawnedByRunId": spawner}
        assert (written["Thread"], written["Run"], written["ContextTransfer"]) == (1, 1, 1)
        assert written["-SUBAGENT->"] == 1
        assert written["Event"] == 1

    def test_shows_in_the_lineage(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)
        service.complete_subagent(child["run"]["id"], "Found it")

        lineage = service.lineage(parent)

        thread = child["thread"]["id"]
        assert {node["thread"]["id"] for node in lineage["nodes"]} == {parent, thread}
        edges = {(edge["kind"], edge["sourceThreadId"], edge["targetThreadId"]) for edge in lineage["edges"]}
        assert edges == {("SUBAGENT", parent, thread), ("SUBAGENT_RESULT", thread, parent)}
        assert {node["depth"] for node in service.lineage(thread, "ANCESTORS")["nodes"]} == {0, 1}

    @pytest.mark.parametrize("provider", ["codex", "claude", "mute"])
    def test_without_context_is_told_its_task_alone_and_once(
        self, service: Client, spawner: str, provider: str
    ) -> None:
        spawned = service.spawn(spawner, "Look it up", provider)

        plan = spawned["plan"]
        assert (plan["outcome"], plan["strategy"], plan["injected"]) == ("PORTABLE", "PORTABLE_CONTEXT", None)
        assert [handoff["text"] for handoff in plan["handoffs"]] == ["Look it up"]
        assert [transfer["status"] for transfer in plan["transfers"]] == ["RESOLVED_PORTABLE"]
        service.started(spawned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="1")
        assert service.transfer(spawned["transfer"]["id"])["status"] == "CONSUMED"
        assert service.texts(spawned["thread"]["id"]) == ["Look it up"]

    def test_that_inherits_has_what_a_fork_would_have(self, service: Client, parent: str, spawner: str) -> None:
        spawned = service.spawn(spawner, "Look it up", "claude", "INHERIT")

        plan = spawned["plan"]
        assert plan["outcome"] == "PORTABLE"
        assert "Mind the parser" in plan["injected"]
        assert "Find the bug" not in plan["injected"]
        assert "Look it up" not in plan["injected"]
        service.started(spawned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="1")
        assert service.texts(spawned["thread"]["id"]) == ["Mind the parser", "It is minded", "Look it up"]

    def test_that_inherits_forks_natively_on_the_same_provider(
        self, service: Client, parent: str, spawner: str
    ) -> None:
        spawned = service.spawn(spawner, context="INHERIT")

        plan = spawned["plan"]
        assert (plan["outcome"], plan["injected"]) == ("NATIVE", None)
        assert plan["nativeFork"]["nativeThreadId"] == f"native-{parent}"
        assert plan["nativeFork"]["lastTurnId"] == f"turn-{parent}"
        service.started(spawned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="1")
        consumed = service.transfer(spawned["transfer"]["id"])
        assert (consumed["status"], consumed["resolution"]["strategy"]) == ("CONSUMED", "NATIVE_FORK")

    def test_that_inherits_nothing_says_so(self, service: Client) -> None:
        thread = service.thread()["id"]
        first = service.running(thread, "Find the bug")["run"]["id"]

        spawned = service.spawn(first, context="INHERIT")

        assert spawned["plan"]["injected"] is None
        assert "nothing of the conversation" in spawned["plan"]["reason"]

    def test_goes_on_in_its_own_thread(self, service: Client, spawner: str) -> None:
        spawned = service.spawned(spawner)
        service.complete_subagent(spawned["run"]["id"], "Found it")
        thread = spawned["thread"]["id"]

        same = service.explain(thread, "codex")
        moved = service.start(thread, "Look again", "claude")["plan"]

        assert same["outcome"] == "NONE"
        assert same["resume"] is not None
        assert "Look it up" in moved["injected"]

    def test_whose_start_fails_is_tried_on_another_provider(self, service: Client, spawner: str) -> None:
        spawned = service.spawn(spawner)
        service.started(spawned["run"]["id"], failure={"code": "DOWN", "message": "It is down"})

        again = service.start(spawned["thread"]["id"], "Look it up", "claude")

        assert [handoff["text"] for handoff in again["plan"]["handoffs"]] == ["Look it up"]
        assert again["plan"]["injected"] is None
        replaced = service.transfer(spawned["transfer"]["id"])
        assert replaced["status"] == "SUPERSEDED"
        assert replaced["supersededBy"]["id"] == again["plan"]["transfers"][0]["id"]
        assert again["plan"]["transfers"][0]["type"] == "SUBAGENT_SPAWN"

    def test_whose_start_fails_is_tried_again_and_nothing_is_made_twice(self, service: Client, spawner: str) -> None:
        spawned = service.spawn(spawner)
        service.started(spawned["run"]["id"], failure={"code": "DOWN", "message": "It is down"})

        again = service.start(spawned["thread"]["id"], "Look it up")

        assert again["plan"]["transfers"][0]["id"] == spawned["transfer"]["id"]
        assert again["plan"]["handoffs"] == spawned["plan"]["handoffs"]

    def test_takes_the_ids_that_are_given(self, service: Client, spawner: str) -> None:
        thread, run = (f"{kind}_{_uuid()}" for kind in ("thr", "run"))

        spawned = service.spawn(spawner, id=thread, runId=run)

        assert (spawned["thread"]["id"], spawned["run"]["id"]) == (thread, run)


class TestASpawnIsRefused:
    def test_of_a_run_that_has_ended(self, service: Client, graph: Graph, spawner: str) -> None:
        service.complete(spawner)
        self._refused(service, graph, spawner, "RUN_NOT_ACTIVE")

    def test_of_a_run_that_has_not_started(self, service: Client, graph: Graph, parent: str) -> None:
        run = service.start(parent, "Find the bug")["run"]["id"]
        self._refused(service, graph, run, "RUN_NOT_STARTED")

    def test_of_no_run(self, service: Client, graph: Graph) -> None:
        self._refused(service, graph, NOBODY, "NOT_FOUND")

    def test_on_no_provider(self, service: Client, graph: Graph, spawner: str) -> None:
        self._refused(service, graph, spawner, "PROVIDER_UNKNOWN", provider="nobody")

    def test_that_the_service_should_run(self, service: Client, graph: Graph, spawner: str) -> None:
        self._refused(service, graph, spawner, "PROVIDER_UNAVAILABLE", executor="SERVICE")

    def test_of_a_provider_that_can_be_told_nothing(self, service: Client, graph: Graph, spawner: str) -> None:
        self._refused(service, graph, spawner, "UNSUPPORTED_TRANSFER", provider="mute", context="INHERIT")

    def test_without_a_task(self, service: Client, graph: Graph, spawner: str) -> None:
        self._refused(service, graph, spawner, "INVALID_INPUT", task=" ")

    def test_too_deep(self, service: Client, graph: Graph, spawner: str) -> None:
        run = spawner
        for _ in range(5):
            run = service.spawned(run)["run"]["id"]
        self._refused(service, graph, run, "LIMIT_EXCEEDED")

    def test_of_too_many(self, service: Client, graph: Graph, spawner: str) -> None:
        for _ in range(50):
            service.spawn(spawner)
        self._refused(service, graph, spawner, "LIMIT_EXCEEDED")

    def _refused(self, service: Client, graph: Graph, run: str, code: str, **given: Any) -> None:
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            service.spawn(run, **given)

        assert refused.value.code == code
        check_sentence(refused.value)
        assert written == {}


class TestAResultForARunThatWorks:
    def test_is_given_to_it_at_once(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner, title="A scout")

        answer = service.complete_subagent(child["run"]["id"], "It is in line 7")

        result = answer["transfer"]
        assert answer["run"]["status"] == "COMPLETED"
        assert (result["type"], result["status"]) == ("SUBAGENT_RESULT", "CONSUMED")
        assert result["result"] == {"status": "COMPLETED", "text": "It is in line 7"}
        assert result["consumedByRun"] == {"id": spawner}
        assert result["basePoint"] == {"threadId": parent, "runId": spawner}
        assert answer["injected"] == answer["handoff"]["text"]
        assert answer["injected"].count("It is in line 7") == 1
        assert "A scout" in answer["injected"]
        assert taken(service, parent) == ["It is in line 7"]

    def test_is_its_last_answer_where_nothing_else_is_given(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.append(child, {"kind": "ASSISTANT_MESSAGE", "text": "I look"}, {"kind": "REASONING", "text": "hm"})
        service.append(child, {"kind": "ASSISTANT_MESSAGE", "text": "Line 7"}, {"kind": "COMMAND", "text": "ls"})

        answer = service.complete_subagent(child)

        assert answer["transfer"]["result"] == {"status": "COMPLETED", "text": "Line 7"}
        assert taken(service, parent) == ["Line 7"]

    def test_is_told_no_more_to_its_provider_and_once_to_another(
        self, service: Client, parent: str, spawner: str
    ) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.append(child, {"kind": "COMMAND", "text": "the inner work", "data": {"command": "ls"}})
        service.complete_subagent(child, "It is in line 7")
        service.complete(spawner)

        same, other = service.explain(parent, "codex"), service.start(parent, "Go on", "claude")

        assert (same["outcome"], same["transfers"]) == ("NONE", [])
        assert "It is in line 7" in other["plan"]["injected"]
        assert "the inner work" not in other["plan"]["injected"]

    def test_waits_for_the_next_message_where_that_is_wanted(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]

        answer = service.complete_subagent(child, "Line 7", toRunningRun=False)

        assert (answer["transfer"]["status"], answer["injected"]) == ("PENDING", None)
        assert taken(service, parent) == []

    def test_can_be_asked_for_after_its_executor_ended_it(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.append(child, {"kind": "ASSISTANT_MESSAGE", "text": "Line 7"})
        service.complete(child)
        assert [each["status"] for each in service.results(parent)] == ["PENDING"]

        answer = service.complete_subagent(child)

        assert (answer["transfer"]["status"], answer["injected"].count("Line 7")) == ("CONSUMED", 1)
        assert len(service.results(parent)) == 1

    def test_twenty_in_any_order_each_once(self, service: Client, parent: str, spawner: str) -> None:
        children = [service.spawned(spawner, f"task {number}")["run"]["id"] for number in range(20)]
        order = random.Random(7).sample(range(20), 20)

        for number in order:
            assert f"answer {number}." in service.complete_subagent(children[number], f"answer {number}.")["injected"]

        assert taken(service, parent) == [f"answer {number}." for number in order]
        assert {each["status"] for each in service.results(parent)} == {"CONSUMED"}
        service.complete(spawner)
        assert service.explain(parent, "codex")["transfers"] == []


class TestAResultForTheNextMessage:
    @pytest.fixture
    def waiting(self, service: Client, spawner: str) -> str:
        """The run of a subagent whose result waits."""
        child = service.spawned(spawner)["run"]["id"]
        service.complete(spawner)
        answer = service.complete_subagent(child, "Line 7")
        assert (answer["transfer"]["status"], answer["injected"]) == ("PENDING", None)
        return child

    @pytest.mark.parametrize("provider", ["codex", "claude"])
    def test_is_told_with_it_once(self, service: Client, parent: str, waiting: str, provider: str) -> None:
        started = service.start(parent, "Go on", provider)
        assert started["plan"]["injected"].count("Line 7") == 1
        run = started["run"]["id"]
        native = (started["plan"]["resume"] or {}).get("nativeThreadId", f"native-{key()}")
        service.started(run, nativeThreadId=native, nativeTurnId=f"turn-{key()}")

        (result,) = service.results(parent)
        assert (result["status"], result["consumedByRun"]) == ("CONSUMED", {"id": run})
        assert taken(service, parent) == ["Line 7"]
        service.complete(run)
        after = service.explain(parent, provider)
        assert (after["outcome"], after["transfers"]) == ("NONE", [])

    def test_waits_on_after_a_start_that_failed(self, service: Client, parent: str, waiting: str) -> None:
        run = service.start(parent, "Go on")["run"]["id"]
        service.end("failRun", run, reason="no")

        again = service.start(parent, "Go on", "claude")

        assert again["plan"]["injected"].count("Line 7") == 1
        assert taken(service, parent) == []

    def test_waits_for_a_provider_that_can_be_told(self, service: Client, parent: str, waiting: str) -> None:
        thread = service.thread()["id"]
        first = service.whole_run(thread, "Begin", provider="mute")["run"]["id"]
        del first
        second = service.running(thread, "Spawn", "mute")["run"]["id"]
        child = service.spawned(second)["run"]["id"]
        service.complete(second)
        service.complete_subagent(child, "Line 7")

        mute, other = service.explain(thread, "mute"), service.start(thread, "Go on", "claude")

        assert (mute["outcome"], mute["transfers"]) == ("NONE", [])
        assert other["plan"]["injected"].count("Line 7") == 1

    def test_is_inherited_by_who_forks_the_run_that_took_it(self, service: Client, parent: str, waiting: str) -> None:
        service.whole_run(parent, "Go on", native=(f"native-{parent}", f"turn-{key()}"))

        fork = service.fork(parent)["thread"]["id"]

        assert taken(service, fork) == ["Line 7"]
        assert "Line 7" in service.start(fork, "Go on", "claude")["plan"]["injected"]

    def test_can_be_seen_and_revised_before(self, service: Client, parent: str, waiting: str) -> None:
        (result,) = service.results(parent)
        prepared = service.prepare(result["id"], "codex")
        assert "Line 7" in prepared["handoff"]["text"]

        service.revise(prepared["handoff"]["id"], "The scout says line 8.")

        assert service.start(parent, "Go on")["plan"]["injected"] == "The scout says line 8."

    def test_can_be_called_off(self, service: Client, parent: str, waiting: str) -> None:
        (result,) = service.results(parent)
        service.cancel(result["id"])

        assert service.explain(parent, "codex")["transfers"] == []
        kinds = {edge["kind"] for edge in service.lineage(parent)["edges"]}
        assert kinds == {"SUBAGENT"}


class TestHowItEnds:
    def test_a_failure_is_told(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.end("failRun", child, reason="No such file")
        self._tells(service, parent, spawner, "FAILED", "No such file")

    def test_a_start_that_failed_is_told(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawn(spawner)["run"]["id"]
        service.started(child, failure={"code": "DOWN", "message": "It is down"})
        self._tells(service, parent, spawner, "FAILED", "DOWN: It is down")

    def test_an_interruption_is_told(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.end("interruptRun", child, reason="Enough")
        self._tells(service, parent, spawner, "CANCELLED", "Enough")

    def test_a_cancellation_is_told_of_all_below(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)
        grandchild = service.spawned(child["run"]["id"])

        answer = service.cancel_subagent(child["run"]["id"], reason="Enough")

        assert (answer["cancelledRuns"], answer["run"]["status"]) == (2, "INTERRUPTED")
        assert service.get_run(grandchild["run"]["id"])["status"] == "INTERRUPTED"
        assert service.results(child["thread"]["id"])[0]["result"] == {"status": "CANCELLED", "text": "Enough"}
        self._tells(service, parent, spawner, "CANCELLED", "Enough")

    def test_a_cancellation_of_one_that_has_ended_changes_nothing(
        self, service: Client, graph: Graph, spawner: str
    ) -> None:
        child = service.spawned(spawner)["run"]["id"]
        first = service.complete_subagent(child, "Line 7")

        with graph.growth() as written:
            answer = service.cancel_subagent(child)

        assert (answer["cancelledRuns"], answer["run"]["status"]) == (0, "COMPLETED")
        assert answer["transfer"] == first["transfer"]
        assert written == {"CommandReceipt": 1, "Event": 1}

    def _tells(self, service: Client, parent: str, spawner: str, status: str, text: str) -> None:
        (result,) = service.results(parent)
        assert result["result"] == {"status": status, "text": text}
        service.complete(spawner)
        injected = service.start(parent, "Go on")["plan"]["injected"]
        assert injected.count(text) == 1
        assert f"result: {status.lower()}" in injected


class TestGoingBack:
    def test_past_the_run_that_took_a_result_lets_it_wait_anew(
        self, service: Client, parent: str, spawner: str
    ) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.complete(spawner)
        service.complete_subagent(child, "Line 7")
        service.whole_run(parent, "Go on", native=(f"native-{parent}", f"turn-{key()}"))

        service.roll_back(parent, spawner)

        old, new = service.results(parent)
        assert (old["status"], new["status"]) == ("CONSUMED", "PENDING")
        assert new["result"] == {"status": "COMPLETED", "text": "Line 7"}
        assert taken(service, parent) == []
        assert service.start(parent, "Go on", "claude")["plan"]["injected"].count("Line 7") == 1

    @pytest.mark.parametrize("when", ["waiting", "taken"])
    def test_past_the_run_that_spawned_it_drops_its_result(
        self, service: Client, parent: str, spawner: str, when: str
    ) -> None:
        child = service.spawned(spawner)["run"]["id"]
        if when == "taken":
            service.complete_subagent(child, "Line 7")
        service.complete(spawner)
        if when == "waiting":
            service.complete_subagent(child, "Line 7")

        service.roll_back(parent, service.run_ids(parent)[0])

        assert [each["status"] for each in service.results(parent)] == [
            "SUPERSEDED" if when == "waiting" else "CONSUMED"
        ]
        assert "Line 7" not in (service.start(parent, "Go on", "claude")["plan"]["injected"])

    def test_past_the_run_that_spawned_it_while_it_works(self, service: Client, parent: str, spawner: str) -> None:
        child = service.spawned(spawner)["run"]["id"]
        service.complete(spawner)
        service.roll_back(parent, service.run_ids(parent)[0])

        answer = service.complete_subagent(child, "Line 7")

        assert answer["transfer"]["status"] == "SUPERSEDED"
        assert "Line 7" not in (service.start(parent, "Go on", "claude")["plan"]["injected"])


def test_a_thread_that_no_run_spawned_gives_no_result(service: Client, parent: str, spawner: str) -> None:
    for ask in (service.complete_subagent, service.cancel_subagent):
        with pytest.raises(Refusal) as refused:
            ask(spawner)
        assert refused.value.code == "INVALID_INPUT"
        check_sentence(refused.value)
    assert service.get_run(spawner)["status"] == "RUNNING"


def test_the_item_names_where_a_result_comes_from(service: Client, spawner: str) -> None:
    child = service.spawned(spawner)
    result = service.complete_subagent(child["run"]["id"], "Line 7")["transfer"]

    (item,) = [item for item in service.items(spawner) if item["kind"] == "SUBAGENT"]

    data = item["data"] if isinstance(item["data"], dict) else json.loads(item["data"])
    assert data == {
        "threadId": child["thread"]["id"],
        "runId": child["run"]["id"],
        "transferId": result["id"],
        "status": "completed",
        "result": "Line 7",
    }


def _uuid() -> str:
    digits = key()
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
