"""The service is killed between any two statements of a command: the command happened wholly or not at all.

For each case one command goes undisturbed; it tells how many statements there are, and what is right. Then the same
command runs in as many trees as it has points to die at: each is stopped at its point, and one SIGKILL ends them all.
The next service finds every tree as it was before the command or as it is after it, never between, and the client's
retry with the same `clientMutationId` gives the right answer and leaves the right tree.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.crash.conftest import Bench, fresh_tag
from tests.support.bolt_proxy import AFTER_COMMIT, BEFORE_COMMIT, Point, Trap, before_statement
from tests.support.commands import CASES, Case, Ready
from tests.support.trees import Forest, Tree, consecutive


@dataclass
class Attempt:
    """A command in a tree of its own."""

    case: Case
    tag: str
    ready: Ready

    @property
    def key(self) -> str:
        return f"{self.tag}-key"

    def tree(self, forest: Forest) -> Tree:
        return forest.tree(self.ready.root, self.key)

    def lines(self, forest: Forest) -> list[str]:
        """The attempt's tree in words that are the same for every attempt."""
        return self.tree(forest).lines(self.tag)

    def answer(self, forest: Forest, answer: Any) -> Any:
        return self.tree(forest).plain(answer, self.tag)


def prepare(bench: Bench, case: Case) -> Attempt:
    tag = fresh_tag()
    return Attempt(case, tag, case.prepare(bench.client, tag))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_killed_service_leaves_the_command_done_or_not_begun_and_the_retry_ends_right(
    bench: Bench, case: Case
) -> None:
    bench.empty()

    undisturbed = prepare(bench, case)
    before = undisturbed.lines(bench.forest())
    answer = case.send(bench.client, undisturbed.ready, undisturbed.key)
    forest = bench.forest()
    after, right = undisturbed.lines(forest), undisturbed.answer(forest, answer)
    (transaction,) = bench.proxy.seen(undisturbed.key)
    assert_one_event_and_one_receipt_more(before, after)

    points = [before_statement(number) for number in range(1, len(transaction.statements) + 1)]
    points += [BEFORE_COMMIT, AFTER_COMMIT]
    attempts = {point: prepare(bench, case) for point in points}
    traps = {point: bench.proxy.hold(attempt.key, point) for point, attempt in attempts.items()}
    kill_while_all_are_held(bench, attempts, traps)

    forest = bench.forest()
    for point, attempt in attempts.items():
        assert attempt.lines(forest) == (after if point is AFTER_COMMIT else before), f"killed {point}"
    assert len(forest.trees) == number_of_trees(undisturbed, [*attempts.values()], forest)

    bench.take_over()
    answers = {point: case.send(bench.client, attempt.ready, attempt.key) for point, attempt in attempts.items()}

    forest = bench.forest()
    for point, attempt in attempts.items():
        assert attempt.answer(forest, answers[point]) == right, f"killed {point}"
        assert attempt.lines(forest) == after, f"killed {point}"
        assert consecutive(event["seq"] for event in attempt.tree(forest).nodes("Event")), f"killed {point}"
    assert len(forest.trees) == 1 + len(attempts)


def kill_while_all_are_held(bench: Bench, attempts: dict[Point, Attempt], traps: dict[Point, Trap]) -> None:
    with ThreadPoolExecutor(len(attempts)) as pool:
        calls: dict[Point, Future[Any]] = {
            point: pool.submit(attempt.case.send, bench.client, attempt.ready, attempt.key)
            for point, attempt in attempts.items()
        }
        for trap in traps.values():
            trap.wait()
        assert not [point for point, call in calls.items() if call.done()]
        bench.kill()
    for call in calls.values():
        assert isinstance(call.exception(), httpx.TransportError)


def assert_one_event_and_one_receipt_more(before: list[str], after: list[str]) -> None:
    for label in ("Event", "CommandReceipt"):
        counts = [sum(line.startswith(f"{label} ") and " -" not in line for line in lines) for lines in (before, after)]
        assert counts[1] == counts[0] + 1, label


def number_of_trees(undisturbed: Attempt, attempts: list[Attempt], forest: Forest) -> int:
    """How many trees there must be and no more: nothing lies about that belongs to none."""
    return sum(1 for attempt in [undisturbed, *attempts] if attempt.lines(forest))
