"""Inputs: what can't be right is refused with the field's name, before any command or read."""

from __future__ import annotations

from typing import Any

import pytest

from plait.api.services import Limits
from tests.api.conftest import Api, Backend, api_over

UUID = "01890000-0000-7000-8000-000000000001"
THREAD, RUN, ITEM, CHECKPOINT, TRANSFER = (f"{kind}_{UUID}" for kind in ("thr", "run", "itm", "cpt", "trf"))
LIMITS = Limits(max_text_bytes=1_000)

START = {"threadId": THREAD, "provider": "codex", "message": "hello", "executor": "CLIENT"}
POINT = {"runId": RUN, "checkpointId": CHECKPOINT}


def items(*given: dict[str, Any]) -> dict[str, Any]:
    return {"runId": RUN, "items": [{"kind": "OTHER"} | item for item in given]}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("createThread", {"id": "thr_1"}, "INVALID_INPUT", "id"),
    ("createThread", {"id": RUN}, "INVALID_INPUT", "id wants"),
    ("createThread", {"id": THREAD.upper()}, "INVALID_INPUT", "id"),
    ("createThread", {"id": THREAD + "\n"}, "INVALID_INPUT", "id"),
    ("createThread", {"title": "a" * 501}, "LIMIT_EXCEEDED", "title"),
    ("createThread", {"title": "a\0b"}, "INVALID_INPUT", "title"),
    ("createThread", {"clientMutationId": ""}, "INVALID_INPUT", "clientMutationId"),
    ("createThread", {"clientMutationId": "k" * 201}, "LIMIT_EXCEEDED", "clientMutationId"),
    ("createThread", {"clientMutationId": "k\0"}, "INVALID_INPUT", "clientMutationId"),
    ("createThread", {"createdBy": "user"}, "INVALID_INPUT", "createdBy"),
    ("createThread", {"nothing": 1}, "INVALID_INPUT", "nothing"),
    ("forkThread", {"sourceThreadId": "' OR 1=1"}, "INVALID_INPUT", "sourceThreadId"),
    ("forkThread", {"sourceThreadId": RUN}, "INVALID_INPUT", "sourceThreadId"),
    ("forkThread", {"sourceThreadId": THREAD, "point": POINT}, "INVALID_INPUT", "point"),
    ("forkThread", {"sourceThreadId": THREAD, "point": {"runId": ITEM}}, "INVALID_INPUT", "point.runId"),
    ("startRun", START | {"message": " \n\t"}, "INVALID_INPUT", "message"),
    ("startRun", START | {"message": "é" * 501}, "LIMIT_EXCEEDED", "message"),
    ("startRun", START | {"provider": ""}, "INVALID_INPUT", "provider"),
    ("startRun", START | {"provider": "Codex"}, "INVALID_INPUT", "provider"),
    ("startRun", START | {"provider": "codex\n"}, "INVALID_INPUT", "provider"),
    ("startRun", START | {"provider": "c" * 65}, "INVALID_INPUT", "provider"),
    ("startRun", START | {"model": ""}, "INVALID_INPUT", "model"),
    ("startRun", START | {"model": "m" * 201}, "LIMIT_EXCEEDED", "model"),
    ("startRun", START | {"id": THREAD}, "INVALID_INPUT", "id"),
    ("reportRunStarted", {"runId": RUN, "nativeThreadId": ""}, "INVALID_INPUT", "nativeThreadId"),
    ("reportRunStarted", {"runId": RUN, "nativeTurnId": "n" * 501}, "LIMIT_EXCEEDED", "nativeTurnId"),
    ("reportRunStarted", {"runId": RUN, "nativeTurnId": "n\0"}, "INVALID_INPUT", "nativeTurnId"),
    ("reportRunStarted", {"runId": RUN, "failure": {"code": "", "message": ""}}, "INVALID_INPUT", "failure.code"),
    ("appendTurnItems", items(), "INVALID_INPUT", "items"),
    ("appendTurnItems", items(*[{}] * 251), "LIMIT_EXCEEDED", "items"),
    ("appendTurnItems", items({}, {"text": "a" * 1_001}), "LIMIT_EXCEEDED", "items[1].text"),
    ("appendTurnItems", items({}, {"data": "a" * 1_000}), "LIMIT_EXCEEDED", "items[1].data"),
    ("appendTurnItems", items({"data": nested(101)}), "LIMIT_EXCEEDED", "items[0].data"),
    ("appendTurnItems", items({}, {"id": RUN}), "INVALID_INPUT", "items[1].id"),
    ("appendTurnItems", items({"id": ITEM}, {}, {"id": ITEM}), "INVALID_INPUT", "items[2].id"),
    (
        "completeRun",
        {"runId": RUN, "usage": {"inputTokens": -1, "outputTokens": 0}},
        "INVALID_INPUT",
        "usage.inputTokens",
    ),
    ("completeRun", {"runId": RUN, "usage": {"inputTokens": 2**31, "outputTokens": 0}}, "INVALID_INPUT", "inputTokens"),
    ("failRun", {"runId": RUN, "reason": "r" * 1_001}, "LIMIT_EXCEEDED", "reason"),
    ("interruptRun", {"runId": THREAD}, "INVALID_INPUT", "runId"),
    ("heartbeatRun", {"runId": ""}, "INVALID_INPUT", ""),
    ("createCheckpoint", {"threadId": THREAD, "label": ""}, "INVALID_INPUT", "label"),
    ("createCheckpoint", {"threadId": THREAD, "label": "l" * 201}, "LIMIT_EXCEEDED", "label"),
    ("createCheckpoint", {"threadId": THREAD, "label": "l", "summary": "s" * 1_001}, "LIMIT_EXCEEDED", "summary"),
    (
        "createCheckpoint",
        {"threadId": THREAD, "label": "l", "workspace": {"vcs": "git", "commit": ""}},
        "INVALID_INPUT",
        "workspace.commit",
    ),
    ("cancelTransfer", {"transferId": THREAD}, "INVALID_INPUT", "transferId"),
]


@pytest.mark.parametrize(("mutation", "given", "code", "named"), REFUSED)
async def test_a_mutation_is_refused(mutation: str, given: dict[str, Any], code: str, named: str) -> None:
    stem = mutation[0].upper() + mutation[1:]
    query = f"mutation ($input: {stem}Input!) {{ {mutation}(input: $input) {{ clientMutationId }} }}"
    async with api_over(Backend(RuntimeError()), LIMITS) as api:
        (error,) = (await api.run(query, {"input": given}))["errors"]
    assert error["extensions"] == {"code": code, "retryable": False}
    assert named in error["message"]
    assert api.backend.calls == []


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ('thread(id: "thr_")', "INVALID_INPUT"),
        (f'thread(id: "{RUN}")', "INVALID_INPUT"),
        (f'run(id: "{THREAD}")', "INVALID_INPUT"),
        ('checkpoint(id: "")', "INVALID_INPUT"),
        ("transfer(id: 7)", "INVALID_INPUT"),
        (f'handoff(id: "{TRANSFER}")', "INVALID_INPUT"),
        (f'node(id: "evt_{UUID}")', "INVALID_INPUT"),
        (f'node(id: "xyz_{UUID}")', "INVALID_INPUT"),
        ("threads(first: 0)", "INVALID_INPUT"),
        ("threads(first: -1)", "INVALID_INPUT"),
        ("threads(first: 101)", "LIMIT_EXCEEDED"),
        ('threads(after: "")', "INVALID_INPUT"),
        ('threads(after: "é")', "INVALID_INPUT"),
        (f'threads(after: "{"a" * 1_001}")', "INVALID_INPUT"),
        ('threads(search: "")', "INVALID_INPUT"),
        (f'threads(search: "{"a" * 201}")', "LIMIT_EXCEEDED"),
        (f'threads(filter: {{rootThreadId: "{RUN}"}})', "INVALID_INPUT"),
        ('threads(filter: {provider: "a b"})', "INVALID_INPUT"),
        (f'lineage(threadId: "{RUN}")', "INVALID_INPUT"),
        (f'lineage(threadId: "{THREAD}", maxDepth: -1)', "INVALID_INPUT"),
        (f'lineage(threadId: "{THREAD}", maxDepth: 10001)', "LIMIT_EXCEEDED"),
        (f'lineage(threadId: "{THREAD}", kinds: [])', "INVALID_INPUT"),
        (f'lineage(threadId: "{THREAD}", first: 101)', "LIMIT_EXCEEDED"),
        (f'lineage(threadId: "{THREAD}", asOf: "yesterday")', "GRAPHQL_VALIDATION_FAILED"),
        (f'lineage(threadId: "{THREAD}", asOf: "2026-01-31T12:00:00")', "GRAPHQL_VALIDATION_FAILED"),
        (f'lineage(threadId: "{THREAD}", asOf: "0001-01-01T00:00:00+23:00")', "GRAPHQL_VALIDATION_FAILED"),
        (f'explainStart(threadId: "{THREAD}", provider: "")', "INVALID_INPUT"),
        (f'explainStart(threadId: "{THREAD}", provider: "codex", model: "\\u0000")', "INVALID_INPUT"),
    ],
)
async def test_a_query_is_refused(api: Api, field: str, code: str) -> None:
    assert await api.codes(f"{{ {field} {{ __typename }} }}") == [code]
    assert api.backend.calls == []


async def test_a_time_in_a_variable(api: Api) -> None:
    query = "query ($id: ID!, $at: DateTime) { lineage(threadId: $id, asOf: $at) { truncated } }"
    assert await api.codes(query, {"id": THREAD, "at": 7}) == ["INVALID_INPUT"]
    assert await api.codes(query, {"id": THREAD, "at": "2026-01-31"}) == ["INVALID_INPUT"]


@pytest.mark.parametrize(
    "data", ['"\\u0000"', "1e400", "123456789012345678901234567890", '"\\u{1F600}"', "{a: [1, {b: null}]}"]
)
async def test_json_written_in_the_query(api: Api, data: str) -> None:
    given = f'{{runId: "{RUN}", items: [{{kind: OTHER, data: {data}}}]}}'
    query = f"mutation {{ appendTurnItems(input: {given}) {{ items {{ id }} }} }}"
    too_large = data[0] == "1"
    assert await api.codes(query) == ["INVALID_INPUT" if too_large else "INTERNAL_ERROR"]
    assert api.backend.calls == ([] if too_large else ["append_turn_items"])


@pytest.mark.parametrize(
    ("mutation", "given", "command"),
    [
        ("createThread", {}, "create_thread"),
        ("createThread", {"id": None, "title": "", "clientMutationId": "k" * 200}, "create_thread"),
        ("createThread", {"title": "'; DETACH DELETE n //" + "\u202e" * 10, "createdBy": "AGENT"}, "create_thread"),
        ("forkThread", {"sourceThreadId": THREAD, "point": {}}, "fork_thread"),
        ("forkThread", {"sourceThreadId": THREAD, "point": {"turnItemId": ITEM}}, "fork_thread"),
        ("startRun", START | {"message": "a\0b", "strategy": "NATIVE_FORK", "executor": "SERVICE"}, "start_run"),
        ("reportRunStarted", {"runId": RUN, "nativeThreadId": "n" * 500}, "report_run_started"),
        ("appendTurnItems", items({"text": "\0" * 1_000, "data": nested(99)}, {"id": ITEM}), "append_turn_items"),
        ("completeRun", {"runId": RUN, "usage": {"inputTokens": 0, "outputTokens": 2**31 - 1}}, "complete_run"),
        ("failRun", {"runId": RUN, "reason": ""}, "fail_run"),
        ("interruptRun", {"runId": RUN}, "interrupt_run"),
        ("heartbeatRun", {"runId": RUN}, "heartbeat_run"),
        (
            "createCheckpoint",
            {"threadId": THREAD, "label": "l", "workspace": {"vcs": "git", "commit": "c"}},
            "create_checkpoint",
        ),
        ("cancelTransfer", {"transferId": TRANSFER}, "cancel_transfer"),
    ],
)
async def test_what_is_right_reaches_its_command(mutation: str, given: dict[str, Any], command: str) -> None:
    stem = mutation[0].upper() + mutation[1:]
    query = f"mutation ($input: {stem}Input!) {{ {mutation}(input: $input) {{ clientMutationId }} }}"
    async with api_over(Backend(RuntimeError()), LIMITS) as api:
        assert await api.codes(query, {"input": given}) == ["INTERNAL_ERROR"]
    assert api.backend.calls == [command]
