"""33. Forks repeated the parent's usage: 16 of 20 billion tokens were counted more than once.

Here usage belongs to a run; an untouched fork has none, and a tree counts each run once.
"""

from __future__ import annotations

from plait.graph.statements import cypher_folder
from tests.support.client import Client
from tests.support.graph import Graph


def usage_of(service: Client, thread: str) -> list[dict[str, int]]:
    """What its own runs took."""
    runs = service.get_thread(thread, "runs { nodes { usage { inputTokens outputTokens } } }")["runs"]
    return [run["usage"] for run in runs["nodes"]]


def test_a_fork_has_no_usage_of_its_own_and_a_tree_counts_each_run_once(service: Client, graph: Graph) -> None:
    thread = service.thread()["id"]
    run = service.running(thread, "Find the bug")["run"]["id"]
    service.complete(run, usage={"inputTokens": 1000, "outputTokens": 10})
    forks = [service.fork(thread)["thread"]["id"] for _ in range(3)]
    own = service.running(forks[0], "Go on")["run"]["id"]
    service.complete(own, usage={"inputTokens": 2000, "outputTokens": 20})

    usages = [usage_of(service, each) for each in (thread, *forks)]

    assert usages == [[{"inputTokens": 1000, "outputTokens": 10}], [{"inputTokens": 2000, "outputTokens": 20}], [], []]
    statement = (cypher_folder() / "analysts" / "tokens_by_tree.cypher").read_text(encoding="utf-8")
    (row,) = [row for row in graph.rows(statement, limit=100_000) if thread in row.values()]
    assert {3000, 30} <= set(row.values())
