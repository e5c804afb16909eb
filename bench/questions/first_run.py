"""Does the context that another provider is told cost more to build when the history is long?"""

from __future__ import annotations

import orjson

from bench.http import START, Connection
from bench.lab import Lab
from bench.load import ForkOne, http_clients, http_fork
from bench.measure import Pair, Row, paired
from bench.report import progress
from bench.scale import TOLD_RUNS
from bench.sources import Source, make_sources
from bench.texts import REALISTIC

AT_MOST = 1.5
_OTHER_PROVIDER = "claude"
_WARM = 5


async def ask(lab: Lab) -> list[Row]:
    """One row: `startRun` by another provider on a fork of a thread of some runs and of one of many, in turns."""
    few, many = (Source(runs, exchanges=REALISTIC) for runs in TOLD_RUNS)
    await make_sources(
        lab.engine.driver, lab.sample, [few, many], f"Making a thread of {many.runs:,} runs of 250 tokens"
    )
    (connection,) = http_clients(lab.engine, 1)
    fork = http_fork(connection)
    await _paired(connection, fork, few, many, _WARM)
    pair = await _paired(connection, fork, few, many, lab.scale.resolution_samples)
    connection.close()
    what = "The first run of a fork on another provider: portable context is built"
    return [pair.row(what, f"{few.runs} runs", f"{many.runs:,} runs", AT_MOST)]


async def _paired(connection: Connection, fork: ForkOne, few: Source, many: Source, samples: int) -> Pair:
    # Forks are made before: only the start is timed.
    waiting = {source.id: [await fork(source.id) for _ in range(samples)] for source in (few, many)}

    async def start(source: Source) -> None:
        body = START.body(
            threadId=waiting[source.id].pop(), provider=_OTHER_PROVIDER, message="Go on.", executor="CLIENT"
        )
        plan = orjson.loads(await connection.post(body))["data"]["startRun"]["plan"]
        assert plan["outcome"] == "PORTABLE", plan
        assert plan["injected"], plan

    with progress("First run", samples) as step:
        return await paired(lambda: start(few), lambda: start(many), samples, lambda: step(1))
