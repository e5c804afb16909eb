"""What the questions share: the sizes, and the one engine that is started cold and warmed once."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.bare import BareForks, check_bare
from bench.engine import Engine
from bench.forest import check_forest
from bench.load import drive, http_clients, http_fork
from bench.report import progress
from bench.sample import RUNS, Sample, make_sample
from bench.scale import CLIENTS, Scale
from bench.sources import Source, check_generator, make_sources


@dataclass(slots=True)
class Lab:
    """One engine with its sample. `memory_at_start` is that of service and database before any work, in MiB."""

    scale: Scale
    engine: Engine
    sample: Sample
    memory_at_start: tuple[float, float]
    bare: BareForks = field(init=False)

    def __post_init__(self) -> None:
        self.bare = BareForks(self.engine.driver, self.sample.fork.receipt["result"])


async def open_lab(scale: Scale, engine: Engine) -> Lab:
    """Makes the sample, holds the generators against it, and warms the engine."""
    memory = engine.memory_mib()
    sample = await make_sample(engine)
    await check_generator(engine.driver, sample, RUNS)
    await check_forest(engine.driver, sample)
    await check_bare(engine.driver, sample)
    lab = Lab(scale, engine, sample, memory)
    await warm(lab, scale.warm_forks)
    return lab


async def warm(lab: Lab, forks: int) -> None:
    """Forks over HTTP and by hand, in turns, `forks` of each: Java compiles what it runs often."""
    source = Source(1)
    await make_sources(lab.engine.driver, lab.sample, [source], "Making a thread to warm up with")
    connections = http_clients(lab.engine, CLIENTS)
    by_http = [http_fork(connection) for connection in connections]
    by_hand = [lab.bare.fork] * CLIENTS
    with progress("Warming up", 2 * forks) as step:
        done = 0
        while done < 2 * forks:
            for clients in (by_http, by_hand):
                window = await drive(lab.engine, clients, [source.id], 1.0)
                done += len(window.forks)
                step(len(window.forks))
    for connection in connections:
        connection.close()
