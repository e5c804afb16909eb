"""Load: many clients for a while, and the proof afterwards that every answered fork is in the graph exactly once."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import orjson

from bench.engine import Engine
from bench.http import FORK, Connection
from bench.measure import percentile
from bench.statements import one

ForkOne = Callable[[str], Awaitable[str]]
"""Makes one fork of a thread and returns its id."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one stretch of load did: the ids of the forks, the time of each in milliseconds, and the CPU time of all.

    `…_cpu` are CPU milliseconds a fork; the client's is that of this whole process.
    """

    forks: Sequence[str]
    seconds: float
    times: Sequence[float]
    client_cpu: float
    service_cpu: float
    database_cpu: float

    @property
    def rate(self) -> float:
        """Forks a second."""
        return len(self.forks) / self.seconds

    @property
    def p99(self) -> float:
        return percentile(self.times, 99)


def http_clients(engine: Engine, count: int) -> list[Connection]:
    """Connections to the service, one a client."""
    return [Connection(engine.port) for _ in range(count)]


def http_fork(connection: Connection) -> ForkOne:
    """Forks over HTTP on one connection; the answer is read to the end."""

    async def fork(source_thread_id: str) -> str:
        answer = await connection.post(FORK.body(sourceThreadId=source_thread_id, clientMutationId=uuid.uuid4().hex))
        return orjson.loads(answer)["data"]["forkThread"]["thread"]["id"]

    return fork


async def drive(engine: Engine, clients: Sequence[ForkOne], source_ids: Sequence[str], seconds: float) -> Window:
    """Lets every client fork the sources in turn, one fork after the other, for `seconds`."""
    forks: list[str] = []
    times: list[float] = []
    sources = itertools.cycle(source_ids)
    service, database = engine.cpu_seconds()
    client = time.process_time()
    began = time.perf_counter()

    async def work(fork: ForkOne) -> None:
        while (at := time.perf_counter()) - began < seconds:
            forks.append(await fork(next(sources)))
            times.append((time.perf_counter() - at) * 1000)

    await asyncio.gather(*(work(fork) for fork in clients))
    taken = time.perf_counter() - began
    after = engine.cpu_seconds()
    a_fork = 1000 / len(forks)
    return Window(
        forks=forks,
        seconds=taken,
        times=times,
        client_cpu=(time.process_time() - client) * a_fork,
        service_cpu=(after[0] - service) * a_fork,
        database_cpu=(after[1] - database) * a_fork,
    )


async def faults(engine: Engine, source_ids: Sequence[str], answered: Sequence[str]) -> list[str]:
    """What is wrong with the forks of these sources, all of which were `answered`; nothing where all is well."""
    found = await one(engine.driver, "verify_forks", sourceIds=list(source_ids))
    graph, told = set(found["forks"]), set(answered)
    checks = {
        "answered twice": len(answered) - len(told),
        "lost": len(told - graph),
        "never answered": len(graph - told),
        "edges too many": len(found["forks"]) - len(graph),
        "without a transfer of their own": len(graph) - found["transfers"],
        "without an event of their own": len(graph) - found["events"],
        "trees with a gap in their events": found["gaps"],
    }
    return [f"{count} {what}" for what, count in checks.items() if count]
