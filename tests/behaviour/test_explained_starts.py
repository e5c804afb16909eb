"""`explainStart` says what a start would do, with the records that are there for it, and writes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph


@pytest.fixture
def fork(service: Client) -> dict[str, Any]:
    """An unused fork of a thread with one run on Codex."""
    source = service.thread()["id"]
    service.whole_run(source, "Find the bug", "It is in the parser")
    return service.fork(source)


def decision(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan without the records that it made."""
    return {name: value for name, value in plan.items() if name not in ("transfers", "handoffs", "injected")}


def ids(records: list[dict[str, Any]]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.parametrize("provider", ["codex", "claude"])
@pytest.mark.parametrize("strategy", [None, "PORTABLE_CONTEXT"])
def test_it_is_the_plan_of_the_start_that_follows(
    service: Client, graph: Graph, fork: dict[str, Any], provider: str, strategy: str | None
) -> None:
    thread = fork["thread"]["id"]

    with graph.growth() as written:
        explained = service.explain(thread, provider, strategy)
    started = service.start(thread, "Go on", provider, **({"strategy": strategy} if strategy else {}))["plan"]

    assert written == {}
    assert decision(explained) == decision(started)
    assert ids(explained["transfers"]) == ids(started["transfers"]) == [fork["transfer"]["id"]]


def test_a_strategy_that_leaves_no_way_is_told_without_failing_the_transfer(
    service: Client, fork: dict[str, Any]
) -> None:
    explained = service.explain(fork["thread"]["id"], "claude", "NATIVE_FORK")

    assert explained["outcome"] == "UNSUPPORTED"
    assert explained["transfers"] == []
    assert service.transfer(fork["transfer"]["id"])["status"] == "PENDING"


def test_a_handoff_that_is_built_is_shown(service: Client, fork: dict[str, Any]) -> None:
    thread = fork["thread"]["id"]
    started = service.start(thread, "Go on", "claude")
    service.end("interruptRun", started["run"]["id"])

    explained = service.explain(thread, "claude")

    assert ids(explained["handoffs"]) == ids(started["plan"]["handoffs"])
    assert explained["injected"] == started["plan"]["injected"]


def test_a_transfer_that_failed_is_not_among_those_it_would_use(service: Client, fork: dict[str, Any]) -> None:
    thread = fork["thread"]["id"]
    with pytest.raises(Refusal, match="UNSUPPORTED_TRANSFER"):
        service.start(thread, "Go on", "claude", strategy="NATIVE_FORK")

    explained = service.explain(thread, "claude")

    assert explained["outcome"] == "PORTABLE"
    assert explained["transfers"] == []


def test_a_way_that_is_not_there_costs_nothing_that_can_be_told(service: Client, fork: dict[str, Any]) -> None:
    candidates = {each["outcome"]: each for each in service.explain(fork["thread"]["id"], "claude")["candidates"]}

    assert candidates["NATIVE"]["costTokens"] is None
    assert candidates["PORTABLE"]["costTokens"] > 0


@pytest.mark.parametrize("strategy", ["NATIVE_FORK", "CHECKPOINT_CONTEXT"])
def test_a_strategy_that_leaves_no_way_while_a_merge_waits(
    service: Client, fork: dict[str, Any], strategy: str
) -> None:
    service.whole_run(fork["thread"]["id"], "Try it", "Tried")
    merge = service.merge_back(fork["thread"]["id"])

    explained = service.explain(merge["targetThread"]["id"], "acp", strategy)

    assert (explained["outcome"], explained["transfers"]) == ("UNSUPPORTED", [])
    assert service.transfer(merge["id"])["status"] == "PENDING"


def test_a_forced_strategy_is_the_reason_and_each_reason_is_said_once(service: Client, fork: dict[str, Any]) -> None:
    thread = fork["thread"]["id"]

    assert service.explain(thread, "codex", "PORTABLE_CONTEXT")["reason"] == "The caller asked for PORTABLE_CONTEXT."
    assert service.explain(thread, "codex", "CHECKPOINT_CONTEXT")["reason"] == (
        "The caller asked for CHECKPOINT_CONTEXT."
    )


def test_where_there_is_nothing_to_carry_any_strategy_will_do(service: Client) -> None:
    explained = service.explain(service.thread()["id"], "codex", "NATIVE_FORK")

    assert explained["outcome"] == "NONE"
    assert "no history yet" in explained["reason"]
