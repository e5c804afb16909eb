"""Subagents at the same moment as what else happens to their parent: no deadlock surfaces, each result is told once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, key
from tests.support.together import answers, refusals, together

ROUNDS = 4


@pytest.fixture
def parent(service: Client) -> str:
    """A thread below another one, so that it is no root, with one completed run."""
    root = service.thread()["id"]
    service.whole_run(root, "Begin")
    thread = service.fork(root)["thread"]["id"]
    service.whole_run(thread, "Mind the parser")
    return thread


def spawning(service: Client, parent: str) -> str:
    """A run of the parent that works."""
    return service.running(parent, "Delegate it", native=None)["run"]["id"]


def codes(made: list[Any]) -> set[str]:
    return {refusal.code for refusal in refusals(made)}


def taken(service: Client, thread: str) -> list[str]:
    return [item["data"]["result"] for item in service.visible(thread) if item["kind"] == "SUBAGENT"]


def test_a_spawn_and_the_end_of_its_run(service: Client, parent: str) -> None:
    for _ in range(ROUNDS):
        run = spawning(service, parent)
        spawned, ended = together(2, lambda at, run=run: service.end("interruptRun", run) if at else service.spawn(run))

        assert codes([spawned, ended]) <= {"RUN_NOT_ACTIVE"}
        assert ended["status"] == "INTERRUPTED"


def test_eight_results_for_a_run_that_works(service: Client, parent: str) -> None:
    run = spawning(service, parent)
    children = [service.spawned(run)["run"]["id"] for _ in range(8)]

    made = together(8, lambda at: service.complete_subagent(children[at], f"answer {at}"))

    assert codes(made) == set()
    assert sorted(taken(service, parent)) == [f"answer {at}" for at in range(8)]
    assert [item["position"] for item in service.items(run)] == list(range(1, 10))


def test_two_completions_of_one(service: Client, parent: str) -> None:
    run = spawning(service, parent)
    for number in range(ROUNDS):
        child = service.spawned(run)["run"]["id"]

        made = together(3, lambda at, child=child: service.complete_subagent(child, f"answer {at}"))

        assert codes(made) == set()
        assert len({answer["transfer"]["id"] for answer in made}) == 1
        assert len(service.results(parent)) == number + 1
        assert len(taken(service, parent)) == number + 1


def test_a_completion_and_a_cancellation(service: Client, parent: str) -> None:
    run = spawning(service, parent)
    for number in range(ROUNDS):
        child = service.spawned(run)["run"]["id"]

        made = together(
            2, lambda at, child=child: service.cancel_subagent(child) if at else service.complete_subagent(child, "7")
        )

        assert codes(made) == set()
        assert len({answer["transfer"]["id"] for answer in made}) == 1
        assert len({answer["transfer"]["result"]["status"] for answer in made}) == 1
        assert len(service.results(parent)) == number + 1


def test_a_completion_and_the_end_of_the_run_that_spawned_it(service: Client, parent: str) -> None:
    """The run takes the result, or the next message does."""
    for number in range(ROUNDS):
        run = spawning(service, parent)
        child = service.spawned(run)["run"]["id"]

        made = together(
            2,
            lambda at, run=run, child=child, number=number: (
                service.complete(run) if at else service.complete_subagent(child, f"answer {number}")
            ),
        )

        assert codes(made) == set()
        at_once = made[0]["injected"] is not None
        started = service.start(parent, "Go on")
        assert (f"answer {number}" in (started["plan"]["injected"] or "")) is not at_once
        native = started["plan"]["resume"]["nativeThreadId"]
        service.started(started["run"]["id"], nativeThreadId=native, nativeTurnId=f"turn-{key()}")
        service.complete(started["run"]["id"])
        assert taken(service, parent)[-1] == f"answer {number}"
    assert taken(service, parent) == [f"answer {number}" for number in range(ROUNDS)]


def test_a_completion_and_a_rollback_past_the_spawn(service: Client, parent: str) -> None:
    first = service.run_ids(parent)[0]
    for _ in range(ROUNDS):
        run = spawning(service, parent)
        child = service.spawned(run)["run"]["id"]
        service.complete(run)

        made = together(
            2,
            lambda at, child=child: (
                service.roll_back(parent, first) if at else service.complete_subagent(child, "Line 7")
            ),
        )

        assert codes(made) == set()
        assert {result["status"] for result in service.results(parent)} == {"SUPERSEDED"}


def test_a_completion_and_a_start(service: Client, parent: str) -> None:
    """The start tells the result, or leaves it for the next."""
    told = 0
    for number in range(ROUNDS):
        run = spawning(service, parent)
        child = service.spawned(run)["run"]["id"]
        service.complete(run)

        made = together(
            2,
            lambda at, child=child, number=number: (
                service.start(parent, "Go on") if at else service.complete_subagent(child, f"answer {number}.")
            ),
        )

        assert codes(made) == set()
        for started in (made[1], None):
            plan = started or service.start(parent, "And on")
            told += (plan["plan"]["injected"] or "").count(f"answer {number}.")
            native = plan["plan"]["resume"]["nativeThreadId"]
            service.started(plan["run"]["id"], nativeThreadId=native, nativeTurnId=f"turn-{key()}")
            service.complete(plan["run"]["id"])
    assert told == ROUNDS


def test_a_completion_and_an_archive_of_the_parent(service: Client, parent: str) -> None:
    run = spawning(service, parent)
    child = service.spawned(run)
    service.complete(run)

    made = together(
        2, lambda at: service.archive(parent) if at else service.complete_subagent(child["run"]["id"], "Line 7")
    )

    assert codes(made) <= {"THREAD_BUSY"}
    assert len(answers(made)) >= 1
    assert service.get_run(child["run"]["id"])["status"] == "COMPLETED"


def test_results_of_siblings_and_a_start_of_each(service: Client, parent: str) -> None:
    """Children end and go on at once: each run of a child gives one result."""
    run = spawning(service, parent)
    children = [service.spawned(run)["thread"]["id"] for _ in range(4)]
    runs = [service.get_thread(child, "activeRunId")["activeRunId"] for child in children]
    together(4, lambda at: service.complete_subagent(runs[at], f"first {at}"))

    made = together(4, lambda at: service.whole_run(children[at], "Again", f"second {at}"))

    assert codes(made) == set()
    texts = sorted(result["result"]["text"] for result in service.results(parent))
    assert texts == sorted([*(f"first {at}" for at in range(4)), *(f"second {at}" for at in range(4))])
