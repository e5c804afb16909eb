"""How many forks a second does the service make for eight clients, and is every one of them there afterwards?"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bench.lab import Lab
from bench.load import Window, drive, faults, http_clients, http_fork
from bench.measure import Row
from bench.report import progress
from bench.scale import CLIENTS
from bench.sources import Source, make_sources

AT_LEAST = 300
_TREES = 64


async def ask(lab: Lab) -> list[Row]:
    """Rows for one hot parent and for many trees, in windows by turns, and for what was found afterwards."""
    hot, many = [Source(1)], [Source(1) for _ in range(_TREES)]
    await make_sources(lab.engine.driver, lab.sample, [*hot, *many], "Making threads to fork")
    connections = http_clients(lab.engine, CLIENTS)
    clients = [http_fork(connection) for connection in connections]
    windows: tuple[list[Window], list[Window]] = ([], [])
    count = lab.scale.throughput_windows
    with progress("Throughput", count) as step:
        for _ in range(count):
            for taken, sources in zip(windows, (hot, many), strict=True):
                ids = [source.id for source in sources]
                taken.append(await drive(lab.engine, clients, ids, lab.scale.throughput_seconds))
            step(1)
    for connection in connections:
        connection.close()
    return [
        _rate(lab, f"Forks a second, {CLIENTS} clients, one hot parent", windows[0]),
        _rate(lab, f"Forks a second, {CLIENTS} clients, {_TREES} trees", windows[1]),
        await _whole(lab, (hot, many), windows),
    ]


def _rate(lab: Lab, what: str, windows: Sequence[Window]) -> Row:
    rate = statistics.median(window.rate for window in windows)
    p99 = statistics.median(window.p99 for window in windows)
    client, service, database = (
        statistics.median(getattr(window, name) for window in windows)
        for name in ("client_cpu", "service_cpu", "database_cpu")
    )
    return Row(
        what=what,
        a=f"{rate:.0f} a second, p99 {p99:.0f} ms",
        b=f"CPU a fork: client {client:.2f}, service {service:.2f}, Neo4j {database:.2f} ms",
        ratio="",
        wanted=f"≥ {AT_LEAST}",
        ok=rate >= AT_LEAST,
        samples=f"{len(windows)} windows of {lab.scale.throughput_seconds:g} s",
    )


async def _whole(lab: Lab, sources: Sequence[Sequence[Source]], windows: Sequence[Sequence[Window]]) -> Row:
    answered = [fork for taken in windows for window in taken for fork in window.forks]
    wrong = await faults(lab.engine, [source.id for some in sources for source in some], answered)
    return Row(
        what="Of these forks: lost, double, or with a gap in the events",
        a="; ".join(wrong) or "none",
        b=f"{len(answered):,} answered",
        ratio="",
        wanted="none",
        ok=not wrong,
        samples="all",
    )
