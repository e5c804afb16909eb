"""25. The reply to a commit was lost; the retry wrote twice, or nothing.

Here the receipt is in the same transaction as the work. After a commit of unknown fate the service itself looks a
second time, finds the receipt or does the work, and the client gets its one right answer. A proxy between the service
and Neo4j loses the commit on its way there, or the reply on its way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.crash.attempts import Attempt, Undisturbed, prepare
from tests.crash.bench import Bench
from tests.support.bolt_proxy import AFTER_COMMIT, BEFORE_COMMIT, Point, Trap, before_statement
from tests.support.commands import CASES, Case
from tests.support.together import together


@pytest.fixture(scope="module")
def longest(right: dict[str, Undisturbed]) -> list[Case]:
    """Of each mutation, the case with the most statements."""
    by_length = sorted(CASES, key=lambda case: len(right[case.name].statements))
    return list({case.mutation: case for case in by_length}.values())


def send_all(bench: Bench, attempts: Sequence[Attempt]) -> list[Any]:
    """The answer, or the refusal, of each of them; all are sent at once."""
    return together(len(attempts), lambda number: attempts[number].send(bench.client))


def assert_right(
    bench: Bench, attempts: Sequence[Attempt], answers: Sequence[Any], right: dict[str, Undisturbed]
) -> None:
    """Every client has its right answer, and every tree is as one undisturbed command leaves it."""
    forest = bench.forest()
    for attempt, answer in zip(attempts, answers, strict=True):
        assert attempt.plain(forest, answer) == right[attempt.case.name].answer, attempt.case
        assert attempt.lines(forest) == right[attempt.case.name].after, attempt.case


def assert_unavailable(answers: Sequence[Any]) -> None:
    assert {(answer.code, answer.retryable) for answer in answers} == {("STORAGE_UNAVAILABLE", True)}


def lose(bench: Bench, attempts: Sequence[Attempt], *points: Point) -> list[Trap]:
    return [bench.proxy.trap(attempt.key, point) for attempt in attempts for point in points]


@pytest.mark.parametrize("point", [BEFORE_COMMIT, AFTER_COMMIT], ids=str)
def test_a_loss_around_a_commit_is_made_up_for_by_a_second_look(
    bench: Bench, right: dict[str, Undisturbed], point: Point
) -> None:
    attempts = prepare(bench, CASES)
    traps = lose(bench, attempts, point)

    answers = send_all(bench, attempts)

    assert all(trap.sprung.is_set() for trap in traps)
    assert_right(bench, attempts, answers, right)
    assert {len(bench.proxy.seen(attempt.key)) for attempt in attempts} == {2}


@pytest.mark.parametrize(
    "points",
    [(BEFORE_COMMIT, BEFORE_COMMIT), (BEFORE_COMMIT, AFTER_COMMIT), (AFTER_COMMIT, AFTER_COMMIT)],
    ids=["before and before", "before and after", "after and after"],
)
def test_a_loss_twice_in_a_row_is_made_up_for_by_a_third_look(
    bench: Bench, right: dict[str, Undisturbed], longest: list[Case], points: tuple[Point, Point]
) -> None:
    attempts = prepare(bench, longest)
    traps = lose(bench, attempts, *points)

    answers = send_all(bench, attempts)

    assert all(trap.sprung.is_set() for trap in traps)
    assert_right(bench, attempts, answers, right)
    assert {len(bench.proxy.seen(attempt.key)) for attempt in attempts} == {3}


@pytest.mark.parametrize("point", [BEFORE_COMMIT, AFTER_COMMIT], ids=str)
def test_a_loss_each_time_is_told_as_unknown_and_the_clients_retry_ends_right(
    bench: Bench, right: dict[str, Undisturbed], longest: list[Case], point: Point
) -> None:
    attempts = prepare(bench, longest)
    lose(bench, attempts, point, point, point)

    refused = send_all(bench, attempts)

    assert_unavailable(refused)
    assert all("same clientMutationId" in refusal.message for refusal in refused)
    assert_right(bench, attempts, send_all(bench, attempts), right)


@pytest.mark.parametrize("point", [BEFORE_COMMIT, AFTER_COMMIT], ids=str)
def test_where_neo4j_stays_away_after_a_loss_the_clients_retry_ends_right(
    bench: Bench, right: dict[str, Undisturbed], longest: list[Case], point: Point
) -> None:
    attempts = prepare(bench, longest)
    traps = [bench.proxy.hold(attempt.key, point) for attempt in attempts]

    def send(number: int) -> Any:
        if number < len(attempts):
            return attempts[number].send(bench.client)
        for trap in traps:
            trap.wait()
        return bench.proxy.refuse()

    *refused, _ = together(len(attempts) + 1, send)

    assert_unavailable(refused)
    bench.proxy.let_in()
    assert_right(bench, attempts, send_all(bench, attempts), right)


def test_a_command_without_a_client_mutation_id_is_looked_at_again_just_the_same(
    bench: Bench, right: dict[str, Undisturbed]
) -> None:
    for point in (BEFORE_COMMIT, AFTER_COMMIT):
        (attempt,) = prepare(bench, [case for case in CASES if case.name == "forkThread"])
        trap = bench.proxy.trap("forkThread", point)

        answer = attempt.case.send(bench.client, attempt.ready, None)

        assert trap.sprung.is_set()
        forest = bench.forest()
        assert attempt.plain(forest, answer) == right["forkThread"].answer
        assert len(attempt.lines(forest)) == len(right["forkThread"].after)


def test_a_connection_lost_between_two_statements_begins_the_command_anew(
    bench: Bench, right: dict[str, Undisturbed], longest: list[Case]
) -> None:
    # Before the first of its own statements, and when all is done but the receipt.
    where = [(case, number) for case in longest for number in (2, len(right[case.name].statements))]
    attempts = prepare(bench, [case for case, _ in where])
    for attempt, (_, number) in zip(attempts, where, strict=True):
        lose(bench, [attempt], before_statement(number))

    assert_right(bench, attempts, send_all(bench, attempts), right)


def test_nothing_lies_about_that_belongs_to_no_tree(bench: Bench) -> None:
    assert bench.stray() == []
