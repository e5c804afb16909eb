"""25. The reply to a commit was lost; the retry wrote twice, or nothing.

Here the receipt is in the same transaction as the work. After a commit of unknown fate the service itself looks a
second time, finds the receipt or does the work, and the client gets its one right answer. A proxy between the service
and Neo4j loses the commit on its way there, or the reply on its way back.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plait.localdb import Endpoint
from tests.crash.attempts import Attempt, Undisturbed, prepare, undisturbed
from tests.crash.bench import Bench, opened_bench
from tests.support.bolt_proxy import AFTER_COMMIT, BEFORE_COMMIT, Point, before_statement
from tests.support.client import Refusal
from tests.support.commands import CASES, Case
from tests.support.together import together
from tests.support.trees import Forest

LOST = {
    "the commit": (BEFORE_COMMIT,),
    "the reply": (AFTER_COMMIT,),
    "the commit twice": (BEFORE_COMMIT, BEFORE_COMMIT),
    "the commit, then the reply": (BEFORE_COMMIT, AFTER_COMMIT),
    "the reply, then the reply to the second look": (AFTER_COMMIT, AFTER_COMMIT),
}
TOO_OFTEN = {
    "the commit each time": (BEFORE_COMMIT,) * 3,
    "the reply each time": (AFTER_COMMIT,) * 3,
}


@pytest.fixture(scope="module")
def bench(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened_bench(neo4j_endpoint, tmp_path_factory.mktemp("bench")) as made:
        yield made


@pytest.fixture(scope="module")
def right(bench: Bench) -> dict[str, Undisturbed]:
    """What each case must come to, however its commit fares."""
    bench.empty()
    return undisturbed(bench, CASES)


def assert_right(attempt: Attempt, forest: Forest, answer: object, right: dict[str, Undisturbed]) -> None:
    assert attempt.plain(forest, answer) == right[attempt.case.name].answer
    assert attempt.lines(forest) == right[attempt.case.name].after


@pytest.mark.parametrize("points", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_lost_around_a_commit_is_made_up_for_by_a_second_look(
    bench: Bench, right: dict[str, Undisturbed], case: Case, points: tuple[Point, ...]
) -> None:
    (attempt,) = prepare(bench, [case])
    traps = [bench.proxy.trap(attempt.key, point) for point in points]

    answer = attempt.send(bench)

    assert all(trap.sprung.is_set() for trap in traps)
    assert_right(attempt, bench.forest(), answer, right)
    assert len(bench.proxy.seen(attempt.key)) == len(points) + 1


@pytest.mark.parametrize("points", TOO_OFTEN.values(), ids=TOO_OFTEN.keys())
def test_a_commit_lost_too_often_is_told_as_unknown_and_the_clients_retry_ends_right(
    bench: Bench, right: dict[str, Undisturbed], points: tuple[Point, ...]
) -> None:
    attempts = prepare(bench, CASES)
    for attempt in attempts:
        for point in points:
            bench.proxy.trap(attempt.key, point)

    for attempt in attempts:
        with pytest.raises(Refusal, match="same clientMutationId") as refused:
            attempt.send(bench)
        assert (refused.value.code, refused.value.retryable) == ("STORAGE_UNAVAILABLE", True)

    answers = [attempt.send(bench) for attempt in attempts]
    forest = bench.forest()
    for attempt, answer in zip(attempts, answers, strict=True):
        assert_right(attempt, forest, answer, right)


@pytest.mark.parametrize("point", [BEFORE_COMMIT, AFTER_COMMIT], ids=str)
def test_where_neo4j_stays_away_after_a_lost_commit_the_clients_retry_ends_right(
    bench: Bench, right: dict[str, Undisturbed], point: Point
) -> None:
    attempts = prepare(bench, CASES)
    traps = [bench.proxy.hold(attempt.key, point) for attempt in attempts]

    def send(number: int) -> object:
        if number < len(attempts):
            return attempts[number].send(bench)
        for trap in traps:
            trap.wait()
        return bench.proxy.refuse()

    *refused, _ = together(len(attempts) + 1, send)

    assert [(met.code, met.retryable) for met in refused] == [("STORAGE_UNAVAILABLE", True)] * len(attempts)

    bench.proxy.let_in()
    answers = [attempt.send(bench) for attempt in attempts]
    forest = bench.forest()
    for attempt, answer in zip(attempts, answers, strict=True):
        assert_right(attempt, forest, answer, right)


def test_a_command_without_a_client_mutation_id_is_looked_at_again_just_the_same(
    bench: Bench, right: dict[str, Undisturbed]
) -> None:
    for point in (BEFORE_COMMIT, AFTER_COMMIT):
        (attempt,) = prepare(bench, [case for case in CASES if case.name == "forkThread"])
        bench.proxy.trap("forkThread", point)

        answer = attempt.case.send(bench.client, attempt.ready, None)

        forest = bench.forest()
        assert attempt.plain(forest, answer) == right["forkThread"].answer
        assert len(attempt.lines(forest)) == len(right["forkThread"].after)


def test_a_connection_lost_between_two_statements_begins_the_command_anew(
    bench: Bench, right: dict[str, Undisturbed]
) -> None:
    where = [(case, n) for case in CASES for n in range(1, len(right[case.name].statements) + 1)]
    attempts = prepare(bench, [case for case, _ in where])
    traps = [
        bench.proxy.trap(attempt.key, before_statement(number))
        for attempt, (_, number) in zip(attempts, where, strict=True)
    ]

    answers = together(len(attempts), lambda number: attempts[number].send(bench))

    assert all(trap.sprung.is_set() for trap in traps)
    forest = bench.forest()
    for attempt, answer in zip(attempts, answers, strict=True):
        assert_right(attempt, forest, answer, right)


def test_nothing_lies_about_that_belongs_to_no_tree(bench: Bench) -> None:
    assert bench.stray() == []
