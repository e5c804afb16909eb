"""Merges at the same moment as each other, as rollbacks and as starts: no deadlock surfaces, nothing is told twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client
from tests.support.graph import Graph
from tests.support.together import refusals, together
from tests.support.words import conversation, fork, run, told, words

ROUNDS = 4


@pytest.fixture
def threads(service: Client) -> tuple[str, str, str]:
    """A thread with two runs and two forks of it with one each."""
    parent = conversation(service, "p1", "p2")
    one, other = fork(service, parent), fork(service, parent)
    run(service, one, "f1")
    run(service, other, "g1")
    return parent, one, other


def codes(made: list[Any]) -> set[str]:
    return {refusal.code for refusal in refusals(made)}


def live(graph: Graph, thread: str) -> list[str]:
    """The transfers into a thread that a start may use, and their edges, which must be the same."""
    transfers = graph.values(
        "MATCH (f:ContextTransfer {targetThreadId: $id, type: 'merge_back'}) WHERE f.status <> 'superseded' "
        "RETURN f.id ORDER BY f.id",
        id=thread,
    )
    edges = graph.values(
        "MATCH ()-[e:MERGE_BACK]->(:Thread {id: $id}) RETURN e.transferId ORDER BY e.transferId", id=thread
    )
    assert transfers == edges
    return transfers


def test_two_sources_into_one_target(service: Client, graph: Graph, threads: tuple[str, str, str]) -> None:
    parent, *forks = threads
    for number in range(ROUNDS):
        made = together(2, lambda at: service.merge_back(forks[at]))
        assert codes(made) == set()
        assert sorted(told(run(service, parent, f"p{3 + number}")["plan"])) == (
            ["f1", "g1"] if number == 0 else [f"a{number}", f"b{number}"]
        )
        for name, thread in zip("ab", forks, strict=True):
            run(service, thread, f"{name}{number + 1}")


def test_two_threads_into_each_other(service: Client, graph: Graph, threads: tuple[str, str, str]) -> None:
    _, one, other = threads
    for number in range(ROUNDS):
        made = together(4, lambda at: service.merge_back(*((one, other) if at % 2 else (other, one))))
        assert codes(made) == set()
        assert len(live(graph, one)) == len(live(graph, other)) == number + 1
        for thread, name in ((one, "x"), (other, "y")):
            run(service, thread, f"{name}{number}")

    for thread in (one, other):
        found = words(service, thread)
        assert len(found) == len(set(found)), "each run once"


def test_a_merge_and_a_rollback_of_its_source(service: Client, graph: Graph, threads: tuple[str, str, str]) -> None:
    parent, one, _ = threads
    origin = service.run_ids(parent)[-1]
    for number in range(ROUNDS):
        made = together(2, lambda at: service.merge_back(one) if at else service.roll_back(one, origin))

        assert codes(made) <= {"NOTHING_TO_MERGE"}
        assert live(graph, parent) == [], "what was taken back does not wait"
        run(service, one, f"again{number}")


def test_a_merge_and_a_start_of_its_target(service: Client, graph: Graph, threads: tuple[str, str, str]) -> None:
    """The start takes the merge or leaves it for the next; it is told once."""
    parent, one, _ = threads
    heard: list[str] = []
    for number in range(ROUNDS):
        made = together(2, lambda at: service.merge_back(one) if at else service.start(parent, "go on"))
        assert codes(made) == set()
        started = made[0]
        service.started(started["run"]["id"], nativeTurnId=f"s{number}")
        service.end("completeRun", started["run"]["id"])
        heard += told(started["plan"])
        run(service, one, f"n{number}")
    heard += told(run(service, parent, "last")["plan"])

    assert heard == ["f1", *(f"n{number}" for number in range(ROUNDS - 1))]


def test_a_rollback_of_the_source_and_a_start_of_the_target(
    service: Client, graph: Graph, threads: tuple[str, str, str]
) -> None:
    """Whichever came first: what was being told then stays told, or is told to nobody."""
    parent, one, _ = threads
    origin = service.run_ids(parent)[-1]
    for number in range(ROUNDS):
        merge = service.merge_back(one)["id"]
        made = together(2, lambda at: service.roll_back(one, origin) if at else service.start(parent, "go on"))
        assert codes(made) == set()
        started = made[0]
        service.started(started["run"]["id"], nativeTurnId=f"s{number}")
        service.end("completeRun", started["run"]["id"])

        taken = told(started["plan"])
        assert service.transfer(merge)["status"] == ("CONSUMED" if taken else "SUPERSEDED")
        assert [word for word in taken if word not in words(service, parent)] == []
        run(service, one, f"again{number}")


def test_a_cancellation_and_a_start(service: Client, graph: Graph, threads: tuple[str, str, str]) -> None:
    parent, one, _ = threads
    for number in range(ROUNDS):
        merge = service.merge_back(one)["id"]
        made = together(2, lambda at, merge=merge: service.cancel(merge) if at else service.start(parent, "go on"))
        assert codes(made) <= {"THREAD_BUSY"}
        started = made[0]
        service.started(started["run"]["id"], nativeTurnId=f"s{number}")
        service.end("completeRun", started["run"]["id"])

        assert (service.transfer(merge)["status"] == "CONSUMED") == bool(told(started["plan"]))
        run(service, one, f"n{number}")
