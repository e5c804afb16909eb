"""13. A child finished between two polls of the parent and its result was lost.

Here results are records, not notifications; `completeSubagent` twice or late is answered, not lost.
"""

from __future__ import annotations

import pytest

from tests.support.client import Client
from tests.support.graph import Graph


@pytest.fixture
def thread(service: Client) -> str:
    return service.thread()["id"]


@pytest.fixture
def spawner(service: Client, thread: str) -> str:
    return service.running(thread, "Find the bug")["run"]["id"]


def test_a_result_that_nobody_asked_for_waits(service: Client, thread: str, spawner: str) -> None:
    child = service.spawned(spawner)["run"]["id"]
    service.append(child, {"kind": "ASSISTANT_MESSAGE", "text": "It is in line 7"})
    service.complete(child)
    service.complete(spawner)

    assert service.start(thread, "Go on")["plan"]["injected"].count("It is in line 7") == 1


def test_a_second_completion_gets_the_first_answer_and_gives_nothing_twice(
    service: Client, thread: str, spawner: str
) -> None:
    child = service.spawned(spawner)["run"]["id"]
    first = service.complete_subagent(child, "It is in line 7")

    again = service.complete_subagent(child, "It is in line 7")

    assert again["transfer"] == first["transfer"]
    assert [item["kind"] for item in service.items(spawner)] == ["USER_MESSAGE", "SUBAGENT"]


def test_a_late_completion_is_answered_and_what_it_says_is_kept(
    service: Client, graph: Graph, thread: str, spawner: str
) -> None:
    child = service.spawned(spawner)
    service.end("failRun", child["run"]["id"], reason="It gave up")

    late = service.complete_subagent(child["run"]["id"], "It is in line 7")

    assert late["transfer"]["result"] == {"status": "FAILED", "text": "It gave up"}
    event = graph.events(child["thread"]["id"])[-1]
    assert event["type"] == "report.late"
    assert "It is in line 7" in event["data"]


def test_a_child_with_more_to_do_is_done_when_its_run_is(service: Client, thread: str, spawner: str) -> None:
    child = service.spawned(spawner)["run"]["id"]
    service.end("heartbeatRun", child)

    assert service.results(thread) == []
    service.complete_subagent(child, "It is in line 7")
    assert len(service.results(thread)) == 1
