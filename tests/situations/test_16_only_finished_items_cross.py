"""16. The restored history showed finished tool calls and thoughts as still running.

Here only finished items are in a history that crosses; what an ended run left unfinished is closed as INTERRUPTED.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client


def call(call_id: str, output: str | None = None) -> dict[str, Any]:
    data = {"callId": call_id, "name": "read_file", "input": {"path": f"{call_id}.txt"}}
    return {"kind": "TOOL_CALL", "data": data if output is None else data | {"output": output}}


@pytest.fixture
def ended(service: Client, request: pytest.FixtureRequest) -> dict[str, Any]:
    """A run that was stopped in the middle: one call and one thought done, one call and one sentence not."""
    thread = service.thread()["id"]
    service.whole_run(thread, "first", "answer")
    run = service.running(thread, "go on")["run"]["id"]
    service.append(
        run,
        call("done", "its output"),
        {"kind": "REASONING", "text": "a thought"},
        call("open") | {"streaming": True},
        {"kind": "ASSISTANT_MESSAGE", "text": "half a sen", "streaming": True},
    )
    service.end(request.param, run)
    return {"thread": thread, "run": run}


EVERY_END = pytest.mark.parametrize("ended", ["completeRun", "failRun", "interruptRun"], indirect=True)


@EVERY_END
def test_an_ended_run_has_no_item_that_still_streams(service: Client, ended: dict[str, Any]) -> None:
    states = [(item["kind"], item["status"]) for item in service.items(ended["run"])]

    assert states == [
        ("USER_MESSAGE", "FINISHED"),
        ("TOOL_CALL", "FINISHED"),
        ("REASONING", "FINISHED"),
        ("TOOL_CALL", "INTERRUPTED"),
        ("ASSISTANT_MESSAGE", "INTERRUPTED"),
    ]


@EVERY_END
def test_the_visible_history_shows_them_the_same_way(service: Client, ended: dict[str, Any]) -> None:
    shown = {item["id"]: item["status"] for item in service.visible(ended["thread"])}

    assert set(shown.values()) == {"FINISHED", "INTERRUPTED"}
    assert {item["id"]: item["status"] for item in service.items(ended["run"])}.items() <= shown.items()


@EVERY_END
def test_another_provider_is_told_what_finished_and_that_the_rest_was_interrupted(
    service: Client, ended: dict[str, Any]
) -> None:
    told = service.start(ended["thread"], "go on there", "claude")["plan"]["injected"]

    assert "its output" in told
    assert "half a sen" not in told
    assert "a thought" not in told
    assert told.count("result: none, the call was interrupted") == 1


def test_while_a_run_works_its_own_items_stream_and_nobody_else_sees_them(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "first", "answer")
    run = service.running(thread, "go on")["run"]["id"]
    (item,) = service.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "half", "streaming": True})

    fork = service.fork(thread)["thread"]["id"]

    assert service.items(run)[-1]["status"] == "STREAMING"
    assert service.texts(fork) == ["first", "answer"]
    service.append(run, {"id": item["id"], "kind": "ASSISTANT_MESSAGE", "text": "half and whole"})
    assert [(i["text"], i["status"]) for i in service.items(run)][-1] == ("half and whole", "FINISHED")
    assert service.texts(fork) == ["first", "answer"]
