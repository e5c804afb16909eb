"""Context ahead of the run: a handoff asked for, built to be seen, and put into a person's own words."""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph
from tests.support.words import conversation, fork, run, told, words


@pytest.fixture
def thread(service: Client) -> str:
    """A thread with two runs on Codex."""
    return conversation(service, "p1", "p2", title="the parent")


class TestHandoffThread:
    def test_makes_the_transfer_that_the_next_start_uses_and_builds_nothing(
        self, service: Client, graph: Graph, thread: str
    ) -> None:
        with graph.growth() as written:
            transfer = service.hand_over(thread, "claude")

        assert "ContextHandoff" not in written
        assert (transfer["type"], transfer["status"]) == ("PROVIDER_HANDOFF", "PENDING")
        assert transfer["sourcePoint"]["runId"] == service.run_ids(thread)[-1]
        started = run(service, thread, "p3", "claude")
        assert [each["id"] for each in started["plan"]["transfers"]] == [transfer["id"]]
        assert told(started["plan"]) == ["p1", "p2"]
        assert service.transfer(transfer["id"])["status"] == "CONSUMED"

    def test_twice_is_one_transfer(self, service: Client, thread: str) -> None:
        assert service.hand_over(thread, "claude")["id"] == service.hand_over(thread, "claude")["id"]

    def test_another_provider_after_all_gets_what_waits(self, service: Client, thread: str) -> None:
        transfer = service.hand_over(thread, "claude")

        started = run(service, thread, "p3", "opencode")

        assert [each["id"] for each in started["plan"]["transfers"]] == [transfer["id"]]

    def test_going_on_where_it_was_leaves_it_behind(self, service: Client, thread: str) -> None:
        transfer = service.hand_over(thread, "claude")

        assert run(service, thread, "p3")["plan"]["outcome"] == "NONE"
        assert service.transfer(transfer["id"])["status"] == "SUPERSEDED"

    def test_of_an_unused_fork_it_is_the_forks_own(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)

        assert service.hand_over(forked["thread"]["id"], "claude")["id"] == forked["transfer"]["id"]

    def test_what_the_provider_knows_needs_none(self, service: Client, thread: str) -> None:
        with pytest.raises(Refusal, match="NOTHING_TO_HAND_OVER"):
            service.hand_over(thread, "codex")

    def test_a_busy_thread_is_refused(self, service: Client, thread: str) -> None:
        service.running(thread, "work")

        with pytest.raises(Refusal, match="THREAD_BUSY") as refused:
            service.hand_over(thread, "claude")
        assert refused.value.retryable

    def test_runs_of_three_providers_are_joined_by_handoff_edges(self, service: Client, graph: Graph) -> None:
        """Runs 1-5 on one, 6-8 on another, 9 back on the first, 10 on a third."""
        thread = service.thread()["id"]
        plans = [run(service, thread, f"r{n}")["plan"] for n in range(1, 6)]
        plans += [run(service, thread, f"r{n}", "claude")["plan"] for n in range(6, 9)]
        plans += [run(service, thread, "r9")["plan"], run(service, thread, "r10", "opencode")["plan"]]

        assert told(plans[5]) == ["r1", "r2", "r3", "r4", "r5"]
        assert (plans[8]["outcome"], told(plans[8])) == ("DELTA", ["r6", "r7", "r8"])
        assert (plans[9]["outcome"], told(plans[9])) == ("PORTABLE", [f"r{n}" for n in range(1, 10)])
        edges = graph.rows(
            "MATCH (a:Run {threadId: $id})-[:HANDOFF]->(b:Run) RETURN a.position AS a, b.position AS b ORDER BY b",
            id=thread,
        )
        assert [(edge["a"], edge["b"]) for edge in edges] == [(5, 6), (8, 9), (9, 10)]


class TestPrepareTransfer:
    def test_builds_what_the_next_start_tells(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)

        prepared = service.prepare(forked["transfer"]["id"], "claude")

        assert prepared["transfer"]["status"] == "RESOLVED_PORTABLE"
        started = service.start(forked["thread"]["id"], "Go on", "claude")
        assert [handoff["id"] for handoff in started["plan"]["handoffs"]] == [prepared["handoff"]["id"]]
        assert started["plan"]["injected"] == prepared["handoff"]["text"]

    def test_of_a_merge(self, service: Client, thread: str) -> None:
        other = fork(service, thread)
        run(service, other, "f1")
        merge = service.merge_back(other)

        prepared = service.prepare(merge["id"], "codex")
        started = run(service, thread, "p3")

        assert started["plan"]["injected"] == prepared["handoff"]["text"]
        assert told(started["plan"]) == ["f1"]

    def test_of_a_merge_while_its_target_works(self, service: Client, thread: str) -> None:
        other = fork(service, thread)
        run(service, other, "f1")
        working = service.running(thread, "work")["run"]["id"]
        merge = service.merge_back(other)

        prepared = service.prepare(merge["id"], "codex")

        service.complete(working)
        assert run(service, thread, "p4")["plan"]["injected"] == prepared["handoff"]["text"]

    def test_a_native_fork_needs_no_handoff(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)

        prepared = service.prepare(forked["transfer"]["id"], "codex")

        assert (prepared["handoff"], prepared["transfer"]["status"]) == (None, "PENDING")

    def test_another_provider_after_all_is_told_by_a_transfer_of_its_own(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)
        prepared = service.prepare(forked["transfer"]["id"], "claude")

        started = service.start(forked["thread"]["id"], "Go on", "opencode")

        assert started["plan"]["handoffs"][0]["id"] != prepared["handoff"]["id"]
        assert service.transfer(forked["transfer"]["id"])["status"] == "SUPERSEDED"

    def test_a_transfer_that_was_consumed_is_refused(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)
        run(service, forked["thread"]["id"], "f1")

        with pytest.raises(Refusal, match="TRANSFER_NOT_PENDING"):
            service.prepare(forked["transfer"]["id"], "claude")

    def test_while_a_run_starts_on_it_it_is_refused(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)
        service.start(forked["thread"]["id"], "Go on", "claude")

        with pytest.raises(Refusal, match="THREAD_BUSY"):
            service.prepare(forked["transfer"]["id"], "claude")

    def test_an_unknown_provider_is_refused(self, service: Client, thread: str) -> None:
        with pytest.raises(Refusal, match="PROVIDER_UNKNOWN"):
            service.prepare(service.fork(thread)["transfer"]["id"], "nobody")


class TestReviseHandoff:
    def test_the_new_words_are_sent_and_both_records_stay(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)
        first = service.prepare(forked["transfer"]["id"], "claude")["handoff"]

        second = service.revise(first["id"], "Only the second idea counts.")

        assert (second["revisionOfId"], second["supersededById"]) == (first["id"], None)
        assert second["hash"] != first["hash"]
        old = service.get_handoff(first["id"])
        assert (old["supersededById"], old["text"]) == (second["id"], first["text"])
        started = run(service, forked["thread"]["id"], "f1", "claude")
        assert started["plan"]["injected"] == "Only the second idea counts."
        assert service.transfer(forked["transfer"]["id"])["handoff"]["id"] == second["id"]

    def test_it_stands_for_the_same_history(self, service: Client, thread: str) -> None:
        """What the provider thread was told of is known to it, in whatever words."""
        forked = service.fork(thread)
        first = service.prepare(forked["transfer"]["id"], "claude")["handoff"]
        service.revise(first["id"], "Only the second idea counts.")
        run(service, forked["thread"]["id"], "f1", "claude")

        assert service.explain(forked["thread"]["id"], "claude")["outcome"] == "NONE"
        assert words(service, forked["thread"]["id"]) == ["p1", "p2", "f1"]

    def test_again(self, service: Client, thread: str) -> None:
        first = service.prepare(service.fork(thread)["transfer"]["id"], "claude")["handoff"]
        second = service.revise(first["id"], "Second.")
        third = service.revise(second["id"], "Third.")

        assert third["revisionOfId"] == second["id"]
        with pytest.raises(Refusal, match="TRANSFER_NOT_PENDING") as refused:
            service.revise(first["id"], "Another second.")
        assert second["id"] in refused.value.message

    def test_a_later_merge_does_not_undo_it(self, service: Client, thread: str) -> None:
        merges = []
        for word in ("f1", "g1"):
            other = fork(service, thread)
            run(service, other, word)
            merges.append(service.merge_back(other)["id"])
            if word == "f1":
                handoff = service.prepare(merges[0], "codex")["handoff"]
                service.revise(handoff["id"], "The first one failed.")

        injected = service.start(thread, "Go on")["plan"]["injected"]

        assert "The first one failed." in injected
        assert "<f1>" not in injected
        assert "<g1>" in injected

    def test_a_text_over_the_budget_is_refused(self, service: Client, thread: str) -> None:
        handoff = service.prepare(service.fork(thread)["transfer"]["id"], "claude")["handoff"]

        with pytest.raises(Refusal, match="LIMIT_EXCEEDED") as refused:
            service.revise(handoff["id"], "word " * 30_000)
        assert "24000" in refused.value.message

    def test_a_secret_is_taken_out(self, service: Client, thread: str) -> None:
        handoff = service.prepare(service.fork(thread)["transfer"]["id"], "claude")["handoff"]
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

        revised = service.revise(handoff["id"], f"Log in with {secret} first.")

        assert secret not in revised["text"]
        assert revised["text"].startswith("Log in with ")

    def test_what_was_sent_can_not_be_changed(self, service: Client, thread: str) -> None:
        forked = service.fork(thread)
        handoff = run(service, forked["thread"]["id"], "f1", "claude")["plan"]["handoffs"][0]

        with pytest.raises(Refusal, match="TRANSFER_NOT_PENDING"):
            service.revise(handoff["id"], "I never said that.")

    def test_a_blank_text_is_refused(self, service: Client, thread: str) -> None:
        handoff = service.prepare(service.fork(thread)["transfer"]["id"], "claude")["handoff"]

        with pytest.raises(Refusal, match="INVALID_INPUT"):
            service.revise(handoff["id"], " \n ")
