"""The way between two threads: the shortest along lineage edges, held against networkx on trees that grew at random."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise
from typing import Any

import networkx
import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph
from tests.support.subagents import subagent

PATH = """query ($from: ID!, $to: ID!) { lineagePath(from: $from, to: $to) {
  threads { id } edges { id kind sourceThreadId targetThreadId transferId createdAt }
} }"""
UNKNOWN = "thr_00000000-0000-7000-8000-000000000000"
TREE = ("FORK", "SUBAGENT")


def path(service: Client, start: str, end: str) -> dict[str, Any] | None:
    return service.execute(PATH, **{"from": start, "to": end})["lineagePath"]


def threads(service: Client, start: str, end: str) -> list[str]:
    found = path(service, start, end)
    assert found is not None
    assert_is_a_way(found)
    return [thread["id"] for thread in found["threads"]]


def kinds(service: Client, start: str, end: str) -> list[str]:
    found = path(service, start, end)
    assert found is not None
    return [edge["kind"] for edge in found["edges"]]


def assert_is_a_way(found: dict[str, Any]) -> None:
    """Each edge joins its thread and the next."""
    steps = list(pairwise(thread["id"] for thread in found["threads"]))
    ends = [{edge["sourceThreadId"], edge["targetThreadId"]} for edge in found["edges"]]
    assert ends == [set(step) for step in steps]


def fork(service: Client, source: str) -> str:
    return service.fork(source)["thread"]["id"]


@pytest.fixture
def root(service: Client) -> str:
    thread = service.thread(title="root")["id"]
    service.whole_run(thread, "ask")
    return thread


class TestWithinATree:
    def test_a_fork_is_one_edge_from_its_source_whichever_way_one_looks(self, service: Client, root: str) -> None:
        made = service.fork(root)
        child, transfer = made["thread"]["id"], made["transfer"]

        down, up = path(service, root, child), path(service, child, root)

        assert down is not None
        assert up is not None
        assert [thread["id"] for thread in down["threads"]] == [root, child]
        assert [thread["id"] for thread in up["threads"]] == [child, root]
        assert down["edges"] == up["edges"]
        assert down["edges"] == [
            {
                "id": transfer["id"],
                "kind": "FORK",
                "sourceThreadId": root,
                "targetThreadId": child,
                "transferId": transfer["id"],
                "createdAt": transfer["createdAt"],
            }
        ]

    def test_an_edge_is_the_one_that_lineage_shows(self, service: Client, root: str) -> None:
        child = fork(service, root)

        found = path(service, root, child)

        assert found is not None
        shown = [{key: edge[key] for key in edge if key != "createdAt"} for edge in found["edges"]]
        assert shown == service.lineage(root)["edges"]

    def test_siblings_are_joined_through_their_parent(self, service: Client, root: str) -> None:
        one, other = fork(service, root), fork(service, root)

        assert threads(service, one, other) == [one, root, other]

    def test_cousins_are_joined_through_the_thread_that_both_come_from(self, service: Client, root: str) -> None:
        one, other = fork(service, root), fork(service, root)
        grandchild, cousin = fork(service, one), fork(service, other)

        assert threads(service, grandchild, cousin) == [grandchild, one, root, other, cousin]

    def test_a_thread_is_no_way_from_itself(self, service: Client, root: str) -> None:
        assert path(service, root, root) == {"threads": [{"id": root}], "edges": []}

    def test_a_subagent_is_an_edge_from_the_thread_that_spawned_it(self, service: Client, root: str) -> None:
        child, sibling = subagent(service, root), fork(service, root)

        assert threads(service, child, sibling) == [child, root, sibling]
        assert kinds(service, child, sibling) == ["SUBAGENT", "FORK"]

    def test_a_handoff_between_providers_is_no_edge_between_threads(self, service: Client, root: str) -> None:
        service.whole_run(root, "ask", provider="claude")

        assert path(service, root, root) == {"threads": [{"id": root}], "edges": []}


class TestWithMerges:
    def test_a_merge_beside_the_fork_changes_nothing(self, service: Client, root: str) -> None:
        child = fork(service, root)
        service.whole_run(child, "try")
        service.merge_back(child)
        service.whole_run(root, "take it")

        assert kinds(service, root, child) == ["FORK"], "what made a thread comes before what it brought back"

    def test_a_merge_between_siblings_is_a_shorter_way(self, service: Client, root: str) -> None:
        one, other = fork(service, root), fork(service, root)
        service.whole_run(one, "try")
        merge = service.merge_back(one, other)

        found = path(service, other, one)

        assert found is not None
        assert [edge["id"] for edge in found["edges"]] == [merge["id"]]

    def test_the_way_through_the_tree_comes_before_one_as_short(self, service: Client, root: str) -> None:
        one, other, third = (fork(service, root) for _ in range(3))
        service.whole_run(one, "try")
        service.merge_back(one, third)
        service.merge_back(one, other)
        service.whole_run(third, "take it")
        service.whole_run(other, "take it")

        assert threads(service, third, other) == [third, root, other]

    def test_merges_both_ways_end_in_no_circle(self, service: Client, root: str) -> None:
        one, other = fork(service, root), fork(service, root)
        for source, target in ((one, other), (other, one)):
            service.whole_run(source, "try")
            service.merge_back(source, target)
            service.whole_run(target, "take it")
        service.merge_back(other)
        deeper = fork(service, other)

        assert threads(service, one, deeper) == [one, other, deeper]

    def test_a_merge_that_was_called_off_is_no_way(self, service: Client, root: str) -> None:
        one, other = fork(service, root), fork(service, root)
        service.whole_run(one, "try")
        merge = service.merge_back(one, other)

        service.cancel(merge["id"])

        assert threads(service, one, other) == [one, root, other]


class TestWithoutAWay:
    def test_threads_of_different_trees_have_no_way_and_that_is_no_error(self, service: Client, root: str) -> None:
        """As with `mergeBase`: a question that has the answer "none", where a merge of the two would be refused."""
        apart = service.thread()["id"]

        assert path(service, root, apart) is None

    def test_unknown_threads_and_what_is_no_thread(self, service: Client, root: str) -> None:
        for start, end, code in (
            (root, UNKNOWN, "NOT_FOUND"),
            (UNKNOWN, root, "NOT_FOUND"),
            (UNKNOWN, UNKNOWN, "NOT_FOUND"),
            (root, "root", "INVALID_INPUT"),
            (service.run_ids(root)[0], root, "INVALID_INPUT"),
        ):
            with pytest.raises(Refusal) as refused:
                path(service, start, end)
            assert refused.value.code == code
            assert (end if start == root else start) in refused.value.message


@pytest.mark.parametrize("seed", range(3))
def test_any_two_threads_of_a_grown_tree_are_joined_as_networkx_says(
    service: Client, graph: Graph, root: str, seed: int
) -> None:
    chance = random.Random(seed)
    grown = [root]
    for _ in range(30):
        match chance.choice(["fork", "fork", "merge", "merge", "merge", "subagent"]):
            case "fork":
                grown.append(fork(service, chance.choice(grown)))
            case "subagent":
                grown.append(subagent(service, chance.choice(grown)))
            case _ if len(grown) > 1:
                source, target = chance.sample(grown, 2)
                service.whole_run(source, "try")
                # A subagent that was given its task alone shares no history to merge.
                with suppress(Refusal):
                    service.merge_back(source, target)
                if chance.random() < 0.7:
                    service.whole_run(target, "take it")
            case _:
                pass
    net = network(graph, root)
    assert set(net) == set(grown)

    for start, end in [(one, other) for one in grown for other in grown]:
        assert threads(service, start, end) == expected(net, start, end)


def network(graph: Graph, root: str) -> networkx.Graph:
    """The threads of a tree, with whether a thread came from its neighbour."""
    net = networkx.Graph()
    for row in graph.rows("MATCH (t:Thread {rootThreadId: $root}) RETURN t.id AS id, t.generation AS at", root=root):
        net.add_node(row["id"], at=(row["at"], row["id"]))
    edges = """MATCH (a:Thread {rootThreadId: $root})-[e:FORK|MERGE_BACK|SUBAGENT|SUBAGENT_RESULT]->(b:Thread)
    RETURN a.id AS a, b.id AS b, type(e) IN $tree AS tree"""
    for row in graph.rows(edges, root=root, tree=TREE):
        made = net.edges[row["a"], row["b"]]["tree"] if net.has_edge(row["a"], row["b"]) else False
        net.add_edge(row["a"], row["b"], tree=made or row["tree"])
    return net


def expected(net: networkx.Graph, start: str, end: str) -> list[str]:
    """The way through the tree where none is shorter; else the first, thread by thread, by generation and id."""
    tree = net.edge_subgraph([(a, b) for a, b, made in net.edges(data="tree") if made])
    through = networkx.shortest_path(tree, start, end) if start != end else [start]
    if len(through) == networkx.shortest_path_length(net, start, end) + 1:
        return through
    return min(
        networkx.all_shortest_paths(net, start, end), key=lambda way: [net.nodes[thread]["at"] for thread in way]
    )


_THREADS = """
UNWIND range(0, $count) AS i CALL (i) {
CREATE (t:Thread {id: $tag + right('00000' + toString(i), 6), title: 'One of many', status: 'active', createdBy: 'user',
  createdAt: datetime(), updatedAt: datetime(), depth: CASE WHEN $chain THEN i WHEN i = 0 THEN 0 ELSE 1 END,
  generation: CASE WHEN $chain THEN i + 1 WHEN i = 0 THEN 1 ELSE 2 END,
  rootThreadId: $tag + '000000'})
} IN TRANSACTIONS OF 5000 ROWS
"""
_FORKS = """
UNWIND range(1, $count) AS i CALL (i) {
MATCH (a:Thread {id: $tag + right('00000' + toString(CASE WHEN $chain THEN i - 1 ELSE 0 END), 6)})
MATCH (b:Thread {id: $tag + right('00000' + toString(i), 6)})
CREATE (a)-[:FORK {transferId: $tag + 'f' + toString(i), createdAt: datetime()}]->(b)
} IN TRANSACTIONS OF 5000 ROWS
"""
_MERGE = """
MATCH (a:Thread {id: $source})
UNWIND $targets AS target
MATCH (b:Thread {id: target})
CREATE (a)-[:MERGE_BACK {transferId: a.id + b.id, createdAt: datetime()}]->(b)
"""


class Many:
    """A chain of threads, or one with its forks, written straight into the graph."""

    def __init__(self, graph: Graph, mark: str, count: int, *, chain: bool) -> None:
        self.graph = graph
        self.tag = f"thr_{mark * 8}-0000-7000-8000-000000"
        graph.rows(_THREADS, tag=self.tag, count=count, chain=chain)
        graph.rows(_FORKS, tag=self.tag, count=count, chain=chain)

    def __getitem__(self, number: int) -> str:
        return f"{self.tag}{number:06d}"

    def merge(self, source: int, *targets: int) -> None:
        self.graph.rows(_MERGE, source=self[source], targets=[self[target] for target in targets])


class TestInLargeTrees:
    """Without bounds no answer would come: a transaction that takes too long is ended, and refused."""

    def test_the_ends_of_a_long_chain_of_forks(self, service: Client, graph: Graph) -> None:
        chain = Many(graph, "a", 10_000, chain=True)

        assert threads(service, chain[0], chain[10_000]) == [chain[number] for number in range(10_001)]
        chain.merge(9_000, 100)
        assert threads(service, chain[101], chain[8_999]) == [chain[n] for n in (101, 100, 9_000, 8_999)]

    def test_among_many_forks_of_one_thread(self, service: Client, graph: Graph) -> None:
        fan = Many(graph, "b", 20_000, chain=False)

        assert threads(service, fan[17], fan[19_000]) == [fan[17], fan[0], fan[19_000]]
        fan.merge(17, 18)
        fan.merge(18, 19)
        assert threads(service, fan[17], fan[18]) == [fan[17], fan[18]]
        assert threads(service, fan[17], fan[19]) == [fan[17], fan[0], fan[19]]

    def test_among_threads_that_are_all_merged_into_each_other(self, service: Client, graph: Graph) -> None:
        dense = Many(graph, "c", 50, chain=False)
        for source in range(1, 51):
            dense.merge(source, *(target for target in range(1, 51) if target != source))

        assert threads(service, dense[1], dense[50]) == [dense[1], dense[50]]
        assert threads(service, dense[50], dense[0]) == [dense[50], dense[0]]

    def test_where_the_ways_are_more_than_can_be_counted(self, service: Client, graph: Graph) -> None:
        """Two threads on each level of a chain, each merged into both of the next level: 2^199 equally short ways."""
        chain = Many(graph, "d", 401, chain=True)
        for source in range(400):
            level = source // 2
            chain.merge(source, 2 * level + 2, 2 * level + 3)

        assert threads(service, chain[0], chain[401]) == [chain[2 * level] for level in range(200)] + [chain[401]]
