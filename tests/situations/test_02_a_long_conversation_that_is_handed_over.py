"""2. A fork of a compacted session sent the whole discarded history again and overflowed the window.

Here what is over the budget is told by the latest summary for the old part and in full for the newest runs.
"""

from __future__ import annotations

from tests.support.client import Client

BUDGET = 24_000


def test_the_summary_stands_for_the_old_part_and_the_newest_runs_are_whole(service: Client) -> None:
    thread = service.thread()["id"]
    for number in range(1, 7):
        run = service.whole_run(thread, f"ask {number}", f"old answer {number} " * 1_500)["run"]["id"]
    compacted = service.running(thread, "ask 7")["run"]["id"]
    service.append(
        compacted,
        {"kind": "COMPACTION", "text": "SUMMARY of the first six.", "data": {"throughRunId": run}},
        {"kind": "ASSISTANT_MESSAGE", "text": "answer 7"},
    )
    service.complete(compacted)
    for number in (8, 9):
        service.whole_run(thread, f"ask {number}", f"new answer {number} " * 100)

    (handoff,) = service.start(thread, "Go on", "claude")["plan"]["handoffs"]

    assert handoff["tokens"] <= BUDGET
    assert "SUMMARY of the first six." in handoff["text"]
    for number in (8, 9):
        assert f"new answer {number} " * 100 in handoff["text"]


def test_an_explicit_checkpoint_s_summary_does_the_same(service: Client) -> None:
    thread = service.thread()["id"]
    for number in range(1, 7):
        service.whole_run(thread, f"ask {number}", f"old answer {number} " * 1_500)
    service.checkpoint(thread, "half way", summary="SUMMARY of the first six.")
    service.whole_run(thread, "ask 7", "new answer 7 " * 100)

    (handoff,) = service.start(thread, "Go on", "claude")["plan"]["handoffs"]

    assert handoff["tokens"] <= BUDGET
    assert "SUMMARY of the first six." in handoff["text"]
    assert "new answer 7 " * 100 in handoff["text"]
