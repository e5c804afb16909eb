"""The real `plait serve` with a Neo4j of its own in a new folder, seen from outside: addresses, memory, CPU time."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationMinimumSeverity

from bench.machine import Neighbours
from tests.support.processes import database_pid
from tests.support.service import PLAIT, ServiceProcess

DATABASE = "neo4j"
_BOLT_LINE = re.compile(r"(bolt://\S+) \(user (\S+), password in (.+)\)")


@dataclass(frozen=True, slots=True)
class Engine:
    """A running service and its database.

    `start_seconds` is from its command to `/health/ready`; `start_others` the share of the cores others took then.
    """

    url: str
    driver: AsyncDriver
    service: psutil.Process
    database: psutil.Process
    start_seconds: float
    start_others: float

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def memory_mib(self) -> tuple[float, float]:
        """Resident memory of the service and of the database, in MiB."""
        return self.service.memory_info().rss / 2**20, self.database.memory_info().rss / 2**20

    def cpu_seconds(self) -> tuple[float, float]:
        """CPU time that the service and the database have used since they started, in seconds."""
        service, database = self.service.cpu_times(), self.database.cpu_times()
        return service.user + service.system, database.user + database.system


@asynccontextmanager
async def running_engine() -> AsyncGenerator[Engine]:
    """A service in a new data folder until the block ends; the folder goes with it."""
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as folder:
        neighbours, began = Neighbours(), time.monotonic()
        process = ServiceProcess(
            [str(PLAIT), "serve", "--port", "0", "--data-dir", str(Path(folder) / "data")], Path(folder) / "service"
        )
        try:
            url = process.wait_ready()
            seconds, others = time.monotonic() - began, neighbours.share()
            told = _BOLT_LINE.search(process.output)
            assert told is not None, f"the service has not told its Bolt address:\n{process.output}"
            async with _driver(*told.groups()) as driver:
                service, database = psutil.Process(process.pid), psutil.Process(database_pid(process.pid))
                yield Engine(url, driver, service, database, seconds, others)
        finally:
            process.terminate()


def _driver(uri: str, user: str, password_file: str) -> AsyncDriver:
    password = Path(password_file).read_text(encoding="utf-8").strip()
    return AsyncGraphDatabase.driver(
        uri, auth=(user, password), notifications_min_severity=NotificationMinimumSeverity.OFF
    )
