"""9. A fork carried the inner transcripts of subagents and grew.

Here a child's inner items are in no history but its own; its result is in that of its parent.
"""

from __future__ import annotations

from tests.support.client import Client


def test_a_fork_and_another_provider_have_the_result_and_not_the_work(service: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug")["run"]["id"]
    child = service.spawned(spawner, "Look into the parser")
    inner = "thousands of lines of the inner work"
    service.append(
        child["run"]["id"],
        {"kind": "COMMAND", "data": {"command": "cat parser.py", "output": inner}},
        {"kind": "ASSISTANT_MESSAGE", "text": "It is in line 7"},
    )
    service.complete_subagent(child["run"]["id"])
    service.complete(spawner)

    fork = service.fork(thread)["thread"]["id"]

    told = service.start(fork, "Go on", "claude")["plan"]["injected"]
    assert "It is in line 7" in told
    assert inner not in told
    assert [item["kind"] for item in service.visible(fork)] == ["USER_MESSAGE", "SUBAGENT"]
    assert inner in str(service.items(child["run"]["id"]))
