"""28. After going back past a run, what that run had consumed stayed consumed; or writes of the abandoned future were
still used.

Here it waits anew, from the same points, and the old record stays; unless its source was taken back as well.
"""

from __future__ import annotations

import pytest

from tests.support.client import TRANSFER, Client
from tests.support.words import fork, run, told, words


@pytest.fixture
def merged(service: Client) -> tuple[str, str, str]:
    """A thread that took in what its fork did, and went on; the fork; the transfer."""
    parent = service.thread()["id"]
    run(service, parent, "p1")
    attempt = fork(service, parent)
    run(service, attempt, "f1")
    transfer = service.merge_back(attempt)["id"]
    run(service, parent, "p2")
    run(service, parent, "p3")
    return parent, attempt, transfer


def test_it_waits_anew_and_the_old_record_names_the_run_that_was_rolled_back(
    service: Client, merged: tuple[str, str, str]
) -> None:
    parent, _attempt, transfer = merged
    first, second, _third = service.run_ids(parent)

    service.roll_back(parent, first)

    old = service.transfer(transfer)
    assert (old["status"], old["consumedByRun"]["id"]) == ("CONSUMED", second)
    assert service.get_run(second)["status"] == "ROLLED_BACK"
    (anew,) = service.get_thread(parent, f"transfers(status: PENDING, type: MERGE_BACK) {{ {TRANSFER} }}")["transfers"]
    assert anew["sourcePoint"] == old["sourcePoint"]
    assert told(run(service, parent, "p4", "claude")["plan"]) == ["p1", "f1"]


def test_nothing_of_the_abandoned_future_is_used(service: Client, merged: tuple[str, str, str]) -> None:
    parent, _attempt, _transfer = merged

    service.roll_back(parent, service.run_ids(parent)[0])
    run(service, parent, "p4", "claude")

    assert words(service, parent) == ["p1", "f1", "p4"]


def test_what_its_source_took_back_as_well_does_not_wait(service: Client, merged: tuple[str, str, str]) -> None:
    parent, attempt, _transfer = merged
    service.roll_back(attempt, service.run_ids(parent)[0])

    service.roll_back(parent, service.run_ids(parent)[0])

    assert service.get_thread(parent, "transfers(status: PENDING, type: MERGE_BACK) { id }")["transfers"] == []
    assert told(run(service, parent, "p4", "claude")["plan"]) == ["p1"]


def test_going_back_to_the_run_that_took_it_leaves_it_taken(service: Client, merged: tuple[str, str, str]) -> None:
    parent, _attempt, _transfer = merged

    service.roll_back(parent, service.run_ids(parent)[1])

    assert service.get_thread(parent, "transfers(status: PENDING, type: MERGE_BACK) { id }")["transfers"] == []
    assert words(service, parent) == ["p1", "f1", "p2"]
