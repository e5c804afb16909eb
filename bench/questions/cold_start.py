"""How long until a service with a new data folder is ready, and how much memory do it and its database take?"""

from __future__ import annotations

import statistics

from bench.engine import running_engine
from bench.lab import Lab
from bench.measure import Row
from bench.report import progress

READY_SECONDS = 12.0
MEMORY_MIB = 1.2 * 1024


async def ask(lab: Lab) -> list[Row]:
    """Rows for the time of a cold start, and for memory at start and now, after the load of the questions before."""
    starts = [lab.engine]
    with progress("Starting cold", lab.scale.cold_starts) as step:
        step(1)
        while len(starts) < lab.scale.cold_starts:
            async with running_engine() as engine:
                starts.append(engine)
            step(1)
    seconds = [engine.start_seconds for engine in starts]
    median = statistics.median(seconds)
    return [
        Row(
            what="From `plait serve` with a new data folder to /health/ready",
            a=f"{median:.1f} s",
            b=f"longest {max(seconds):.1f} s",
            ratio="",
            wanted=f"≤ {READY_SECONDS:g} s",
            ok=median <= READY_SECONDS,
            samples=f"{len(seconds)} starts",
            others=statistics.median(engine.start_others for engine in starts),
        ),
        _memory("Resident memory after the start", lab.memory_at_start),
        _memory("Resident memory after the load of forks", lab.engine.memory_mib()),
    ]


def _memory(what: str, resident: tuple[float, float]) -> Row:
    return Row(
        what=what,
        a=f"{sum(resident):.0f} MiB",
        b=f"service {resident[0]:.0f}, Neo4j {resident[1]:.0f} MiB",
        ratio="",
        wanted=f"≤ {MEMORY_MIB:.0f} MiB",
        ok=sum(resident) <= MEMORY_MIB,
        samples="1",
    )
