"""44. The same edge reported by two sources counted twice.

Here an edge has a key; writing it again changes nothing.
"""

from __future__ import annotations

import neo4j.exceptions
import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph
from tests.support.together import answers, together


def test_a_fork_told_twice_is_one_edge_in_the_graph_and_in_the_lineage(service: Client, graph: Graph) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "one")
    name = key()

    forks = answers(together(4, lambda _: service.fork(source, clientMutationId=name)))

    (transfer,) = {fork["transfer"]["id"] for fork in forks}
    assert graph.values("MATCH (:Thread {id: $id})-[e:FORK]->() RETURN e.transferId", id=source) == [transfer]
    assert [edge["id"] for edge in service.lineage(source)["edges"]] == [transfer]


def test_a_fork_told_again_under_its_own_id_changes_nothing(service: Client, graph: Graph) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "one")
    fork = service.fork(source)["thread"]["id"]

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.fork(source, id=fork)

    assert refused.value.code == "ID_TAKEN"
    assert written == {}


def test_an_acceptance_told_twice_is_one_handoff_edge_and_one_coverage(service: Client, graph: Graph) -> None:
    thread = service.thread()["id"]
    before = service.whole_run(thread, "one", provider="codex")["run"]["id"]
    after = service.start(thread, "two", "claude")["run"]["id"]
    native = f"native-{key()}"

    made = together(4, lambda _: service.started(after, nativeThreadId=native, nativeTurnId="t"))
    for _ in range(2):
        with pytest.raises(Refusal) as refused:
            service.started(after, nativeThreadId=native, nativeTurnId="t")
        assert refused.value.code == "RUN_ALREADY_STARTED"

    assert len(answers(made)) == 1
    edges = """
        MATCH (r:Run {id: $after})
        RETURN COUNT { (:Run {id: $before})-[:HANDOFF]->(r) } AS handoffs,
               COUNT { (:ContextTransfer)-[:CONSUMED_BY]->(r) } AS consumed,
               COUNT { (:ProviderThread)-[:COVERS]->(r) } AS covered,
               COUNT { (:Run)-[:NEXT_RUN]->(r) } AS next
    """
    assert graph.rows(edges, before=before, after=after) == [{"handoffs": 1, "consumed": 1, "covered": 1, "next": 1}]


@pytest.mark.parametrize("kind", ["FORK", "HANDOFF"])
def test_the_graph_itself_refuses_a_second_edge_of_the_same_transfer(graph: Graph, kind: str) -> None:
    """Two services that both wrote it would still leave one edge."""
    create = f"CREATE (:Probe)-[:{kind} {{transferId: $id}}]->(:Probe)"

    with pytest.raises(neo4j.exceptions.ConstraintError):
        graph.rows(f"{create} {create}", id=f"trf_{key()}")

    assert graph.value("MATCH (p:Probe) RETURN count(p)") == 0


def test_every_edge_of_a_lineage_comes_once_over_all_pages(service: Client) -> None:
    root = service.thread()["id"]
    service.whole_run(root, "one")
    forks = [service.fork(root)["thread"]["id"] for _ in range(5)]
    forks += [service.fork(fork)["thread"]["id"] for fork in forks]

    edges, after, more = [], None, True
    while more:
        page = service.lineage(root, first=2, after=after)
        edges += [edge["id"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]

    assert len(edges) == len(set(edges)) == len(forks)
