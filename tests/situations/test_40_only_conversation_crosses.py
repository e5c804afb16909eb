"""40. A child inherited the parent's set-up texts and obeyed them, and its model was recorded as the parent's.

Here only conversation crosses; provider, model and settings are facts of the run as it was started.
"""

from __future__ import annotations

from tests.support.client import Client


def test_a_child_is_told_no_set_up_and_has_a_model_of_its_own(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "Mind the parser", model="large-1")["run"]["id"]
    service.started(run, nativeThreadId=f"native-{run}", nativeTurnId="1")
    service.append(
        run,
        {"kind": "OTHER", "text": "Plan only. Change nothing.", "data": {"type": "system_reminder"}},
        {"kind": "REASONING", "text": "The user may be tired"},
        {"kind": "ASSISTANT_MESSAGE", "text": "It is minded"},
    )
    service.complete(run)
    spawner = service.running(thread, "Find the bug")["run"]["id"]

    child = service.spawn(spawner, "Look it up", "claude", "INHERIT", model="small-2")

    told = child["plan"]["injected"]
    assert "It is minded" in told
    assert "Plan only" not in told
    assert "tired" not in told
    facts = service.get_run(child["run"]["id"], "provider model")
    assert facts == {"provider": "claude", "model": "small-2"}


def test_a_child_without_a_model_has_none_of_its_parents(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "Mind the parser", model="large-1")["run"]["id"]
    service.started(run, nativeThreadId=f"native-{run}", nativeTurnId="1")

    child = service.spawn(run)

    assert service.get_run(child["run"]["id"], "model") == {"model": None}
