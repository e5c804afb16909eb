"""Starts that fail: replanned where there is another way, and never in the way of the next start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, key
from tests.support.graph import Graph

GONE = {"code": "THREAD_NOT_FOUND", "message": "no rollout found for thread id"}


@pytest.fixture
def thread(service: Client) -> str:
    """Two completed runs on Codex."""
    made = service.thread()["id"]
    for number in (1, 2):
        service.whole_run(made, f"ask {number}", f"answer {number}", "codex")
    return made


def candidate(plan: dict[str, Any], outcome: str) -> dict[str, Any]:
    (found,) = [candidate for candidate in plan["candidates"] if candidate["outcome"] == outcome]
    return found


class TestANativeForkThatFails:
    """Situation 4: a native boundary the provider no longer has is found when the fork starts. No dead end."""

    @pytest.fixture
    def replanned(self, service: Client, thread: str) -> dict[str, Any]:
        made = service.fork(thread)
        start = service.start(made["thread"]["id"], "go on", "codex")
        assert start["plan"]["outcome"] == "NATIVE"
        again = service.started(start["run"]["id"], failure=GONE)
        return again | {"fork": made["thread"]["id"], "transfer": made["transfer"]["id"]}

    def test_is_replanned_as_portable_in_the_same_run(self, service: Client, replanned: dict[str, Any]) -> None:
        plan = replanned["plan"]
        assert replanned["run"]["status"] == "STARTING"
        assert (plan["outcome"], plan["nativeFork"]) == ("PORTABLE", None)
        assert "answer 1" in plan["injected"]
        assert "answer 2" in plan["injected"]
        assert "no rollout found" in candidate(plan, "NATIVE")["reason"]
        assert service.get_thread(replanned["fork"], "runCount activeRunId") == {
            "runCount": 1,
            "activeRunId": replanned["run"]["id"],
        }

    def test_the_same_transfer_carries_it_and_is_consumed_by_acceptance(
        self, service: Client, replanned: dict[str, Any]
    ) -> None:
        assert service.transfer(replanned["transfer"])["status"] == "RESOLVED_PORTABLE"

        service.started(replanned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="t")

        transfer = service.transfer(replanned["transfer"])
        assert (transfer["status"], transfer["resolution"]["strategy"]) == ("CONSUMED", "PORTABLE_CONTEXT")

    def test_the_run_keeps_the_new_plan(self, service: Client, replanned: dict[str, Any]) -> None:
        kept = service.get_run(replanned["run"]["id"], "plan { outcome injected handoffs { id } transfers { id } }")

        assert kept["plan"]["outcome"] == "PORTABLE"
        assert kept["plan"]["injected"] == replanned["plan"]["injected"]
        assert [transfer["id"] for transfer in kept["plan"]["transfers"]] == [replanned["transfer"]]

    def test_a_second_failure_ends_the_run_and_leaves_the_handoff_for_the_next(
        self, service: Client, graph: Graph, replanned: dict[str, Any]
    ) -> None:
        ended = service.started(replanned["run"]["id"], failure=GONE)
        assert (ended["run"]["status"], ended["plan"]) == ("FAILED", None)

        with graph.growth() as written:
            again = service.start(replanned["fork"], "go on", "codex", strategy="PORTABLE_CONTEXT")

        assert "ContextHandoff" not in written
        assert again["plan"]["handoffs"] == replanned["plan"]["handoffs"]

    def test_the_failure_was_of_this_start_the_next_fork_is_tried_natively_again(
        self, service: Client, thread: str, replanned: dict[str, Any]
    ) -> None:
        other = service.fork(thread)["thread"]["id"]

        assert service.start(other, "go on", "codex")["plan"]["outcome"] == "NATIVE"


class TestAResumeThatFails:
    """Situation 5: a provider thread that can't be resumed is lost, the start is replanned; never silently empty."""

    @pytest.fixture
    def replanned(self, service: Client, thread: str) -> dict[str, Any]:
        start = service.start(thread, "ask 3", "codex")
        assert start["plan"]["outcome"] == "NONE"
        return service.started(start["run"]["id"], failure=GONE) | {"lost": start["plan"]["resume"]["nativeThreadId"]}

    def test_marks_the_provider_thread_lost_and_tells_the_history_anew(
        self, service: Client, thread: str, replanned: dict[str, Any]
    ) -> None:
        plan = replanned["plan"]
        assert (replanned["run"]["status"], plan["outcome"], plan["resume"]) == ("STARTING", "PORTABLE", None)
        assert "answer 1" in plan["injected"]
        assert "answer 2" in plan["injected"]
        (known,) = service.provider_threads(thread)
        assert (known["nativeThreadId"], known["status"]) == (replanned["lost"], "LOST")
        assert "lost" in candidate(plan, "NONE")["reason"]

    def test_the_new_provider_thread_is_a_handoff_made_by_the_system(
        self, service: Client, thread: str, replanned: dict[str, Any]
    ) -> None:
        service.started(replanned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="t")

        (transfer,) = service.transfers(thread)
        assert (transfer["type"], transfer["createdBy"]) == ("PROVIDER_HANDOFF", "SYSTEM")
        assert (transfer["sourceProvider"], transfer["targetProvider"]) == ("codex", "codex")
        assert transfer["status"] == "CONSUMED"

    def test_the_lost_thread_is_never_used_again(self, service: Client, thread: str, replanned: dict[str, Any]) -> None:
        fresh = f"native-{key()}"
        service.started(replanned["run"]["id"], nativeThreadId=fresh, nativeTurnId="t")
        service.complete(replanned["run"]["id"])

        resumed = service.start(thread, "ask 4", "codex")["plan"]
        assert (resumed["outcome"], resumed["resume"]["nativeThreadId"]) == ("NONE", fresh)

        earlier = service.get_thread(thread, "runs(first: 1) { nodes { id } }")["runs"]["nodes"][0]["id"]
        fork = service.fork(thread, point={"runId": earlier})["thread"]["id"]
        forked = service.start(fork, "go on", "codex")["plan"]
        assert (forked["outcome"], forked["nativeFork"]) == ("PORTABLE", None)

    def test_a_delta_that_cannot_be_resumed_becomes_portable(self, service: Client, thread: str) -> None:
        service.whole_run(thread, "ask 3", "answer 3", "claude")
        start = service.start(thread, "ask 4", "codex")
        assert start["plan"]["outcome"] == "DELTA"

        plan = service.started(start["run"]["id"], failure=GONE)["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert all(f"answer {number}" in plan["injected"] for number in (1, 2, 3))
        service.started(start["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="t")
        stands = {transfer["id"]: transfer["status"] for transfer in service.transfers(thread)}
        assert stands[start["plan"]["transfers"][0]["id"]] == "SUPERSEDED"
        assert stands[plan["transfers"][0]["id"]] == "CONSUMED"

    def test_where_no_other_way_is_left_the_run_fails_and_another_provider_works(self, service: Client) -> None:
        thread = service.thread()["id"]
        service.whole_run(thread, "ask 1", "answer 1", "mute")
        run = service.start(thread, "ask 2", "mute")["run"]["id"]

        failed = service.started(run, failure=GONE)

        assert (failed["run"]["status"], failed["plan"]["outcome"]) == ("FAILED", "UNSUPPORTED")
        assert "no rollout found" in failed["run"]["reason"]
        assert service.get_thread(thread)["activeRunId"] is None
        assert "answer 1" in service.running(thread, "ask 2", "claude")["plan"]["injected"]


class TestASwitchThatFails:
    """Situation 6: the old provider thread stays as it is until the new one accepted."""

    @pytest.mark.parametrize("how", ["failRun", "interruptRun", "reportRunStarted"])
    def test_the_old_provider_goes_on_as_if_nothing_had_been(self, service: Client, thread: str, how: str) -> None:
        before = service.provider_threads(thread)
        run = service.start(thread, "ask 3", "claude")["run"]["id"]
        if how == "reportRunStarted":
            service.started(run, failure=GONE)
        else:
            service.end(how, run)

        assert service.provider_threads(thread) == before
        assert service.get_thread(thread)["provider"] == "codex"
        back = service.running(thread, "ask 3", "codex")["plan"]
        assert (back["outcome"], back["injected"], back["transfers"]) == ("NONE", None, [])
        assert back["resume"]["nativeThreadId"] == before[0]["nativeThreadId"]
        (unused,) = service.transfers(thread)
        assert (unused["status"], unused["consumedAt"]) == ("SUPERSEDED", None)

    def test_tried_again_it_sends_the_same_handoff(self, service: Client, graph: Graph, thread: str) -> None:
        first = service.start(thread, "ask 3", "claude")
        service.started(first["run"]["id"], failure=GONE)

        with graph.growth() as written:
            second = service.start(thread, "ask 3", "claude")

        assert "ContextHandoff" not in written
        assert "ContextTransfer" not in written
        assert second["plan"]["handoffs"] == first["plan"]["handoffs"]

    def test_a_history_that_went_on_meanwhile_is_told_in_a_new_handoff(self, service: Client, thread: str) -> None:
        first = service.start(thread, "ask 3", "claude")
        service.started(first["run"]["id"], failure=GONE)
        service.whole_run(thread, "ask 3", "answer 3", "codex")

        second = service.start(thread, "ask 4", "claude")

        assert second["plan"]["handoffs"][0]["id"] != first["plan"]["handoffs"][0]["id"]
        assert "answer 3" in second["plan"]["injected"]


class TestReports:
    def test_a_resume_reported_from_another_native_thread_is_refused(self, service: Client, thread: str) -> None:
        run = service.start(thread, "ask 3", "codex")["run"]["id"]

        with pytest.raises(AssertionError, match="INVALID_INPUT") as refused:
            service.started(run, nativeThreadId="another", nativeTurnId="t")

        assert "report a failure" in str(refused.value)
        assert service.get_run(run)["status"] == "STARTING"

    def test_a_native_thread_stands_behind_one_thread_only(self, service: Client) -> None:
        native = f"native-{key()}"
        first = service.thread()["id"]
        service.whole_run(first, "ask", native=(native, "t"))
        run = service.start(service.thread()["id"], "ask", "codex")["run"]["id"]

        with pytest.raises(AssertionError, match="ID_TAKEN"):
            service.started(run, nativeThreadId=native, nativeTurnId="t")

        assert service.get_run(run)["status"] == "STARTING"
        assert [known["nativeThreadId"] for known in service.provider_threads(first)] == [native]
