"""30. Fork while a turn streams: the copy had an open turn that never ended.

Here the fork ends at the last stable run; no thread has an open run that is not its own; late items stay in the source.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal


@pytest.fixture
def streaming(service: Client) -> dict[str, Any]:
    """A thread with a completed run, and one that streams."""
    thread = service.thread()["id"]
    stable = service.whole_run(thread, "asked", "answered")
    run = service.running(thread, "asked again")["run"]["id"]
    (item,) = service.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "half an ans", "streaming": True})
    return {"thread": thread, "stable": stable, "run": run, "item": item["id"]}


def test_the_fork_ends_at_the_last_stable_run_and_has_no_open_run(service: Client, streaming: dict[str, Any]) -> None:
    forked = service.fork(streaming["thread"])

    assert forked["transfer"]["sourcePoint"]["runId"] == streaming["stable"]["run"]["id"]
    assert service.texts(forked["thread"]["id"]) == ["asked", "answered"]
    seen = service.get_thread(forked["thread"]["id"], "activeRun { id } runs { totalCount } runCount")
    assert seen == {"activeRun": None, "runs": {"totalCount": 0}, "runCount": 0}


def test_the_source_streams_on_and_its_late_items_stay_there(service: Client, streaming: dict[str, Any]) -> None:
    fork = service.fork(streaming["thread"])["thread"]["id"]
    answer = {"id": streaming["item"], "kind": "ASSISTANT_MESSAGE", "text": "half an answer and the rest"}
    service.append(streaming["run"], answer, {"kind": "ASSISTANT_MESSAGE", "text": "and more"})
    service.complete(streaming["run"])

    assert service.texts(streaming["thread"])[2:] == ["asked again", "half an answer and the rest", "and more"]
    assert service.texts(fork) == ["asked", "answered"]
    told = service.start(fork, "go on", "claude")["plan"]["injected"]
    assert "asked again" not in told
    assert "half an ans" not in told


def test_the_fork_starts_natively_at_the_stable_turn_while_the_source_still_streams(
    service: Client, streaming: dict[str, Any]
) -> None:
    fork = service.fork(streaming["thread"])["thread"]["id"]

    plan = service.start(fork, "go on", "codex")["plan"]

    assert plan["outcome"] == "NATIVE"
    assert plan["nativeFork"]["lastTurnId"] == streaming["stable"]["nativeTurnId"]
    assert plan["nativeFork"]["laterTerminalTurns"] == 0
    assert plan["injected"] is None
    assert service.get_run(streaming["run"])["status"] == "RUNNING"


@pytest.mark.parametrize("named", ["runId", "turnItemId"])
def test_the_open_run_itself_is_no_point(service: Client, streaming: dict[str, Any], named: str) -> None:
    point = {"runId": streaming["run"], "turnItemId": streaming["item"]}

    with pytest.raises(Refusal) as refused:
        service.fork(streaming["thread"], point={named: point[named]})

    assert (refused.value.code, refused.value.retryable) == ("RUN_ACTIVE", False)


def test_the_finished_message_of_an_open_run_is_no_point_either(service: Client, streaming: dict[str, Any]) -> None:
    message = service.items(streaming["run"])[0]
    assert message["status"] == "FINISHED"

    with pytest.raises(Refusal) as refused:
        service.fork(streaming["thread"], point={"turnItemId": message["id"]})

    assert refused.value.code == "RUN_ACTIVE"


def test_a_first_turn_that_streams_leaves_nothing_to_fork(service: Client) -> None:
    thread = service.thread()["id"]
    service.running(thread, "asked")

    with pytest.raises(Refusal) as refused:
        service.fork(thread)

    assert refused.value.code == "NO_STABLE_POINT"
