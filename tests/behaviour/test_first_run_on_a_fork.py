"""The first run on a fork: its provider is chosen only then, and the pending transfer is resolved for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph


@pytest.fixture
def source(service: Client) -> dict[str, Any]:
    """Two completed runs on Codex."""
    thread = service.thread(title="source")["id"]
    runs = [service.whole_run(thread, f"ask {n}", f"answer {n}") for n in (1, 2)]
    return {"id": thread, "runs": runs}


@pytest.fixture
def forked(service: Client, source: dict[str, Any]) -> dict[str, Any]:
    made = service.fork(source["id"])
    return {"id": made["thread"]["id"], "transfer": made["transfer"]["id"]}


def states(graph: Graph, thread: str, transfer: str) -> list[str]:
    """The states of a transfer, as the events of its target tell them."""
    told: list[str] = []
    for event in graph.events(thread):
        if event["transferId"] == transfer and event["type"] == "thread.forked":
            told.append("pending")
        for named in json.loads(event["data"] or "{}").get("transfers", []):
            told += named["states"] if named["id"] == transfer else []
    return [state for at, state in enumerate(told) if at == 0 or state != told[at - 1]]


class TestNative:
    def test_the_plan_names_the_native_thread_and_the_turn_to_keep(
        self, service: Client, source: dict[str, Any], forked: dict[str, Any]
    ) -> None:
        start = service.start(forked["id"], "go on", "codex")

        plan, last = start["plan"], source["runs"][1]
        assert (plan["outcome"], plan["strategy"], plan["resume"]) == ("NATIVE", "NATIVE_FORK", None)
        assert plan["nativeFork"] == {
            "nativeThreadId": last["nativeThreadId"],
            "lastTurnId": last["nativeTurnId"],
            "laterTerminalTurns": 0,
            "runId": last["run"]["id"],
        }
        assert (plan["injected"], plan["handoffs"]) == (None, [])
        assert [transfer["id"] for transfer in plan["transfers"]] == [forked["transfer"]]
        assert [candidate["outcome"] for candidate in plan["candidates"] if candidate["taken"]] == ["NATIVE"]
        assert all(candidate["reason"] for candidate in plan["candidates"])

    def test_later_turns_of_the_source_are_counted_for_who_can_only_fork_the_latest(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        fork = service.fork(source["id"], point={"runId": source["runs"][0]["run"]["id"]})["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["nativeFork"]["lastTurnId"] == source["runs"][0]["nativeTurnId"]
        assert plan["nativeFork"]["laterTerminalTurns"] == 1

    def test_it_resolves_and_is_consumed_when_the_provider_accepted(
        self, service: Client, graph: Graph, source: dict[str, Any], forked: dict[str, Any]
    ) -> None:
        accepted = service.running(forked["id"], "go on", "codex")

        transfer = service.transfer(forked["transfer"])
        assert transfer["status"] == "CONSUMED"
        assert transfer["resolution"] == {
            "strategy": "NATIVE_FORK",
            "handoffId": None,
            "nativeThreadId": accepted["nativeThreadId"],
        }
        assert (transfer["sourceProvider"], transfer["targetProvider"]) == ("codex", "codex")
        assert transfer["consumedByRun"]["id"] == accepted["run"]["id"]
        assert states(graph, forked["id"], forked["transfer"]) == ["pending", "resolved_native", "consumed"]
        origin = graph.values(
            "MATCH (:Thread {id: $id})-[:BACKED_BY]->(p)-[:FORKED_FROM]->(o:ProviderThread) RETURN o.nativeThreadId",
            id=forked["id"],
        )
        assert origin == [source["runs"][1]["nativeThreadId"]]

    def test_a_fork_must_be_a_new_native_thread(
        self, service: Client, source: dict[str, Any], forked: dict[str, Any]
    ) -> None:
        run = service.start(forked["id"], "go on", "codex")["run"]["id"]

        for native in (None, source["runs"][1]["nativeThreadId"]):
            with pytest.raises(Refusal) as refused:
                service.started(run, nativeThreadId=native, nativeTurnId="t")
            assert refused.value.code == "INVALID_INPUT"

        assert service.get_run(run)["status"] == "STARTING"
        assert service.transfer(forked["transfer"])["status"] == "PENDING"

    def test_runs_on_other_providers_after_the_last_native_turn_come_as_a_delta(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        service.whole_run(source["id"], "ask 3", "answer 3", "claude")
        service.whole_run(source["id"], "ask 4", "answer 4", "opencode")
        forked = service.fork(source["id"])

        accepted = service.running(forked["thread"]["id"], "go on", "codex")

        plan = accepted["plan"]
        assert plan["outcome"] == "NATIVE"
        assert plan["nativeFork"]["lastTurnId"] == source["runs"][1]["nativeTurnId"]
        assert [handoff["kind"] for handoff in plan["handoffs"]] == ["DELTA_CONTEXT"]
        told = [n for n in (1, 2, 3, 4) if f"answer {n}" in plan["injected"]]
        assert told == [3, 4]
        transfer = service.transfer(forked["transfer"]["id"])
        assert (transfer["status"], transfer["resolution"]["strategy"]) == ("CONSUMED", "NATIVE_FORK")
        assert transfer["handoff"]["id"] == plan["handoffs"][0]["id"]

    def test_a_turn_without_a_native_id_is_told_after_a_fork_at_the_turn_before_it(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        run = service.start(source["id"], "ask 3", "codex")["run"]["id"]
        service.started(run)
        service.complete(run)
        fork = service.fork(source["id"])["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["nativeFork"]["lastTurnId"] == source["runs"][1]["nativeTurnId"]
        assert plan["nativeFork"]["laterTerminalTurns"] == 1
        assert [text for text in ("ask 1", "ask 2", "ask 3") if text in plan["injected"]] == ["ask 3"]

    def test_the_second_run_resumes_the_forks_own_native_thread(self, service: Client, forked: dict[str, Any]) -> None:
        first = service.whole_run(forked["id"], "one", provider="codex")

        plan = service.start(forked["id"], "two", "codex")["plan"]

        assert (plan["outcome"], plan["injected"], plan["transfers"]) == ("NONE", None, [])
        assert plan["resume"]["nativeThreadId"] == first["nativeThreadId"]


class TestLatestOnly:
    """A provider that forks only its latest state, as ACP agents do."""

    @pytest.fixture
    def source(self, service: Client) -> dict[str, Any]:
        thread = service.thread()["id"]
        return {"id": thread, "runs": [service.whole_run(thread, f"ask {n}", provider="acp") for n in (1, 2)]}

    def test_at_its_latest_state_it_forks_natively(self, service: Client, source: dict[str, Any]) -> None:
        fork = service.fork(source["id"])["thread"]["id"]

        plan = service.start(fork, "go on", "acp")["plan"]

        assert plan["outcome"] == "NATIVE"
        assert plan["nativeFork"]["nativeThreadId"] == source["runs"][1]["nativeThreadId"]

    def test_at_an_earlier_turn_it_is_told(self, service: Client, source: dict[str, Any]) -> None:
        fork = service.fork(source["id"], point={"runId": source["runs"][0]["run"]["id"]})["thread"]["id"]

        plan = service.start(fork, "go on", "acp")["plan"]

        assert plan["outcome"] == "PORTABLE"
        (native,) = [candidate for candidate in plan["candidates"] if candidate["outcome"] == "NATIVE"]
        assert "1 turns past the point" in native["reason"]
        assert "ask 1" in plan["injected"]
        assert "ask 2" not in plan["injected"]

    def test_once_the_source_went_on_the_point_is_an_earlier_turn(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        fork = service.fork(source["id"])["thread"]["id"]
        service.running(source["id"], "ask 3", "acp")

        plan = service.start(fork, "go on", "acp")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert "ask 3" not in plan["injected"]


class TestPortable:
    def test_the_history_is_told_in_a_handoff_on_record(
        self, service: Client, graph: Graph, source: dict[str, Any], forked: dict[str, Any]
    ) -> None:
        start = service.start(forked["id"], "go on", "claude")

        plan = start["plan"]
        (handoff,) = plan["handoffs"]
        assert (plan["outcome"], plan["strategy"]) == ("PORTABLE", "PORTABLE_CONTEXT")
        assert (plan["resume"], plan["nativeFork"]) == (None, None)
        assert plan["injected"] == handoff["text"]
        assert (handoff["kind"], handoff["provider"]) == ("PORTABLE_CONTEXT", "claude")
        assert handoff["transferId"] == forked["transfer"]
        runs = [run["run"]["id"] for run in source["runs"]]
        assert handoff["payload"]["runs"] == runs
        carried = "MATCH (:ContextHandoff {id: $id})-[:CARRIES]->(r:Run) RETURN r.id ORDER BY r.position"
        assert graph.values(carried, id=handoff["id"]) == runs
        transfer = service.transfer(forked["transfer"])
        assert transfer["status"] == "RESOLVED_PORTABLE"
        assert transfer["resolution"]["handoffId"] == handoff["id"]
        stored = service.execute("query ($id: ID!) { handoff(id: $id) { text hash } }", id=handoff["id"])["handoff"]
        assert stored == {"text": handoff["text"], "hash": handoff["hash"]}

    def test_its_states_are_pending_resolved_consumed(
        self, service: Client, graph: Graph, forked: dict[str, Any]
    ) -> None:
        service.running(forked["id"], "go on", "claude")

        assert states(graph, forked["id"], forked["transfer"]) == ["pending", "resolved_portable", "consumed"]

    def test_the_provider_thread_is_known_to_cover_what_it_was_told_and_how(
        self, service: Client, graph: Graph, source: dict[str, Any], forked: dict[str, Any]
    ) -> None:
        run = service.running(forked["id"], "go on", "claude")["run"]["id"]

        covered = graph.rows(
            """
            MATCH (:Thread {id: $id})-[:BACKED_BY]->(:ProviderThread)-[c:COVERS]->(r:Run)
            RETURN c.via AS via, r.id AS run ORDER BY r.createdAt
            """,
            id=forked["id"],
        )
        told = [{"via": "handoff", "run": told["run"]["id"]} for told in source["runs"]]
        assert covered == [*told, {"via": "native", "run": run}]

    def test_a_second_account_of_the_same_provider_has_no_native_refs_of_the_first(
        self, service: Client, forked: dict[str, Any]
    ) -> None:
        plan = service.start(forked["id"], "go on", "codex-b")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert "answer 2" in plan["injected"]

    def test_a_source_whose_native_ids_were_never_reported_is_told(self, service: Client) -> None:
        thread = service.thread()["id"]
        run = service.start(thread, "ask", "codex")["run"]["id"]
        service.started(run)
        service.complete(run)
        fork = service.fork(thread)["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert "ask" in plan["injected"]

    def test_the_caller_may_ask_for_it(self, service: Client, forked: dict[str, Any]) -> None:
        plan = service.start(forked["id"], "go on", "codex", strategy="PORTABLE_CONTEXT")["plan"]

        assert plan["outcome"] == "PORTABLE"
        (native,) = [candidate for candidate in plan["candidates"] if candidate["outcome"] == "NATIVE"]
        assert "asked for" in native["reason"]


class TestUnsupported:
    def test_it_is_refused_before_any_provider_work_and_no_run_exists(
        self, service: Client, graph: Graph, forked: dict[str, Any]
    ) -> None:
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            service.start(forked["id"], "go on", "mute")

        assert (refused.value.code, refused.value.retryable) == ("UNSUPPORTED_TRANSFER", False)
        assert "takes no context from outside" in refused.value.message
        assert written == {"CommandReceipt": 1, "Event": 1}
        assert service.get_thread(forked["id"], "runCount activeRunId") == {"runCount": 0, "activeRunId": None}

    def test_the_transfer_is_failed_and_says_why(self, service: Client, forked: dict[str, Any]) -> None:
        with pytest.raises(Refusal):
            service.start(forked["id"], "go on", "mute")

        transfer = service.transfer(forked["transfer"])
        assert transfer["status"] == "FAILED"
        assert transfer["failure"]["code"] == "UNSUPPORTED_TRANSFER"
        assert "takes no context from outside" in transfer["failure"]["message"]
        assert transfer["targetProvider"] == "mute"

    @pytest.mark.parametrize(("provider", "outcome"), [("claude", "PORTABLE"), ("codex", "NATIVE")])
    def test_the_next_start_replaces_it_from_the_same_points_and_works(
        self, service: Client, forked: dict[str, Any], provider: str, outcome: str
    ) -> None:
        for _ in range(3):
            with pytest.raises(Refusal) as refused:
                service.start(forked["id"], "go on", "mute")
            assert refused.value.code == "UNSUPPORTED_TRANSFER"
        failed = service.transfer(forked["transfer"])

        accepted = service.running(forked["id"], "go on", provider)

        assert accepted["plan"]["outcome"] == outcome
        old = service.transfer(forked["transfer"])
        new = service.transfer(old["supersededBy"]["id"])
        assert (old["status"], new["status"]) == ("SUPERSEDED", "CONSUMED")
        assert old["failure"] == failed["failure"]
        for same in ("type", "sourcePoint", "sourceThread", "targetThread", "sourceProvider", "createdBy"):
            assert new[same] == old[same]
        assert new["consumedByRun"]["id"] == accepted["run"]["id"]

    def test_the_refusal_is_told_beforehand_by_an_explanation(self, service: Client, forked: dict[str, Any]) -> None:
        plan = service.explain(forked["id"], "mute")

        assert plan["outcome"] == "UNSUPPORTED"
        assert [candidate["taken"] for candidate in plan["candidates"]] == [False] * len(plan["candidates"])

    def test_a_strategy_that_cannot_be_had_is_refused_the_same_way(
        self, service: Client, forked: dict[str, Any]
    ) -> None:
        with pytest.raises(Refusal) as refused:
            service.start(forked["id"], "go on", "claude", strategy="NATIVE_FORK")

        assert refused.value.code == "UNSUPPORTED_TRANSFER"
        assert service.whole_run(forked["id"], "go on", provider="claude")["plan"]["outcome"] == "PORTABLE"

    def test_a_provider_that_takes_no_context_works_where_none_is_needed(self, service: Client) -> None:
        thread = service.thread()["id"]

        first = service.whole_run(thread, "one", provider="mute")
        second = service.whole_run(thread, "two", provider="mute")

        assert (first["plan"]["outcome"], second["plan"]["outcome"]) == ("NONE", "NONE")
        assert second["nativeThreadId"] == first["nativeThreadId"]


def test_a_cancelled_transfer_gives_way_to_a_new_one_and_the_history_is_kept(
    service: Client, forked: dict[str, Any]
) -> None:
    cancelled = service.cancel(forked["transfer"])
    assert (cancelled["status"], cancelled["failure"]["code"]) == ("SUPERSEDED", "CANCELLED")

    accepted = service.running(forked["id"], "go on", "claude")

    assert "answer 2" in accepted["plan"]["injected"]
    old = service.transfer(forked["transfer"])
    assert service.transfer(old["supersededBy"]["id"])["status"] == "CONSUMED"
    with pytest.raises(Refusal) as refused:
        service.cancel(old["supersededBy"]["id"])
    assert refused.value.code == "TRANSFER_NOT_PENDING"
