"""What a provider holds besides the history: turns that were taken in spite of a refusal, sources that went on."""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal, key


def test_a_turn_that_was_taken_after_its_run_was_given_up_is_never_resumed_past(service: Client) -> None:
    thread = service.thread()["id"]
    first = service.whole_run(thread, "one", provider="claude")
    ghost = service.start(thread, "GHOST", "claude")
    assert ghost["plan"]["resume"] == {"nativeThreadId": first["nativeThreadId"]}
    service.end("interruptRun", ghost["run"]["id"])
    with pytest.raises(Refusal) as late:
        service.started(ghost["run"]["id"], nativeThreadId=first["nativeThreadId"], nativeTurnId="ghost")
    assert late.value.code == "RUN_NOT_ACTIVE"

    plan = service.start(thread, "two", "claude")["plan"]

    assert plan["outcome"] == "NATIVE"
    assert plan["nativeFork"]["lastTurnId"] == first["nativeTurnId"]
    assert plan["nativeFork"]["laterTerminalTurns"] == 1


def given_up(service: Client, thread: str) -> str:
    """A run on claude that is interrupted before its provider is known to have taken it."""
    ghost = service.start(thread, "GHOST", "claude")["run"]["id"]
    service.end("interruptRun", ghost)
    return ghost


def taken_late(service: Client, run: str, native: str) -> Refusal:
    """The report, too late, that the provider took the turn of a run in a native thread."""
    with pytest.raises(Refusal) as late:
        service.started(run, nativeThreadId=native, nativeTurnId=f"ghost-{run}")
    assert late.value.code == "RUN_NOT_ACTIVE"
    return late.value


def test_a_resume_that_was_planned_before_the_foreign_turn_was_told_of_is_not_accepted(service: Client) -> None:
    thread = service.thread()["id"]
    first = service.whole_run(thread, "one", provider="claude")
    native = first["nativeThreadId"]
    ghost = given_up(service, thread)
    planned = service.start(thread, "two", "claude")
    assert planned["plan"]["resume"] == {"nativeThreadId": native}
    taken_late(service, ghost, native)

    with pytest.raises(Refusal) as refused:
        service.started(planned["run"]["id"], nativeThreadId=native, nativeTurnId=f"turn-{key()}")
    assert refused.value.code == "PLAN_OUTDATED"

    anew = service.started(planned["run"]["id"], failure={"code": "PLAN_OUTDATED", "message": "a foreign turn"})
    assert anew["plan"]["outcome"] == "NATIVE"
    assert anew["plan"]["nativeFork"]["lastTurnId"] == first["nativeTurnId"]
    assert service.provider_threads(thread)[0]["status"] == "DIVERGENT"


def test_no_turn_after_a_foreign_one_is_forked_at(service: Client) -> None:
    thread = service.thread()["id"]
    first = service.whole_run(thread, "one", provider="claude")
    native = first["nativeThreadId"]
    ghost = given_up(service, thread)
    service.whole_run(thread, "two", "the second", "claude", native=(native, f"turn-{key()}"))
    taken_late(service, ghost, native)

    plan = service.start(thread, "three", "claude")["plan"]

    assert plan["outcome"] == "NATIVE"
    assert plan["nativeFork"]["lastTurnId"] == first["nativeTurnId"]
    assert "the second" in plan["injected"]
    assert "GHOST" not in plan["injected"]


def test_a_foreign_turn_counts_once_however_often_it_is_told_of(service: Client) -> None:
    thread = service.thread()["id"]
    native = service.whole_run(thread, "one", provider="claude")["nativeThreadId"]
    ghost = given_up(service, thread)

    told = [taken_late(service, ghost, native) for _ in range(3)]

    assert all("not resumed any more" in str(refusal) for refusal in told)
    assert service.start(thread, "two", "claude")["plan"]["nativeFork"]["laterTerminalTurns"] == 1


def test_a_fork_of_the_latest_state_is_not_accepted_while_the_source_may_take_a_turn(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "one", provider="acp")
    fork = service.fork(thread)["thread"]["id"]
    planned = service.start(fork, "in the fork", "acp")
    assert planned["plan"]["outcome"] == "NATIVE"
    service.start(thread, "in the source only", "acp")

    with pytest.raises(Refusal) as refused:
        service.started(planned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")

    assert refused.value.code == "PLAN_OUTDATED"


def test_provider_threads_that_are_no_use_do_not_hide_one_that_is(service: Client) -> None:
    thread = service.thread()["id"]
    first = service.whole_run(thread, "one")
    for number in range(22):
        run = service.start(thread, f"try {number}", strategy="PORTABLE_CONTEXT")["run"]["id"]
        service.started(run, nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
        service.end("failRun", run)
        service.roll_back(thread, first["run"]["id"])

    plan = service.explain(thread, "codex")

    assert plan["outcome"] == "NONE"
    assert plan["resume"] == {"nativeThreadId": first["nativeThreadId"]}


def test_a_late_report_of_a_turn_that_is_in_history_changes_nothing(service: Client) -> None:
    thread = service.thread()["id"]
    done = service.whole_run(thread, "one", provider="claude")
    with pytest.raises(Refusal):
        service.started(done["run"]["id"], nativeThreadId=done["nativeThreadId"], nativeTurnId=done["nativeTurnId"])

    plan = service.start(thread, "two", "claude")["plan"]

    assert plan["resume"] == {"nativeThreadId": done["nativeThreadId"]}


def test_a_fork_of_the_latest_state_is_not_planned_while_the_source_may_take_a_turn(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "one", provider="acp")
    fork = service.fork(thread)["thread"]["id"]
    service.start(thread, "in the source only", "acp")

    assert service.start(fork, "in the fork", "acp")["plan"]["outcome"] == "PORTABLE"


def test_a_fork_of_the_latest_state_is_not_accepted_once_the_source_has_gone_on(service: Client) -> None:
    thread = service.thread()["id"]
    one = service.whole_run(thread, "one", provider="acp")
    fork = service.fork(thread)["thread"]["id"]
    planned = service.start(fork, "in the fork", "acp")
    assert planned["plan"]["outcome"] == "NATIVE"
    service.whole_run(thread, "in the source only", provider="acp", native=(one["nativeThreadId"], f"turn-{key()}"))

    with pytest.raises(Refusal) as refused:
        service.started(planned["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
    assert refused.value.code == "PLAN_OUTDATED"

    anew = service.started(planned["run"]["id"], failure={"code": "PLAN_OUTDATED", "message": "the source went on"})
    assert anew["plan"]["outcome"] == "PORTABLE"
    assert "in the source only" not in anew["plan"]["injected"]


def test_a_report_is_of_a_start_or_of_a_failure(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "one", "claude")["run"]["id"]
    with pytest.raises(Refusal) as refused:
        service.started(run, nativeThreadId="made", failure={"code": "REFUSED", "message": "the turn was refused"})
    assert refused.value.code == "INVALID_INPUT"


def test_a_forced_strategy_holds_for_the_plan_anew(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "one", provider="claude")
    fork = service.fork(thread)["thread"]["id"]
    run = service.start(fork, "in the fork", "claude", strategy="NATIVE_FORK")["run"]["id"]

    answer = service.started(run, failure={"code": "NATIVE_FAILED", "message": "it could not fork"})

    assert answer["run"]["status"] == "FAILED"
    assert answer["plan"]["outcome"] == "UNSUPPORTED"


def test_a_run_far_larger_than_any_handoff_can_be_handed_over(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "write a lot", "claude")["run"]["id"]
    service.started(run, nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
    texts = [f"part {number} " + "all work and no play " * 30_000 for number in range(6)]
    service.append(run, *({"kind": "ASSISTANT_MESSAGE", "text": text} for text in texts))
    service.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "the last word"})
    service.complete(run)

    plan = service.start(thread, "go on", "codex")["plan"]

    assert plan["outcome"] == "PORTABLE"
    assert "the last word" in plan["injected"]
    assert "write a lot" in plan["injected"]
    assert "part 0" not in plan["injected"]
    [handoff] = plan["handoffs"]
    payload = service.execute("query ($id: ID!) { handoff(id: $id) { payload } }", id=handoff["id"])
    assert payload["handoff"]["payload"]["notes"], "what was not read is told"


def test_finishing_an_item_replaces_what_it_said_while_it_streamed(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "one", "claude")["run"]["id"]
    service.started(run, nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
    [item] = service.append(run, {"kind": "TOOL_CALL", "text": "partial", "streaming": True})
    service.append(run, {"id": item["id"], "kind": "TOOL_CALL", "data": {"output": "whole"}})

    stored = service.execute("query ($id: ID!) { node(id: $id) { ... on TurnItem { text data } } }", id=item["id"])

    assert stored["node"] == {"text": None, "data": {"output": "whole"}}
