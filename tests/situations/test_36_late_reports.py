"""36. Events of an old session arrived after the thread had gone on elsewhere and ended the new run.

Here a report carries its run; from a run that has ended it is refused, and kept for audit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph

Report = Callable[[Client, str], Any]

REPORTS: dict[str, Report] = {
    "completeRun": lambda service, run: service.complete(run),
    "failRun": lambda service, run: service.end("failRun", run, reason="the old session died"),
    "interruptRun": lambda service, run: service.end("interruptRun", run),
    "heartbeatRun": lambda service, run: service.end("heartbeatRun", run),
    "appendTurnItems": lambda service, run: service.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "too late"}),
    "reportRunStarted": lambda service, run: service.started(run, nativeThreadId="n", nativeTurnId="t"),
    "reportRunStarted with a failure": lambda service, run: service.started(
        run, failure={"code": "LATE", "message": "It could not start."}
    ),
}
EVERY_REPORT = pytest.mark.parametrize("report", REPORTS)
WITH_WORDS = pytest.mark.parametrize("report", [report for report in REPORTS if report != "heartbeatRun"])


@pytest.fixture(params=["completeRun", "failRun", "interruptRun"])
def gone_on(service: Client, request: pytest.FixtureRequest) -> dict[str, str]:
    """A thread whose first run has ended, and which works on another one, elsewhere."""
    thread = service.thread()["id"]
    old = service.running(thread, "old", "codex")["run"]["id"]
    service.append(old, {"kind": "ASSISTANT_MESSAGE", "text": "on time"})
    service.end(request.param, old)
    new = service.running(thread, "new", "claude")["run"]["id"]
    return {"thread": thread, "old": old, "new": new}


@EVERY_REPORT
def test_a_late_report_changes_neither_the_old_run_nor_the_new_one(
    service: Client, gone_on: dict[str, str], report: str
) -> None:
    before = [service.get_run(run) for run in (gone_on["old"], gone_on["new"])]

    with pytest.raises(Refusal) as refused:
        REPORTS[report](service, gone_on["old"])

    assert (refused.value.code, refused.value.retryable) == ("RUN_NOT_ACTIVE", False)
    assert [service.get_run(run) for run in (gone_on["old"], gone_on["new"])] == before
    assert service.get_thread(gone_on["thread"])["activeRunId"] == gone_on["new"]
    assert service.texts(gone_on["thread"]) == ["old", "on time", "new"]


@WITH_WORDS
def test_it_is_kept_for_audit_and_writes_nothing_else(
    service: Client, graph: Graph, gone_on: dict[str, str], report: str
) -> None:
    with graph.growth() as written, pytest.raises(Refusal):
        REPORTS[report](service, gone_on["old"])

    assert written == {"Event": 1, "CommandReceipt": 1}
    event = graph.events(gone_on["thread"])[-1]
    assert (event["type"], event["runId"]) == ("report.late", gone_on["old"])
    assert json.loads(event["data"])["report"]["runId"] == gone_on["old"]


def test_a_late_heartbeat_says_nothing_worth_keeping_and_leaves_nothing(
    service: Client, graph: Graph, gone_on: dict[str, str]
) -> None:
    with graph.growth() as written, pytest.raises(Refusal):
        REPORTS["heartbeatRun"](service, gone_on["old"])

    assert written == {}


def test_the_audit_holds_what_the_report_said(service: Client, graph: Graph, gone_on: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        REPORTS["appendTurnItems"](service, gone_on["old"])

    said = json.loads(graph.events(gone_on["thread"])[-1]["data"])["report"]

    assert [item["text"] for item in said["items"]] == ["too late"]


def test_a_late_report_sent_again_is_refused_the_same_way_and_kept_once(
    service: Client, graph: Graph, gone_on: dict[str, str]
) -> None:
    said: list[str] = []
    with graph.growth() as written:
        for _ in range(3):
            with pytest.raises(Refusal) as refused:
                service.complete(gone_on["old"], clientMutationId=f"late {gone_on['old']}")
            said.append(str(refused.value))

    assert len(set(said)) == 1
    assert written == {"Event": 1, "CommandReceipt": 1}


def test_the_new_run_ends_by_its_own_report(service: Client, gone_on: dict[str, str]) -> None:
    for report in REPORTS.values():
        with pytest.raises(Refusal):
            report(service, gone_on["old"])

    assert service.complete(gone_on["new"])["run"]["status"] == "COMPLETED"
