"""A command that is broken off: in a tree of its own, so that many can be broken off at once and none sees another."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.crash.bench import Bench, fresh_tag
from tests.support.client import Client
from tests.support.commands import Case, Ready
from tests.support.trees import Forest, Tree

PREPARED_AT_ONCE = 4


@dataclass
class Attempt:
    """A command that stands ready to be sent, and how to look at its tree."""

    case: Case
    tag: str
    ready: Ready

    @property
    def key(self) -> str:
        """Its `clientMutationId`, which is also what the proxy knows its transactions by."""
        return f"{self.tag}-key"

    def send(self, client: Client) -> Any:
        return self.case.send(client, self.ready, self.key)

    def tree(self, forest: Forest) -> Tree:
        return forest.tree(self.ready.root, self.tag)

    def lines(self, forest: Forest) -> list[str]:
        """Its tree in words that are the same for every attempt of the case."""
        return self.tree(forest).lines(self.tag)

    def plain(self, forest: Forest, answer: Any) -> Any:
        """Its answer in words that are the same for every attempt of the case."""
        return self.tree(forest).plain(answer, self.tag)


@dataclass
class Undisturbed:
    """What is right for a case: the tree before and after the command, its answer, and its statements."""

    before: list[str]
    after: list[str]
    answer: Any
    statements: list[str]


def prepare(bench: Bench, cases: Sequence[Case]) -> list[Attempt]:
    """An attempt of each of these cases."""

    def one(case: Case) -> Attempt:
        tag = fresh_tag()
        ready = case.prepare(bench.client, tag)
        bench.made.append((ready.root, tag))
        return Attempt(case, tag, ready)

    with ThreadPoolExecutor(PREPARED_AT_ONCE) as pool:
        return list(pool.map(one, cases))


def undisturbed(bench: Bench, cases: Sequence[Case]) -> dict[str, Undisturbed]:
    """What is right for each of these cases, by its name."""
    attempts = prepare(bench, cases)
    before = bench.forest()
    answers = [attempt.send(bench.client) for attempt in attempts]
    after = bench.forest()
    right: dict[str, Undisturbed] = {}
    for attempt, answer in zip(attempts, answers, strict=True):
        (transaction,) = bench.proxy.seen(attempt.key)
        right[attempt.case.name] = Undisturbed(
            attempt.lines(before),
            attempt.lines(after),
            attempt.plain(after, answer),
            transaction.statements,
        )
    return right
