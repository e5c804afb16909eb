"""What does a fork over HTTP cost against the same writes by the bare driver?"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bench.lab import Lab
from bench.load import Window, drive, http_clients, http_fork
from bench.measure import Row, paired
from bench.report import progress
from bench.scale import CLIENTS
from bench.sources import Source, make_sources

AT_MOST = 2.5


async def ask(lab: Lab) -> list[Row]:
    """Two rows: one client after the other, and eight at once."""
    # Each way has a tree of its own, so that neither waits for the other's locks.
    sources = [Source(1), Source(1)]
    await make_sources(lab.engine.driver, lab.sample, sources, "Making two threads")
    return [await _one_client(lab, sources), await _many_clients(lab, sources)]


async def _one_client(lab: Lab, sources: Sequence[Source]) -> Row:
    (connection,) = http_clients(lab.engine, 1)
    fork = http_fork(connection)
    samples = lab.scale.overhead_samples
    with progress("Overhead, one client", samples) as step:
        pair = await paired(lambda: lab.bare.fork(sources[0].id), lambda: fork(sources[1].id), samples, lambda: step(1))
    connection.close()
    return pair.row("A fork over HTTP against the bare driver, 1 client", "bare", "HTTP", AT_MOST)


async def _many_clients(lab: Lab, sources: Sequence[Source]) -> Row:
    connections = http_clients(lab.engine, CLIENTS)
    by_hand = [lab.bare.fork] * CLIENTS
    by_http = [http_fork(connection) for connection in connections]
    bare: list[Window] = []
    http: list[Window] = []
    windows = lab.scale.overhead_windows
    with progress(f"Overhead, {CLIENTS} clients", windows) as step:
        for number in range(windows):
            turn = [(bare, by_hand, sources[0]), (http, by_http, sources[1])]
            for taken, clients, source in turn if number % 2 == 0 else reversed(turn):
                taken.append(await drive(lab.engine, clients, [source.id], lab.scale.overhead_seconds))
            step(1)
    for connection in connections:
        connection.close()
    ratio = statistics.median(w.rate for w in bare) / statistics.median(w.rate for w in http)
    return Row(
        what=f"The same, {CLIENTS} clients at once",
        a=f"bare: {_rate(bare)}",
        b=f"HTTP: {_rate(http)}",
        ratio=f"{ratio:.2f}",
        wanted=f"≤ {AT_MOST}",
        ok=ratio <= AT_MOST,
        samples=f"{windows} pairs of {lab.scale.overhead_seconds:g} s",
    )


def _rate(windows: Sequence[Window]) -> str:
    times = [time for window in windows for time in window.times]
    return f"{statistics.median(w.rate for w in windows):.0f} a second ({statistics.median(times):.2f} ms each)"
