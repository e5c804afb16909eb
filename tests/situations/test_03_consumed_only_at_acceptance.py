"""3. Fork, switch the model before the first reply, and the context was gone.

Here `consumed` is written only when the provider has accepted the turn; every failure before leaves the transfer
usable, on any provider.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client
from tests.support.graph import Graph


@pytest.fixture
def forked(service: Client) -> dict[str, Any]:
    """A fork of a thread with one Codex run; nobody has used it yet."""
    source = service.thread(title="source")["id"]
    run = service.whole_run(source, "what we talked about", "all of it")
    return service.fork(source) | {"source": run}


def unused(transfer: dict[str, Any]) -> bool:
    return (transfer["status"], transfer["consumedAt"], transfer["consumedByRun"]) == ("PENDING", None, None)


def test_a_start_that_no_provider_accepted_yet_has_consumed_nothing(service: Client, forked: dict[str, Any]) -> None:
    service.start(forked["thread"]["id"], "first", "codex")

    assert unused(service.transfer(forked["transfer"]["id"]))


def test_the_model_is_switched_before_the_first_reply_and_the_context_is_all_there(
    service: Client, forked: dict[str, Any]
) -> None:
    fork = forked["thread"]["id"]
    first = service.start(fork, "first", "codex")
    service.end("interruptRun", first["run"]["id"], reason="the user chose another model")

    second = service.running(fork, "first", "claude")

    assert second["plan"]["outcome"] == "PORTABLE"
    assert "what we talked about" in second["plan"]["injected"]
    assert "all of it" in second["plan"]["injected"]
    transfer = service.transfer(forked["transfer"]["id"])
    assert transfer["status"] == "CONSUMED"
    assert transfer["consumedByRun"]["id"] == second["run"]["id"]


@pytest.mark.parametrize("how", ["failRun", "interruptRun"])
def test_a_start_that_ends_before_acceptance_leaves_its_handoff_for_the_next(
    service: Client, graph: Graph, forked: dict[str, Any], how: str
) -> None:
    fork = forked["thread"]["id"]
    first = service.start(fork, "first", "claude")
    service.end(how, first["run"]["id"])

    transfer = service.transfer(forked["transfer"]["id"])
    assert (transfer["status"], transfer["consumedAt"]) == ("RESOLVED_PORTABLE", None)
    with graph.growth() as written:
        second = service.start(fork, "again", "claude")
    assert "ContextHandoff" not in written
    assert "ContextTransfer" not in written
    assert second["plan"]["handoffs"] == first["plan"]["handoffs"]
    assert second["plan"]["injected"] == first["plan"]["injected"]


def test_a_failure_the_provider_reports_leaves_the_transfer_usable_on_any_provider(
    service: Client, forked: dict[str, Any]
) -> None:
    fork = forked["thread"]["id"]
    for provider in ("claude", "opencode", "acp", "claude"):
        start = service.start(fork, "first", provider)
        assert "what we talked about" in start["plan"]["injected"]
        failed = service.started(start["run"]["id"], failure={"code": "DOWN", "message": "It does not answer."})
        assert failed["run"]["status"] == "FAILED"
        assert failed["plan"] is None

    natively = service.running(fork, "first", "codex")

    assert natively["plan"]["outcome"] == "NATIVE"
    assert natively["plan"]["nativeFork"]["lastTurnId"] == forked["source"]["nativeTurnId"]
    (carried,) = natively["plan"]["transfers"]
    assert carried["status"] == "CONSUMED"
    assert service.transfer(carried["id"])["sourcePoint"] == forked["transfer"]["sourcePoint"]


def test_the_runs_that_never_reached_a_provider_are_in_no_history(service: Client, forked: dict[str, Any]) -> None:
    fork = forked["thread"]["id"]
    failed = service.start(fork, "never arrived", "claude")
    service.end("failRun", failed["run"]["id"])

    service.whole_run(fork, "arrived", "answer", "claude")

    assert service.texts(fork) == ["what we talked about", "all of it", "arrived", "answer"]


def test_consumed_is_written_once_and_names_the_run(service: Client, graph: Graph, forked: dict[str, Any]) -> None:
    fork, transfer = forked["thread"]["id"], forked["transfer"]["id"]
    first = service.whole_run(fork, "first", provider="codex")
    consumed = service.transfer(transfer)

    service.whole_run(fork, "second", provider="codex")
    service.whole_run(fork, "third", provider="claude")

    assert service.transfer(transfer) == consumed
    runs = graph.values(
        "MATCH (:ContextTransfer {id: $id})-[:CONSUMED_BY]->(r:Run) RETURN r.id",
        id=transfer,
    )
    assert runs == [first["run"]["id"]]
