"""39. Each message was capped but the sum was megabytes; elsewhere the oldest were kept.

Here one budget holds for all that a start tells; the first request and the newest runs come first, one mark tells the
range that was left out, and under the budget nothing is changed.
"""

from __future__ import annotations

from tests.support.client import Client
from tests.support.words import fork, run

BUDGET = 24_000


def test_over_the_budget_the_first_request_and_the_newest_are_told_and_one_mark_for_the_rest(service: Client) -> None:
    thread = service.thread()["id"]
    for number in range(1, 31):
        service.whole_run(thread, f"request {number}.", f"answer {number} " * 500)

    (handoff,) = service.start(thread, "Go on", "claude")["plan"]["handoffs"]

    assert handoff["tokens"] <= BUDGET
    assert "request 1." in handoff["text"]
    assert "answer 30 " * 500 in handoff["text"]
    assert "answer 2 answer 2" not in handoff["text"]
    (gap,) = [left for left in handoff["payload"]["leftOut"] if left["what"] == "runs"]
    runs = service.run_ids(thread)
    assert (gap["from"], gap["reason"]) == (runs[1], "budget")
    assert handoff["text"].count("left out here") == 1


def test_it_holds_for_all_handoffs_of_a_start_together(service: Client) -> None:
    parent = service.thread()["id"]
    run(service, parent, "p1")
    for number in range(4):
        branch = fork(service, parent)
        service.whole_run(branch, "go on", f"branch {number} " * 9_000)
        service.merge_back(branch)

    handoffs = service.start(parent, "Go on", "claude")["plan"]["handoffs"]

    assert len(handoffs) == 5
    assert sum(handoff["tokens"] for handoff in handoffs) <= BUDGET


def test_under_the_budget_nothing_is_changed(service: Client) -> None:
    thread = service.thread()["id"]
    texts = [f"answer {number}, with  two  blanks and a\ttab" for number in range(1, 6)]
    for text in texts:
        service.whole_run(thread, "ask", text)

    (handoff,) = service.start(thread, "Go on", "claude")["plan"]["handoffs"]

    assert [text for text in texts if text not in handoff["text"]] == []
    assert handoff["payload"]["leftOut"] == []
