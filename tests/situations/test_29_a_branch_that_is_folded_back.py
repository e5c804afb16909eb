"""29. Folding a branch back repeated the prefix that both have; two clicks folded it twice.

Here it is the branch's own runs since the merge base, each once; of two at the same time one wins, the other gets its
transfer.
"""

from __future__ import annotations

import pytest

from tests.support.client import Client, key
from tests.support.graph import Graph
from tests.support.together import answers, together
from tests.support.words import conversation, fork, run, told, words


@pytest.fixture
def threads(service: Client) -> tuple[str, str]:
    parent = conversation(service, "p1", "p2")
    branch = fork(service, parent)
    for word in ("f1", "f2"):
        run(service, branch, word)
    return parent, branch


def test_the_prefix_is_not_repeated(service: Client, threads: tuple[str, str]) -> None:
    parent, branch = threads
    service.merge_back(branch)

    assert told(run(service, parent, "p3")["plan"]) == ["f1", "f2"]
    assert words(service, parent) == ["p1", "p2", "f1", "f2", "p3"]


@pytest.mark.parametrize("named", [False, True])
def test_clicks_at_the_same_time_fold_it_once(
    service: Client, graph: Graph, threads: tuple[str, str], named: bool
) -> None:
    parent, branch = threads
    name = {"clientMutationId": key()} if named else {}

    made = together(4, lambda _number: service.merge_back(branch, **name))

    assert len(answers(made)) == 4
    assert len({transfer["id"] for transfer in made}) == 1
    assert graph.values("MATCH (:Thread {id: $id})-[e:MERGE_BACK]->() RETURN e.transferId", id=branch) == [
        made[0]["id"]
    ]
    assert told(run(service, parent, "p3")["plan"]) == ["f1", "f2"]
