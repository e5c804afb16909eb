"""35. A child's events came before its spawn, and twice; they went to the parent, or a later one wiped what was known.

Here they are kept under the child's native id and joined when the spawn comes: every order, each twice, comes to the
same graph.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from tests.support.client import NODE, Client, key
from tests.support.graph import Graph

REPORTS: list[dict[str, Any]] = [
    {"native": "child", "title": "A scout", "task": "Look it up"},
    {"native": "child", "status": "COMPLETED", "result": "It is in line 7"},
    {"native": "child", "result": "It is"},
    {"native": "grandchild", "nativeParentId": "child", "task": "Look further"},
    {"native": "grandchild", "status": "FAILED", "result": "No such file"},
]
_EDGES = """
MATCH (r:Run {id: $run})-[:HAS_NODE]->(n:ExecutionNode)
OPTIONAL MATCH (n)-[:STARTED_BY]->(p:ExecutionNode)
RETURN n.title AS title, p.task AS parent ORDER BY n.task
"""


def known(service: Client, graph: Graph, run: str, tag: str) -> Any:
    """What is on record of the native children of a run, without what differs between runs."""
    nodes = service.get_run(run, f"executionNodes {{ {NODE} }}")["executionNodes"]
    plain = [
        {name: str(value).replace(tag, "") for name, value in node.items() if name not in ("id", "runId", "threadId")}
        for node in nodes
    ]
    return sorted(plain, key=str), graph.rows(_EDGES, run=run)


def told(service: Client, graph: Graph, order: list[dict[str, Any]]) -> Any:
    run = service.running(service.thread()["id"], "Find the bug")["run"]["id"]
    tag = key()
    for report in order:
        given = {name: f"{value}{tag}" if name.startswith("native") else value for name, value in report.items()}
        service.observe(run, given.pop("native"), **given)
    return known(service, graph, run, tag)


@pytest.fixture(scope="module")
def expected(service: Client, graph: Graph) -> Any:
    return told(service, graph, REPORTS)


def test_all_that_was_told_is_known(expected: Any) -> None:
    nodes, edges = expected
    assert [(node["nativeId"], node["status"], node["result"]) for node in nodes] == [
        ("child", "COMPLETED", "It is in line 7"),
        ("grandchild", "FAILED", "No such file"),
    ]
    assert edges == [{"title": None, "parent": "Look it up"}, {"title": "A scout", "parent": None}]


def test_every_order_comes_to_the_same(service: Client, graph: Graph, expected: Any) -> None:
    orders = list(itertools.permutations(REPORTS))
    for order in random.Random(35).sample(orders, 12):
        assert told(service, graph, list(order)) == expected


def test_every_report_twice_comes_to_the_same(service: Client, graph: Graph, expected: Any) -> None:
    for seed in range(4):
        assert told(service, graph, random.Random(seed).sample(REPORTS * 2, 10)) == expected
