"""12. A child died and its record said "running" for ten hours; a host died and the parent was never told.

Here leases end such a run, and its result says UNKNOWN, which is not guessed; the parent gets it exactly once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from plait.localdb import Endpoint
from tests.conftest import StartPlait
from tests.support.client import Client

PATIENCE_SECONDS = 60


@pytest.fixture
def impatient(service: Client, neo4j_endpoint: Endpoint, plait_process: StartPlait) -> Iterator[Client]:
    """A service whose runs must be heard of every two seconds. The shared one, on the same graph, sweeps as well."""
    settings = {"PLAIT_LEASE_SECONDS": "2", "PLAIT_LEASE_SWEEP_SECONDS": "0.1"}
    with closing(Client(plait_process(neo4j_endpoint, env=settings).wait_ready())) as client:
        yield client


def test_the_parent_is_told_once_that_nobody_knows(service: Client, impatient: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug")["run"]["id"]
    child = impatient.spawned(spawner)["run"]["id"]
    impatient.append(child, {"kind": "ASSISTANT_MESSAGE", "text": "I look"})

    _until_ended(service, child)

    (result,) = service.results(thread)
    assert (result["status"], result["result"]["status"]) == ("PENDING", "UNKNOWN")
    assert "lease ran out" in result["result"]["text"]
    service.complete(spawner)
    started = service.start(thread, "Go on")
    assert started["plan"]["injected"].count("result: unknown") == 1
    native = started["plan"]["resume"]["nativeThreadId"]
    service.started(started["run"]["id"], nativeThreadId=native, nativeTurnId="2")
    service.complete(started["run"]["id"])
    assert service.explain(thread, "codex")["transfers"] == []


def test_a_result_that_comes_after_all_is_kept_and_changes_nothing(service: Client, impatient: Client) -> None:
    thread = service.thread()["id"]
    spawner = service.running(thread, "Find the bug")["run"]["id"]
    child = impatient.spawned(spawner)["run"]["id"]
    _until_ended(service, child)

    answer = service.complete_subagent(child, "It is in line 7")

    assert answer["transfer"]["result"]["status"] == "UNKNOWN"
    assert answer["transfer"]["consumedByRun"] == {"id": spawner}
    assert len(service.results(thread)) == 1


def _until_ended(service: Client, run: str) -> None:
    limit = time.monotonic() + PATIENCE_SECONDS
    while service.get_run(run)["status"] != "INTERRUPTED":
        assert time.monotonic() < limit, f"run {run} is still active"
        time.sleep(0.1)
