"""Does it cost more to plan a start when the thread is long, and when many provider threads are behind it?"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import orjson

from bench.growth import Names, Plan, Recorder, check_growth, grow
from bench.http import EXPLAIN, Connection
from bench.lab import Lab
from bench.load import http_clients
from bench.measure import Row, paired
from bench.report import progress
from bench.scale import STRETCHES
from tests.support.client import Client, key

AT_MOST = 1.5
_TURNS = ("codex", "claude")
"""The providers of two stretches, one after the other. Every thread here ends with a stretch of the second."""
_NEVER_USED = "opencode"
_CHECKED_RUNS = 2
_WARM = 20


class _Asked(NamedTuple):
    """A thread with runs and provider threads behind it, and an unused fork of it."""

    runs: int
    provider_threads: int
    thread: str
    fork: str

    def __str__(self) -> str:
        return f"{self.runs:,} runs, {self.provider_threads} provider threads"


class _Start(NamedTuple):
    what: str
    provider: str
    outcome: str
    of_fork: bool = False


_STARTS = (
    _Start("the last provider goes on: resumed", _TURNS[1], "NONE"),
    _Start("the provider before goes on: resumed, and told what it missed", _TURNS[0], "DELTA"),
    _Start("first run of a fork: native fork", _TURNS[1], "NATIVE", of_fork=True),
    _Start("a provider that was never used: told all", _NEVER_USED, "PORTABLE"),
)


async def ask(lab: Lab) -> list[Row]:
    """Rows for `explainStart` of a short and of a long thread, in turns: one for each way to start."""
    await check_growth(lab.engine, _plan(_CHECKED_RUNS))
    few, many = await _short(lab), await _long(lab)
    (connection,) = http_clients(lab.engine, 1)
    rows: list[Row] = []
    for start in _STARTS:
        with progress(f"Planning: {start.what}", lab.scale.planning_samples) as step:
            a, b = (partial(_explain, connection, start, asked) for asked in (few, many))
            await paired(a, b, _WARM)
            pair = await paired(a, b, lab.scale.planning_samples, lambda step=step: step(1))
        what = "Planning a start over HTTP" if not rows else "The same"
        rows.append(pair.row(f"{what}; {start.what}", str(few), str(many), AT_MOST))
    connection.close()
    return rows


async def _explain(connection: Connection, start: _Start, asked: _Asked) -> None:
    body = EXPLAIN.body(threadId=asked.fork if start.of_fork else asked.thread, provider=start.provider)
    plan = orjson.loads(await connection.post(body))["data"]["explainStart"]
    assert plan["outcome"] == start.outcome, plan


async def _short(lab: Lab) -> _Asked:
    """All of it through the API."""
    stretches, runs = STRETCHES[0], max(lab.scale.stretch_runs // 10, 1)
    client = Client(lab.engine.url)
    try:
        thread = client.thread()["id"]
        with progress("Making a short thread", stretches) as step:
            for number in range(stretches):
                provider = _TURNS[(stretches - number) % 2]
                _stretch(client, thread, provider, runs, anew=number >= len(_TURNS))
                step(1)
        return _Asked(stretches * runs, stretches, thread, client.fork(thread)["thread"]["id"])
    finally:
        client.close()


async def _long(lab: Lab) -> _Asked:
    stretches, runs = STRETCHES[1], lab.scale.stretch_runs
    rounds = stretches // len(_TURNS) - 1
    (thread,), _ = await grow(lab.engine, _plan(runs), rounds, f"Making a thread of {stretches * runs:,} runs")
    client = Client(lab.engine.url)
    try:
        return _Asked(stretches * runs, stretches, thread, client.fork(thread)["thread"]["id"])
    finally:
        client.close()


def _plan(runs: int) -> Plan:
    def begin(client: Recorder) -> Names:
        thread = client.thread()["id"]
        for provider in _TURNS:
            _stretch(client, thread, provider, runs, anew=False)
        return (thread,)

    def go_on(client: Recorder, names: Names) -> Names:
        for provider in _TURNS:
            _stretch(client, names[0], provider, runs, anew=True)
        return names

    return Plan(begin, go_on)


def _stretch(client: Client, thread: str, provider: str, runs: int, *, anew: bool) -> None:
    """Runs on one provider thread of their own. `anew`: the provider forks the last one it has for this thread."""
    given: dict[str, Any] = {"strategy": "NATIVE_FORK"} if anew else {}
    run = client.start(thread, "Go on", provider, **given)["run"]["id"]
    client.started(run, nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
    client.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "An answer"})
    client.complete(run)
    for _ in range(runs - 1):
        client.whole_run(thread, "Go on", "An answer", provider)
