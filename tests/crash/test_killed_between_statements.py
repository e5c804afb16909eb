"""The service is killed between any two statements of a command: the command happened wholly or not at all.

For each case one command goes undisturbed; it tells how many statements there are, and what is right. Then the same
command runs in as many trees as it has points to die at: each is stopped at its point, and one SIGKILL ends them all.
The next service finds every tree as it was before the command or as it is after it, never between, and the client's
retry with the same `clientMutationId` gives the right answer and leaves the right tree.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.crash.attempts import Attempt, Undisturbed, prepare
from tests.crash.bench import Bench
from tests.support.bolt_proxy import AFTER_COMMIT, BEFORE_COMMIT, Point, before_statement
from tests.support.commands import CASES, Case
from tests.support.trees import consecutive

HELD_AT_ONCE = 80
"""Commands that one SIGKILL ends: fewer than the connections that an HTTP client opens."""


@dataclass
class Killed:
    """What became of an attempt that was stopped at `point` and killed there."""

    attempt: Attempt
    point: Point
    error: BaseException | None = None
    left: list[str] = field(default_factory=list[str])
    answer: Any = None
    retried: list[str] = field(default_factory=list[str])
    sequence: list[int] = field(default_factory=list[int])


@dataclass
class Night:
    """All that were killed, and what is right."""

    right: dict[str, Undisturbed]
    killed: list[Killed]
    stray: list[str]

    def of(self, case: Case) -> tuple[Undisturbed, list[Killed]]:
        return self.right[case.name], [killed for killed in self.killed if killed.attempt.case is case]


@pytest.fixture(scope="module")
def night(bench: Bench, right: dict[str, Undisturbed]) -> Night:
    """Every case at every point, one SIGKILL, and the retries at the next service."""
    where = [(case, point) for case in CASES for point in points_of(right[case.name])]
    attempts = prepare(bench, [case for case, _ in where])
    killed = [Killed(attempt, point) for attempt, (_, point) in zip(attempts, where, strict=True)]

    for start in range(0, len(killed), HELD_AT_ONCE):
        batch = killed[start : start + HELD_AT_ONCE]
        kill_while_all_are_held(bench, batch)
        forest = bench.forest()
        for one in batch:
            one.left = one.attempt.lines(forest)
        bench.take_over()

    answers = [one.attempt.send(bench.client) for one in killed]

    after = bench.forest()
    for one, answer in zip(killed, answers, strict=True):
        one.answer = one.attempt.plain(after, answer)
        one.retried = one.attempt.lines(after)
        one.sequence = [event["seq"] for event in one.attempt.tree(after).nodes("Event")]
    return Night(right, killed, bench.stray())


def points_of(right: Undisturbed) -> list[Point]:
    """Before each statement, before the commit, and after it, before its reply."""
    return [*(before_statement(n) for n in range(1, len(right.statements) + 1)), BEFORE_COMMIT, AFTER_COMMIT]


def kill_while_all_are_held(bench: Bench, killed: list[Killed]) -> None:
    traps = [bench.proxy.hold(one.attempt.key, one.point) for one in killed]
    with ThreadPoolExecutor(len(killed)) as pool:
        calls = [pool.submit(one.attempt.send, bench.client) for one in killed]
        for trap in traps:
            trap.wait()
        bench.kill()
    for one, call in zip(killed, calls, strict=True):
        one.error = call.exception()


@pytest.mark.parametrize("case", CASES, ids=str)
class TestAKilledCommand:
    def test_leaves_its_tree_as_before_it_or_as_after_it(self, night: Night, case: Case) -> None:
        right, killed = night.of(case)

        for one in killed:
            assert isinstance(one.error, httpx.TransportError), f"answered {one.point}"
            assert one.left == (right.after if one.point is AFTER_COMMIT else right.before), f"killed {one.point}"

    def test_sent_again_gives_the_right_answer_and_leaves_the_right_tree(self, night: Night, case: Case) -> None:
        right, killed = night.of(case)

        for one in killed:
            assert one.answer == right.answer, f"killed {one.point}"
            assert one.retried == right.after, f"killed {one.point}"

    def test_makes_one_event_next_in_its_tree_and_one_receipt(self, night: Night, case: Case) -> None:
        right, killed = night.of(case)

        for label in ("Event", "CommandReceipt"):
            before, after = (
                sum(line.startswith(f"{label} ") for line in lines) for lines in (right.before, right.after)
            )
            assert after == before + 1
        for one in killed:
            assert consecutive(one.sequence), f"killed {one.point}"


def count(lines: list[str], label: str) -> int:
    return sum(line.startswith(f"{label} ") for line in lines)


def test_nothing_lies_about_that_belongs_to_no_tree(night: Night) -> None:
    assert night.stray == []


def test_every_mutation_is_here(bench: Bench) -> None:
    fields = bench.client.execute("{ __schema { mutationType { fields { name } } } }")["__schema"]["mutationType"]

    assert {entry["name"] for entry in fields["fields"]} == {case.mutation for case in CASES}
