"""41. Recovery made new forks nobody asked for. A failed start left one more stray native thread each time.

Here threads come from commands only; a native fork that was made is recorded at once, and used by the next start.
"""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph


@pytest.fixture
def source(service: Client) -> str:
    thread = service.thread()["id"]
    service.whole_run(thread, "Mind the parser", "It is minded", native=(f"native-{thread}", f"turn-{thread}"))
    return thread


@pytest.fixture
def fork(service: Client, source: str) -> str:
    return service.fork(source)["thread"]["id"]


def made(service: Client, thread: str, **given: str) -> str:
    """A native fork that was made for a run of the thread whose turn then failed."""
    started = service.start(thread, "Go on")
    assert started["plan"]["nativeFork"] is not None
    native = f"fork-{key()}"
    failure = {"code": "OVERLOADED", "message": "Try later"}
    answer = service.started(started["run"]["id"], nativeThreadId=native, failure=failure, **given)
    assert (answer["run"]["status"], answer["plan"]) == ("FAILED", None)
    return native


def test_a_fork_that_was_made_is_used_by_the_next_start(service: Client, source: str, fork: str) -> None:
    native = made(service, fork)
    (transfer,) = service.transfers(fork)
    assert (transfer["status"], transfer["resolution"]["nativeThreadId"]) == ("RESOLVED_NATIVE", native)

    again = service.start(fork, "Go on")

    plan = again["plan"]
    assert (plan["outcome"], plan["strategy"], plan["nativeFork"], plan["injected"]) == (
        "NATIVE",
        "NATIVE_FORK",
        None,
        None,
    )
    assert plan["resume"]["nativeThreadId"] == native
    assert [each["id"] for each in plan["transfers"]] == [transfer["id"]]
    service.started(again["run"]["id"], nativeThreadId=native, nativeTurnId="1")
    consumed = service.transfer(transfer["id"])
    assert (consumed["status"], consumed["consumedByRun"]["id"]) == ("CONSUMED", again["run"]["id"])
    assert [each["nativeThreadId"] for each in service.provider_threads(fork)] == [native]
    service.complete(again["run"]["id"])
    assert service.explain(fork, "codex")["outcome"] == "NONE"


def test_however_often_its_turn_fails_there_is_one(service: Client, graph: Graph, fork: str) -> None:
    native = made(service, fork)

    for _ in range(3):
        again = service.start(fork, "Go on")
        assert again["plan"]["resume"]["nativeThreadId"] == native
        service.end("failRun", again["run"]["id"], reason="No")

    assert [each["nativeThreadId"] for each in service.provider_threads(fork)] == [native]
    assert len(service.transfers(fork)) == 1


def test_one_that_can_not_be_resumed_is_lost_and_another_way_is_found(service: Client, fork: str) -> None:
    native = made(service, fork)
    run = service.start(fork, "Go on")["run"]["id"]

    plan = service.started(run, failure={"code": "GONE", "message": "No such thread"})["plan"]

    assert plan["outcome"] == "NATIVE"
    assert plan["nativeFork"] is not None
    lost = service.provider_threads(fork)
    assert [(each["nativeThreadId"], each["status"]) for each in lost] == [(native, "LOST")]


def test_another_provider_is_told_and_the_fork_is_used_later_with_the_rest(service: Client, fork: str) -> None:
    native = made(service, fork)
    service.whole_run(fork, "Go on elsewhere", "Gone on", "claude")

    plan = service.start(fork, "And back")["plan"]

    assert (plan["outcome"], plan["resume"]["nativeThreadId"]) == ("NATIVE", native)
    assert "Gone on" in plan["injected"]
    assert "It is minded" not in plan["injected"]


def test_it_is_used_after_a_rollback_too(service: Client, source: str) -> None:
    first = service.run_ids(source)[0]
    service.whole_run(source, "A mistake", native=(f"native-{source}", f"turn-{key()}"))
    service.roll_back(source, first)
    native = made(service, source)

    again = service.start(source, "Better")

    assert again["plan"]["resume"]["nativeThreadId"] == native
    assert again["plan"]["injected"] is None
    service.started(again["run"]["id"], nativeThreadId=native, nativeTurnId=f"turn-{key()}")
    assert {each["status"] for each in service.transfers(source)} == {"CONSUMED"}


def test_the_source_of_the_fork_may_go_back_behind_its_point(service: Client, source: str) -> None:
    first = service.run_ids(source)[0]
    service.whole_run(source, "Further", native=(f"native-{source}", f"turn-{key()}"))
    fork = service.fork(source)["thread"]["id"]
    native = made(service, fork)
    service.roll_back(source, first)

    plan = service.explain(fork, "codex")

    assert (plan["outcome"], plan["resume"]["nativeThreadId"]) == ("NATIVE", native)


def test_a_native_thread_that_no_plan_forked_is_not_taken_for_one(service: Client, graph: Graph, fork: str) -> None:
    run = service.start(fork, "Go on", "claude")["run"]["id"]

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.started(run, nativeThreadId="x", failure={"code": "DOWN", "message": "It is down"})

    assert refused.value.code == "INVALID_INPUT"
    assert written == {}


def test_nothing_but_a_command_makes_a_thread(service: Client, graph: Graph, fork: str) -> None:
    with graph.growth() as written:
        service.explain(fork, "codex")
        run = service.start(fork, "Go on")["run"]["id"]
        service.started(run, failure={"code": "DOWN", "message": "It is down"})
        service.end("failRun", run, reason="No")

    assert "Thread" not in written
    assert "ProviderThread" not in written
