"""Does a fork cost more when its source is long?"""

from __future__ import annotations

from bench.lab import Lab
from bench.load import http_clients, http_fork
from bench.measure import Row, paired
from bench.report import progress
from bench.scale import SHORT_RUNS
from bench.sources import Source, make_sources

AT_MOST = 1.1


async def ask(lab: Lab) -> list[Row]:
    """One row: forks of a short and of a long thread, over HTTP, in turns."""
    short, long = Source(SHORT_RUNS), Source(lab.scale.long_runs)
    await make_sources(lab.engine.driver, lab.sample, [short, long], f"Making a thread of {long.runs:,} runs")
    (connection,) = http_clients(lab.engine, 1)
    fork = http_fork(connection)
    samples = lab.scale.length_samples
    with progress("Long source", samples) as step:
        await paired(lambda: fork(short.id), lambda: fork(long.id), 20)
        pair = await paired(lambda: fork(short.id), lambda: fork(long.id), samples, lambda: step(1))
    connection.close()
    return [pair.row("A fork of a long thread, over HTTP", f"{short.runs} runs", f"{long.runs:,} runs", AT_MOST)]
