"""14. A rewind failed halfway; a retry of "go back N turns" went back 2N.

Here a rollback names a run, and a retry under the same name is given the first answer.
"""

from __future__ import annotations

from typing import Any

from tests.support.client import Client, key


def talk(service: Client) -> tuple[str, list[str]]:
    thread = service.thread()["id"]
    return thread, [service.whole_run(thread, f"ask {n}", f"answer {n}")["run"]["id"] for n in (1, 2, 3)]


def test_tried_again_under_its_name_it_is_the_first_answer(service: Client) -> None:
    thread, runs = talk(service)
    name = key()

    answers: list[Any] = [service.roll_back(thread, runs[1], clientMutationId=name) for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]
    assert service.texts(thread) == ["ask 1", "answer 1", "ask 2", "answer 2"]


def test_tried_again_without_a_name_it_goes_no_further_back(service: Client) -> None:
    thread, runs = talk(service)

    answers = [service.roll_back(thread, runs[1])["rolledBackRuns"] for _ in range(3)]

    assert answers == [1, 0, 0]
    assert service.texts(thread) == ["ask 1", "answer 1", "ask 2", "answer 2"]


def test_it_does_not_undo_what_came_after_the_first(service: Client) -> None:
    thread, runs = talk(service)
    name = key()
    service.roll_back(thread, runs[1], clientMutationId=name)
    service.whole_run(thread, "ask 4", "answer 4")

    service.roll_back(thread, runs[1], clientMutationId=name)

    assert service.texts(thread) == ["ask 1", "answer 1", "ask 2", "answer 2", "ask 4", "answer 4"]
