"""42. A grandchild's result went to nobody because its parent's run had ended.

Here it goes to the thread of the run that spawned it, at any depth, once.
"""

from __future__ import annotations

from tests.support.client import Client


def test_at_any_depth_a_result_waits_for_the_thread_that_asked(service: Client) -> None:
    root = service.thread()["id"]
    runs = [service.running(root, "Find the bug")["run"]["id"]]
    threads = [root]
    for _ in range(4):
        spawned = service.spawned(runs[-1])
        threads.append(spawned["thread"]["id"])
        runs.append(spawned["run"]["id"])
    for run in runs[:-1]:
        service.complete(run)

    service.complete_subagent(runs[-1], "It is in line 7")

    asked = threads[-2]
    assert service.start(asked, "Go on")["plan"]["injected"].count("It is in line 7") == 1
    for thread in threads[:-2]:
        assert "It is in line 7" not in (service.start(thread, "Go on")["plan"]["injected"] or "")
