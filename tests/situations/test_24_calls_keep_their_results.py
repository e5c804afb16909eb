"""24. A cut, a filter or an injected text split a tool call from its result; every later turn was refused, for good.

Here each call has its result and each result its call, in every context; an unanswered call is closed as interrupted.
`tests/domain` has this as a property of the builder, for any content and any budget; here every cut point of one run
goes through the service to providers of different budgets.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.client import Client

CALLS = ("c1", "c2", "c3")
BUDGETS = ("brief-300", "brief-900", "claude")


def call(call_id: str) -> dict[str, Any]:
    return {"kind": "TOOL_CALL", "data": {"callId": call_id, "name": f"tool-{call_id}", "input": f"asks {call_id}"}}


def result(call_id: str) -> dict[str, Any]:
    return {"kind": "TOOL_CALL", "data": {"callId": call_id, "output": f"answers {call_id} " + "word " * 60}}


def headings(told: str) -> list[str]:
    """The record's headings of calls and results, in order."""
    found = re.search(r"^<<<(\d{9}) record$", told, re.MULTILINE)
    assert found is not None
    labels = [line.removeprefix(f"#{found[1]} ") for line in told.split("\n") if line.startswith(f"#{found[1]} ")]
    return [label for label in labels if label.startswith(("tool call", "result"))]


def check_pairs(told: str) -> list[str]:
    """Every call heading is followed by its result heading, and no result stands alone; gives the calls' names."""
    shown = headings(told)
    assert [label.split(":")[0].split(" (")[0] for label in shown] == ["tool call", "result"] * (len(shown) // 2)
    return [label.removeprefix("tool call: tool-") for label in shown[::2]]


@pytest.fixture(scope="module")
def source(service: Client) -> dict[str, Any]:
    """A run with three calls whose results came later, mixed and out of order, with words between."""
    thread = service.thread()["id"]
    run = service.running(thread, "do three things")["run"]["id"]
    items = service.append(
        run,
        call("c1"),
        call("c2"),
        {"kind": "ASSISTANT_MESSAGE", "text": "two at once"},
        result("c2"),
        call("c3"),
        result("c1"),
        {"kind": "ASSISTANT_MESSAGE", "text": "nearly"},
        result("c3"),
        {"kind": "ASSISTANT_MESSAGE", "text": "done"},
    )
    service.complete(run)
    return {"thread": thread, "items": [item["id"] for item in service.items(run)], "appended": items}


@pytest.mark.parametrize("provider", BUDGETS)
@pytest.mark.parametrize("cut", range(10))
def test_every_cut_and_every_budget(service: Client, source: dict[str, Any], cut: int, provider: str) -> None:
    fork = service.fork(source["thread"], point={"turnItemId": source["items"][cut]})["thread"]["id"]

    told = service.start(fork, "go on", provider)["plan"]["injected"]

    calls = check_pairs(told)
    kept = [item for item in service.visible(fork) if item["kind"] == "TOOL_CALL"]
    asked = [item["data"]["callId"] for item in kept if "name" in item["data"]]
    answered = {item["data"]["callId"] for item in kept if "output" in item["data"]}
    assert [name for name in asked if name in calls] == calls
    closed = told.count("result: none, the call was interrupted")
    assert closed == len([name for name in calls if name not in answered])
    if provider == "claude":
        assert calls == asked
        assert {name for name in CALLS if f"answers {name}" in told} == answered


def test_a_delta_that_ends_between_a_call_and_its_result_closes_the_call(service: Client) -> None:
    """The point of a native fork lies before the run, so the delta carries the run up to the cut, call and all."""
    thread = service.thread()["id"]
    service.whole_run(thread, "first", provider="codex")
    run = service.running(thread, "second", "codex")["run"]["id"]
    items = service.append(run, call("c1"), result("c1"), call("c2"), result("c2"))
    service.complete(run)
    for cut, expected in ((0, ["c1"]), (1, ["c1"]), (2, ["c1", "c2"])):
        fork = service.fork(thread, point={"turnItemId": items[cut]["id"]})["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["outcome"] == "NATIVE"
        assert check_pairs(plan["injected"]) == expected


def test_a_call_left_open_by_an_interrupted_run_is_closed_for_the_next_provider(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.running(thread, "go")["run"]["id"]
    service.append(run, call("c1"), result("c1"), call("c2"))
    service.end("interruptRun", run)

    told = service.start(thread, "go on", "claude")["plan"]["injected"]

    assert check_pairs(told) == ["c1", "c2"]
    assert headings(told)[-1] == "result: none, the call was interrupted"
