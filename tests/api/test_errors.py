"""Errors: a code and a sentence for what was foreseen, an id and nothing else for what was not."""

from __future__ import annotations

import pytest
from structlog.typing import EventDict

from plait.domain.errors import ErrorCode, IdempotencyConflict, NotFound, PlaitError, Refused, StorageUnavailable
from tests.api.conftest import Api, Backend, api_over

THREAD = "thr_01890000-0000-7000-8000-000000000001"
ONE = f'{{ thread(id: "{THREAD}") {{ id }} }}'
FORK = f'mutation {{ forkThread(input: {{sourceThreadId: "{THREAD}"}}) {{ thread {{ id }} }} }}'


async def test_an_unforeseen_error_is_masked(api: Api, logs: list[EventDict]) -> None:
    response = await api.http.post("/graphql", json={"query": ONE})
    assert response.status_code == 200
    assert "hunter2" not in response.text
    assert "RuntimeError" not in response.text
    (error,) = response.json()["errors"]
    assert response.json()["data"] == {"thread": None}
    assert error["path"] == ["thread"]
    assert error["extensions"]["code"] == "INTERNAL_ERROR"
    assert error["extensions"]["retryable"] is False
    (line,) = logs
    assert line["error_id"] == error["extensions"]["errorId"]
    assert line["exc_info"].args == ("password=hunter2 at 10.0.0.7",)


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (NotFound("There is no such thread."), "NOT_FOUND", False),
        (Refused(ErrorCode.THREAD_BUSY, "Another run works here.", retryable=True), "THREAD_BUSY", True),
        (IdempotencyConflict("Used before."), "IDEMPOTENCY_CONFLICT", False),
        (StorageUnavailable("Neo4j does not answer."), "STORAGE_UNAVAILABLE", True),
        (StorageUnavailable("Too slow.", ErrorCode.STORAGE_TIMEOUT), "STORAGE_TIMEOUT", True),
    ],
)
async def test_a_refusal_is_told(error: PlaitError, code: str, retryable: bool) -> None:
    async with api_over(Backend(error)) as api:
        for query, field in ((ONE, "thread"), (FORK, "forkThread")):
            answer = await api.run(query)
            assert answer["data"] == {field: None}
            (told,) = answer["errors"]
            assert told["message"] == error.message
            assert told["path"] == [field]
            assert told["extensions"] == {"code": code, "retryable": retryable}


async def test_one_refusal_leaves_the_rest(api: Api) -> None:
    answer = await api.run('{ thread(id: "nonsense") { id } providers { key } }')
    assert answer["data"] == {"thread": None, "providers": [{"key": "codex"}]}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INVALID_INPUT"]


async def test_a_refused_mutation_leaves_the_next(api: Api) -> None:
    answer = await api.run(
        'mutation { a: heartbeatRun(input: {runId: "x"}) { run { id } } '
        'b: heartbeatRun(input: {runId: "y"}) { run { id } } }'
    )
    assert answer["data"] == {"a": None, "b": None}
    assert [error["path"] for error in answer["errors"]] == [["a"], ["b"]]


async def test_long_messages_are_cut(api: Api) -> None:
    (error,) = (await api.run("{ " + "a" * 100_000 + " }"))["errors"]
    assert len(error["message"]) <= 1_000


async def test_a_task_that_is_cancelled_stays_cancelled() -> None:
    import asyncio

    async with api_over(Backend(asyncio.CancelledError())) as api:  # type: ignore[arg-type]
        with pytest.raises(asyncio.CancelledError):
            await api.run(FORK)
