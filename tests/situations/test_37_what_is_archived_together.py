"""37. Archive or delete of a parent left running children, or took user forks with it.

Here subagents are archived with it, to any depth, and user forks stay; all or nothing; the answer counts.
"""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph
from tests.support.subagents import subagent


class Family:
    """A thread with subagents two deep, a fork of its own, one of a subagent, and one with a subagent."""

    def __init__(self, service: Client, graph: Graph) -> None:
        self.service = service
        self.thread = service.thread(title="The parent")["id"]
        service.whole_run(self.thread, "Find the bug", "It is in the parser")
        self.children = [subagent(service, self.thread) for _ in range(2)]
        self.grandchild = subagent(service, self.children[0])
        self.fork = service.fork(self.thread)["thread"]["id"]
        self.fork_of_child = service.fork(self.children[1])["thread"]["id"]
        self.child_of_fork = subagent(service, self.fork)

    @property
    def below(self) -> list[str]:
        return [*self.children, self.grandchild]

    @property
    def forks(self) -> list[str]:
        return [self.fork, self.fork_of_child, self.child_of_fork]

    def statuses(self, threads: list[str]) -> set[str]:
        return {self.service.get_thread(thread)["status"] for thread in threads}


@pytest.fixture
def family(service: Client, graph: Graph) -> Family:
    return Family(service, graph)


def test_subagents_go_with_it_to_any_depth_and_forks_stay(service: Client, family: Family) -> None:
    answer = service.archive(family.thread)

    assert answer["archivedThreads"] == 4
    assert family.statuses([family.thread, *family.below]) == {"ARCHIVED"}
    assert family.statuses(family.forks) == {"ACTIVE"}


def test_a_fork_that_stayed_works(service: Client, family: Family) -> None:
    service.archive(family.thread)

    for fork in (family.fork, family.fork_of_child):
        service.whole_run(fork, "Go on", "Gone on")
        assert service.texts(fork)[-2:] == ["Go on", "Gone on"]


def test_a_subagent_is_archived_without_what_stands_above_it(service: Client, family: Family) -> None:
    assert service.archive(family.children[0])["archivedThreads"] == 2

    assert family.statuses([family.children[0], family.grandchild]) == {"ARCHIVED"}
    assert family.statuses([family.thread, family.children[1]]) == {"ACTIVE"}


def test_one_that_was_archived_before_is_not_counted_again(service: Client, family: Family) -> None:
    service.archive(family.children[0])

    assert service.archive(family.thread)["archivedThreads"] == 2
    assert service.archive(family.thread)["archivedThreads"] == 0


def test_nothing_is_archived_while_a_subagent_works(service: Client, family: Family) -> None:
    run = service.running(family.grandchild, "Look further")["run"]["id"]

    with pytest.raises(Refusal, match=run) as refused:
        service.archive(family.thread)

    assert (refused.value.code, refused.value.retryable) == ("THREAD_BUSY", True)
    assert family.statuses([family.thread, *family.below]) == {"ACTIVE"}
    service.complete(run)
    assert service.archive(family.thread)["archivedThreads"] == 4


def test_a_fork_that_works_is_no_hindrance(service: Client, family: Family) -> None:
    run = service.running(family.fork, "Go on")["run"]["id"]

    assert service.archive(family.thread)["archivedThreads"] == 4
    assert service.complete(run)["run"]["status"] == "COMPLETED"
