"""7. Switching between two accounts of one provider: "thread already has an active writer".

Here the accounts are instances of their own: native refs belong to one, and what the other lacks it is told.
"""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal, key


@pytest.fixture
def thread(service: Client) -> str:
    """A thread with one run on the first account."""
    thread = service.thread()["id"]
    service.whole_run(thread, "Find the bug", "It is in line 7", native=(f"native-{thread}", f"turn-{thread}"))
    return thread


def test_the_other_account_neither_resumes_nor_forks_what_is_not_its_own(service: Client, thread: str) -> None:
    plan = service.start(thread, "Go on", "codex-b")["plan"]

    assert (plan["outcome"], plan["resume"], plan["nativeFork"]) == ("PORTABLE", None, None)
    assert "It is in line 7" in plan["injected"]


def test_back_on_the_first_account_its_own_thread_goes_on_with_what_it_missed(service: Client, thread: str) -> None:
    service.whole_run(thread, "Mend it", "Mended", "codex-b")

    plan = service.start(thread, "And back")["plan"]

    assert (plan["outcome"], plan["resume"]["nativeThreadId"]) == ("DELTA", f"native-{thread}")
    assert "Mended" in plan["injected"]
    assert "It is in line 7" not in plan["injected"]


def test_one_native_id_may_mean_two_things_on_two_accounts(service: Client, thread: str) -> None:
    other = service.thread()["id"]

    service.whole_run(other, "Something else", provider="codex-b", native=(f"native-{thread}", "1"))

    assert service.explain(thread, "codex")["resume"]["nativeThreadId"] == f"native-{thread}"
    assert service.explain(other, "codex-b")["resume"]["nativeThreadId"] == f"native-{thread}"


def test_one_native_thread_has_one_thread_of_ours_before_it(service: Client, thread: str) -> None:
    run = service.start(service.thread()["id"], "Something else")["run"]["id"]

    with pytest.raises(Refusal) as refused:
        service.started(run, nativeThreadId=f"native-{thread}", nativeTurnId=f"turn-{key()}")

    assert refused.value.code == "ID_TAKEN"
