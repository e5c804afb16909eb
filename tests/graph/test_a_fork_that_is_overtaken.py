"""A fork reads its source before it locks it. What changes in between must count: the fork is decided on it anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash.bench import Bench
from tests.support.bolt_proxy import before_statement
from tests.support.client import Refusal, key
from tests.support.together import refusals, together

WRITE = 2
"""A fork's second statement is its write."""


def between(bench: Bench, happens: Callable[[], object], fork: Callable[[str], Any]) -> Any:
    """What `fork`, given a name for its request, comes to when something happens between its read and its write."""
    name = key()

    def action() -> bool:
        happens()
        return True

    trap = bench.proxy.trap(name, before_statement(WRITE), action)
    try:
        return fork(name)
    finally:
        assert trap.sprung.is_set()


def worked(bench: Bench) -> tuple[str, str]:
    """A thread with one completed run, and that run."""
    thread = bench.client.thread(title="Source")["id"]
    return thread, bench.client.whole_run(thread, "Find the bug")["run"]["id"]


def test_a_run_that_ends_in_between_is_the_latest_point(bench: Bench) -> None:
    thread, _ = worked(bench)
    later: list[str] = []

    def happens() -> None:
        later.append(bench.client.whole_run(thread, "Mend it")["run"]["id"])

    fork = between(bench, happens, lambda name: bench.client.fork(thread, clientMutationId=name))

    assert fork["transfer"]["sourcePoint"]["runId"] == later[0]
    texts = [item["text"] for item in bench.client.visible(fork["thread"]["id"])]
    assert texts == ["Find the bug", "done", "Mend it", "done"]
    assert (
        bench.graph.values(
            "MATCH (s:Thread {id: $source})-[:FORK]->(t)<-[:INTO]-(f) "
            "MATCH (v:Event {rootThreadId: $source, threadId: t.id}) RETURN f.sourceRunId",
            source=thread,
        )
        == later
    )


def test_a_named_point_stays_the_one_that_was_named(bench: Bench) -> None:
    thread, run = worked(bench)

    fork = between(
        bench,
        lambda: bench.client.whole_run(thread, "Mend it"),
        lambda name: bench.client.fork(thread, point={"runId": run}, clientMutationId=name),
    )

    assert fork["transfer"]["sourcePoint"]["runId"] == run


def test_a_thread_that_is_archived_in_between_is_not_forked(bench: Bench) -> None:
    thread, _ = worked(bench)
    names: list[str] = []

    def fork(name: str) -> Any:
        names.append(name)
        return bench.client.fork(thread, clientMutationId=name)

    def happens() -> None:
        bench.client.archive(thread)

    with pytest.raises(Refusal) as refused:
        between(bench, happens, fork)

    assert refused.value.code == "THREAD_ARCHIVED"
    assert bench.graph.rows(
        "MATCH (s:Thread {id: $id}) RETURN COUNT { (s)-[:FORK]->() } AS forks, "
        "COUNT { MATCH (r:CommandReceipt {key: $name}) } AS receipts",
        id=thread,
        name=names[0],
    ) == [{"forks": 0, "receipts": 0}]


def test_many_forks_and_runs_of_one_thread_at_once_leave_none_out(bench: Bench) -> None:
    """Each fork stands at a run that was the latest when it was made: no event of a later run comes before it."""
    thread, _ = worked(bench)

    def work(number: int) -> None:
        for step in range(12):
            if number:
                bench.client.fork(thread)
            else:
                bench.client.whole_run(thread, f"Step {step}")

    assert not refusals(together(4, work))

    events = bench.graph.rows(
        "MATCH (v:Event {rootThreadId: $root}) WHERE v.type IN ['run.completed', 'thread.forked'] "
        "OPTIONAL MATCH (t:Thread {id: v.threadId}) WHERE v.type = 'thread.forked' "
        "RETURN v.type AS type, v.runId AS run, t.originRunId AS origin ORDER BY v.seq",
        root=thread,
    )
    latest = None
    for event in events:
        if event["type"] == "run.completed":
            latest = event["run"]
        else:
            assert event["origin"] == latest
    assert sum(event["type"] == "thread.forked" for event in events) == 36
