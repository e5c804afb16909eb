"""The analysts' statements on a real tree made through the API: each gives the right answer to its question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plait.graph.statements import cypher_folder
from tests.support.client import Client
from tests.support.graph import Graph
from tests.support.sample_tree import SampleTree, make_sample_tree

EVERYTHING = 1_000_000


@pytest.fixture(scope="module")
def tree(service: Client) -> SampleTree:
    return make_sample_tree(service)


@pytest.fixture(scope="module")
def ask(graph: Graph, tree: SampleTree) -> Any:
    """Runs a file; ids of the tree come back as their names."""
    names = {i: name for ids in (tree.thread, tree.run, tree.transfer, tree.handoff) for name, i in ids.items()}

    def run(name: str, *columns: str, **parameters: Any) -> list[tuple[Any, ...]]:
        text = (cypher_folder() / "analysts" / f"{name}.cypher").read_text(encoding="utf-8")
        rows = graph.rows(text, **parameters)
        return [tuple(names.get(row[column], row[column]) for column in columns) for row in rows]

    return run


def test_forks_of_tree_tells_the_point_of_each_fork_in_the_thread_that_owns_it(ask: Any, tree: SampleTree) -> None:
    rows = ask(
        "forks_of_tree", "parentThreadId", "threadId", "depth", "pointThreadId", "pointRunId", "pointPosition",
        rootThreadId=tree.thread["root"],
    )  # fmt: skip

    assert rows == [
        ("root", "native", 1, "root", "r1", 1),
        ("root", "fallback", 1, "root", "r1", 1),
        ("root", "told", 1, "root", "r2", 2),
        ("root", "unused", 1, "root", "r3", 3),
        ("root", "refused", 1, "root", "r1", 1),
        ("root", "dropped", 1, "root", "r1", 1),
        ("root", "waiting", 1, "root", "r1", 1),
        ("unused", "again", 2, "root", "r3", 3),
    ]


class TestKnownRuns:
    COLUMNS = ("provider", "runThreadId", "position", "runId", "via", "handoffId")

    def test_the_root_is_known_to_codex_natively_and_to_claude_by_a_handoff(self, ask: Any, tree: SampleTree) -> None:
        rows = ask("known_runs", *self.COLUMNS, threadId=tree.thread["root"])

        assert rows == [
            ("claude", "root", 1, "r1", "handoff", "r3"),
            ("claude", "root", 2, "r2", "handoff", "r3"),
            ("claude", "root", 3, "r3", "native", None),
            ("codex", "root", 1, "r1", "native", None),
            ("codex", "root", 2, "r2", "native", None),
        ]

    def test_a_native_fork_knows_its_source_through_the_point_and_no_further(self, ask: Any, tree: SampleTree) -> None:
        rows = ask("known_runs", *self.COLUMNS, threadId=tree.thread["native"])

        assert rows == [
            ("codex", "root", 1, "r1", "native", None),
            ("codex", "native", 1, "f1", "native", None),
        ]
        by = ask("known_runs", "providerThreadId", "coveredBy", threadId=tree.thread["native"])
        assert [own == covering for own, covering in by] == [False, True]

    def test_a_portable_fork_knows_the_same_by_its_handoff(self, ask: Any, tree: SampleTree) -> None:
        rows = ask("known_runs", *self.COLUMNS, threadId=tree.thread["told"])

        assert rows == [
            ("claude", "root", 1, "r1", "handoff", "f3"),
            ("claude", "root", 2, "r2", "handoff", "f3"),
            ("claude", "told", 1, "f3", "native", None),
        ]


def test_transfers_never_consumed_says_where_each_stands(ask: Any, tree: SampleTree) -> None:
    rows = ask(
        "transfers_never_consumed", "targetThreadId", "type", "status", "runsOfTarget", "failureCode",
        rootThreadId=tree.thread["root"],
    )  # fmt: skip

    assert rows == [
        ("unused", "fork", "pending", 0, None),
        ("again", "fork", "pending", 0, None),
        ("refused", "fork", "failed", 0, "UNSUPPORTED_TRANSFER"),
        ("dropped", "fork", "superseded", 0, "CANCELLED"),
        ("waiting", "fork", "resolved_portable", 1, None),
    ]


def test_portable_on_the_same_provider_tells_what_the_provider_had_said(ask: Any, tree: SampleTree) -> None:
    rows = ask(
        "portable_on_the_same_provider", "runId", "threadId", "provider", "transferType", "handoffId", "replanned",
        rootThreadId=tree.thread["root"],
    )  # fmt: skip

    ((*facts, replanned),) = rows
    assert facts == ["f2", "fallback", "codex", "fork", "f2"]
    assert json.loads(replanned) == {
        "outcome": "portable",
        "failure": {"code": "GONE", "message": "turn not found"},
    }


def test_tokens_by_tree_counts_each_run_once_however_many_forks_inherit_it(ask: Any, tree: SampleTree) -> None:
    rows = ask(
        "tokens_by_tree", "rootThreadId", "title", "threads", "runs", "inputTokens", "outputTokens", limit=EVERYTHING
    )

    assert [row for row in rows if row[0] == "root"] == [("root", "A parser", 9, 6, 2100, 210)]
    assert [row[4] + row[5] for row in rows] == sorted((row[4] + row[5] for row in rows), reverse=True)


def test_late_reports_keeps_what_was_said_of_an_ended_run(ask: Any, tree: SampleTree) -> None:
    ((*facts, report),) = ask(
        "late_reports", "threadId", "runId", "runStatus", "report", rootThreadId=tree.thread["root"]
    )

    assert facts == ["fallback", "f2", "completed"]
    assert json.loads(report)["report"]["items"][0]["text"] == "late"


def test_latest_tips_tells_the_head_and_the_next_point_of_every_thread(ask: Any, tree: SampleTree) -> None:
    rows = ask(
        "latest_tips", "threadId", "provider", "headRunId", "headStatus", "stableRunId", "activeRunId",
        rootThreadId=tree.thread["root"],
    )  # fmt: skip

    # Where no run was accepted, the time the thread was made counts.
    assert rows == [
        ("waiting", None, None, None, "r1", "f4"),
        ("dropped", None, None, None, "r1", None),
        ("refused", None, None, None, "r1", None),
        ("again", None, None, None, "r3", None),
        ("unused", None, None, None, "r3", None),
        ("told", "claude", "f3", "completed", "f3", None),
        ("fallback", "codex", "f2", "completed", "f2", None),
        ("native", "codex", "f1", "completed", "f1", None),
        ("root", "claude", "r3", "completed", "r3", None),
    ]


def test_handoffs_with_most_left_out_counts_the_history_against_what_was_told(ask: Any, service: Client) -> None:
    source = service.thread()["id"]
    for number in range(12):
        service.whole_run(source, f"Step {number}: " + "look at the next part of the text. " * 8)
    fork = service.fork(source)["thread"]["id"]
    service.whole_run(fork, "Go on.")
    deep = service.fork(fork)["thread"]["id"]
    plan = service.start(deep, "What now?", "brief-300")["plan"]

    rows = ask(
        "handoffs_with_most_left_out", "handoffId", "provider", "runsOfHistory", "runsTold", "runsLeftOut", "tokens",
        limit=EVERYTHING,
    )  # fmt: skip

    (handoff,) = plan["handoffs"]
    (row,) = [row for row in rows if row[0] == handoff["id"]]
    left_out = next(entry["count"] for entry in handoff["payload"]["leftOut"] if entry["what"] == "runs")
    assert left_out > 0
    assert row[1:] == ("brief-300", 13, 13 - left_out, left_out, handoff["tokens"])
    assert [row[4] for row in rows] == sorted((row[4] for row in rows), reverse=True)


def test_provider_changes_names_the_runs_on_both_sides_and_the_price(
    ask: Any, service: Client, tree: SampleTree
) -> None:
    rows = ask(
        "provider_changes", "threadId", "fromRunId", "fromProvider", "toRunId", "toProvider", "strategy", "createdBy",
        "handoffTokens", rootThreadId=tree.thread["root"],
    )  # fmt: skip

    ((*facts, tokens),) = rows
    assert facts == ["root", "r2", "codex", "r3", "claude", "portable_context", "user"]
    document = "query ($id: ID!) { handoff(id: $id) { tokens } }"
    assert tokens == service.execute(document, id=tree.handoff["r3"])["handoff"]["tokens"]


def test_where_a_run_went_names_each_handoff_that_carried_it_told_or_not(ask: Any, tree: SampleTree) -> None:
    columns = ("handoffId", "kind", "transferType", "targetThreadId", "provider", "consumedByRunId")

    rows = ask("where_a_run_went", *columns, runId=tree.run["r1"])

    assert rows == [
        ("r3", "portable_context", "provider_handoff", "root", "claude", "r3"),
        ("f2", "portable_context", "fork", "fallback", "codex", "f2"),
        ("f3", "portable_context", "fork", "told", "claude", "f3"),
        ("f4", "portable_context", "fork", "waiting", "claude", None),
    ]
    assert ask("where_a_run_went", *columns, runId=tree.run["f1"]) == []
