"""27. 19 children ended while the parent was busy; 15 results arrived. A child that was continued gave no second one.

Here each run of a child gives one result; what ended during a run is taken by the next, in the order in which it ended.
"""

from __future__ import annotations

import random

from tests.support.client import Client


def results(service: Client, thread: str) -> list[str]:
    """The results in a thread's history, in order."""
    return [item["data"]["result"] for item in service.visible(thread) if item["kind"] == "SUBAGENT"]


def go_on(service: Client, thread: str) -> None:
    """One more run on the provider thread of the last one."""
    started = service.start(thread, "Go on")
    native = started["plan"]["resume"]["nativeThreadId"]
    service.started(started["run"]["id"], nativeThreadId=native, nativeTurnId=started["run"]["id"])
    service.complete(started["run"]["id"])


def test_nineteen_that_end_while_the_parent_is_busy_all_arrive_with_the_next_message(service: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug")["run"]["id"]
    children = [service.spawned(spawner, f"task {number}")["run"]["id"] for number in range(19)]
    order = random.Random(27).sample(range(19), 19)
    for number in order:
        service.append(children[number], {"kind": "ASSISTANT_MESSAGE", "text": f"answer {number}."})
        service.complete(children[number])
    service.complete(spawner)

    go_on(service, thread)

    assert results(service, thread) == [f"answer {number}." for number in order]
    assert {transfer["status"] for transfer in service.results(thread)} == {"CONSUMED"}
    assert service.explain(thread, "codex")["transfers"] == []


def test_a_child_that_is_continued_gives_a_second_result(service: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug")["run"]["id"]
    child = service.spawned(spawner)
    service.complete_subagent(child["run"]["id"], "It is in line 7")
    service.complete(spawner)

    service.whole_run(child["thread"]["id"], "Look again", "No, in line 8")

    assert service.start(thread, "Go on")["plan"]["injected"].count("No, in line 8") == 1
    assert [each["status"] for each in service.results(thread)] == ["CONSUMED", "RESOLVED_PORTABLE"]


def test_results_share_the_budget_and_none_is_dropped(service: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug", "brief-900")["run"]["id"]
    for number in range(3):
        child = service.spawned(spawner, f"task {number}")["run"]["id"]
        service.complete_subagent(child, f"answer {number}: " + "long " * 500, toRunningRun=False)
    service.complete(spawner)

    plan = service.start(thread, "Go on", "brief-900")["plan"]

    assert sum(handoff["tokens"] for handoff in plan["handoffs"]) <= 900
    assert all(f"answer {number}:" in plan["injected"] for number in range(3))
