"""Does a fork cost more in a graph of many threads?"""

from __future__ import annotations

import random
from contextlib import AsyncExitStack

from bench.engine import running_engine
from bench.forest import make_forest
from bench.lab import Lab
from bench.load import http_clients, http_fork
from bench.measure import Row, Work, paired
from bench.report import progress
from bench.sample import make_sample
from bench.scale import SMALL_THREADS

AT_MOST = 1.3


async def ask(lab: Lab) -> list[Row]:
    """One row: forks of threads drawn at random in two graphs, each with an engine of its own, in turns."""
    async with AsyncExitStack() as stack:
        small = await _forks_of(stack, SMALL_THREADS)
        large = await _forks_of(stack, lab.scale.large_threads)
        for what, samples in (("Warming up", lab.scale.graph_warm_forks), ("Large graph", lab.scale.graph_samples)):
            with progress(what, samples) as step:
                pair = await paired(small, large, samples, lambda step=step: step(1))
    what = "A fork of a thread at random in a large graph, over HTTP"
    return [pair.row(what, f"{SMALL_THREADS:,} threads", f"{lab.scale.large_threads:,} threads", AT_MOST)]


async def _forks_of(stack: AsyncExitStack, threads: int) -> Work:
    """Forks of a graph that is made for it."""
    engine = await stack.enter_async_context(running_engine())
    ids = await make_forest(engine.driver, await make_sample(engine), threads)
    (connection,) = http_clients(engine, 1)
    stack.callback(connection.close)
    fork = http_fork(connection)
    draw = random.Random(threads)
    return lambda: fork(draw.choice(ids))
