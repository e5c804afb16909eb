"""Putting threads away: an archived thread is read and goes on in its forks, but takes no new work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph
from tests.support.refusals import check_sentence
from tests.support.subagents import subagent
from tests.support.together import refusals, together


def status(service: Client, thread: str) -> str:
    return service.get_thread(thread)["status"]


def worked(service: Client, *providers: str) -> tuple[str, list[str]]:
    """A thread with a completed run on each provider, and the runs."""
    thread = service.thread(title="A talk")["id"]
    runs = [
        service.whole_run(thread, f"ask {number}", f"answer {number}", provider)["run"]["id"]
        for number, provider in enumerate(providers, 1)
    ]
    return thread, runs


class TestAnArchivedThread:
    def test_is_read_listed_and_counted_as_before(self, service: Client) -> None:
        thread, runs = worked(service, "codex")
        fork = service.fork(thread)["thread"]["id"]
        before = service.lineage(fork)

        answer = service.archive(thread)

        assert (answer["archivedThreads"], answer["thread"]["status"]) == (1, "ARCHIVED")
        assert service.get_thread(thread) == answer["thread"]
        assert service.texts(thread) == ["ask 1", "answer 1"]
        assert service.get_run(runs[0])["status"] == "COMPLETED"
        after = service.lineage(fork)
        assert [node["thread"]["id"] for node in after["nodes"]] == [node["thread"]["id"] for node in before["nodes"]]
        assert (after["edges"], after["totalCount"]) == (before["edges"], 2)
        listed = """query ($root: ID!, $status: ThreadStatus!) {
          threads(filter: {rootThreadId: $root, status: $status}) { totalCount nodes { id } }
        }"""
        for wanted, found in (("ARCHIVED", thread), ("ACTIVE", fork)):
            page = service.execute(listed, root=thread, status=wanted)["threads"]
            assert page == {"totalCount": 1, "nodes": [{"id": found}]}

    def test_that_is_archived_again_stays_as_it_is_and_counts_none(self, service: Client) -> None:
        thread, _ = worked(service, "codex")
        service.archive(thread)

        again = service.archive(thread)

        assert (again["archivedThreads"], again["thread"]["status"]) == (0, "ARCHIVED")

    @pytest.mark.parametrize(
        "command",
        [
            lambda service, thread, run: service.start(thread, "ask 2"),
            lambda service, thread, run: service.fork(thread),
            lambda service, thread, run: service.fork(thread, point={"runId": run}),
            lambda service, thread, run: service.checkpoint(thread),
            lambda service, thread, run: service.roll_back(thread, run),
        ],
        ids=["startRun", "forkThread", "forkThread at a run", "createCheckpoint", "rollbackThread"],
    )
    def test_takes_no_new_work(
        self, service: Client, graph: Graph, command: Callable[[Client, str, str], object]
    ) -> None:
        thread, runs = worked(service, "codex", "codex")
        service.archive(thread)

        with graph.growth() as written, pytest.raises(Refusal) as refused:
            command(service, thread, runs[0])

        assert (refused.value.code, refused.value.retryable) == ("THREAD_ARCHIVED", False)
        check_sentence(refused.value)
        assert written == {}

    def test_keeps_what_waits_for_it(self, service: Client) -> None:
        thread, _ = worked(service, "codex")
        fork = service.fork(thread)
        service.archive(fork["thread"]["id"])

        assert service.transfer(fork["transfer"]["id"])["status"] == "PENDING"
        assert service.cancel(fork["transfer"]["id"])["status"] == "SUPERSEDED"

    def test_leaves_an_event_that_names_what_was_archived(self, service: Client, graph: Graph) -> None:
        thread, _ = worked(service, "codex")
        child = subagent(service, thread)

        service.archive(thread)

        event = graph.events(thread)[-1]
        assert (event["type"], event["data"]) == (
            "thread.archived",
            f'{{"archivedThreads":["{thread}","{child}"]}}',
        )

    def test_that_is_busy_is_refused(self, service: Client) -> None:
        thread, _ = worked(service, "codex")
        run = service.start(thread, "ask 2")["run"]["id"]

        with pytest.raises(Refusal, match=run) as refused:
            service.archive(thread)

        assert (refused.value.code, refused.value.retryable) == ("THREAD_BUSY", True)
        assert status(service, thread) == "ACTIVE"

    def test_that_is_unknown_is_refused(self, service: Client) -> None:
        with pytest.raises(Refusal) as refused:
            service.archive("thr_00000000-0000-7000-8000-000000000000")

        assert refused.value.code == "NOT_FOUND"

    def test_has_no_run_whatever_comes_at_the_same_time(self, service: Client) -> None:
        """Archiving and a start take turns: a thread is never archived with a run that works in it."""

        def one(number: int, thread: str) -> Any:
            return service.start(thread, "ask") if number % 2 else service.archive(thread)

        for _ in range(5):
            thread, _ = worked(service, "codex")
            made = together(4, lambda number, thread=thread: one(number, thread))

            assert {refusal.code for refusal in refusals(made)} <= {"THREAD_ARCHIVED", "THREAD_BUSY"}
            found = service.get_thread(thread)
            assert (found["status"] == "ARCHIVED") == (found["activeRunId"] is None)


class TestForksOfAnArchivedThread:
    def test_start_natively(self, service: Client) -> None:
        thread, _ = worked(service, "codex")
        fork = service.fork(thread)["thread"]["id"]
        service.archive(thread)

        plan = service.start(fork, "ask 2", "codex")["plan"]

        assert plan["outcome"] == "NATIVE"

    def test_start_by_a_handoff(self, service: Client) -> None:
        thread, _ = worked(service, "codex")
        fork = service.fork(thread)["thread"]["id"]
        service.archive(thread)

        plan = service.start(fork, "ask 2", "claude")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert "answer 1" in plan["injected"]

    def test_can_be_forked_and_rolled_back_to_where_they_began(self, service: Client) -> None:
        thread, runs = worked(service, "codex")
        fork = service.fork(thread)["thread"]["id"]
        service.whole_run(fork, "ask 2", "answer 2")
        service.archive(thread)

        assert service.texts(service.fork(fork)["thread"]["id"]) == ["ask 1", "answer 1", "ask 2", "answer 2"]
        service.roll_back(fork, runs[0])
        assert service.texts(fork) == ["ask 1", "answer 1"]
