"""The real service as a process: started by its command, waited for, asked over HTTP, ended by a signal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from plait.localdb import Endpoint

PLAIT = Path(sys.executable).with_name("plait")
START_LIMIT_SECONDS = 240
STOP_LIMIT_SECONDS = 60

_GRAPHQL_LINE = re.compile(r"(http://\S+:\d+)/graphql\b")


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without anybody's own `PLAIT_…`, and with `variables`."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PLAIT_")} | variables


def use_endpoint(endpoint: Endpoint) -> dict[str, str]:
    """The variables that make a service use `endpoint` in place of a Neo4j of its own.

    Many tests share that Neo4j, and a service ends the silent runs of all: leases are long where a test says nothing.
    """
    return {
        "PLAIT_LEASE_SECONDS": "86400",
        "PLAIT_NEO4J_URI": endpoint.uri,
        "PLAIT_NEO4J_USER": endpoint.user,
        "PLAIT_NEO4J_PASSWORD": endpoint.password.get_secret_value(),
        "PLAIT_NEO4J_DATABASE": endpoint.database,
    }


@dataclass
class ServiceProcess:
    """One `plait serve`. `output` grows as the process writes; `url` is known once it has told it."""

    command: list[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log = self.folder / f"service-{time.monotonic_ns()}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=clean_environment(**self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        """The base of its HTTP addresses, as the service printed it."""
        told = _GRAPHQL_LINE.search(self.output)
        assert told is not None, f"the service has not told its address:\n{self.output}"
        return told.group(1)

    def wait_answering(self) -> str:
        """Wait until it takes requests, whether its database is there or not; returns the base address."""
        return self._wait_health("live")

    def wait_ready(self) -> str:
        """Wait until `/health/ready` says so; returns the base address."""
        return self._wait_health("ready")

    def _wait_health(self, what: str) -> str:
        deadline = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the service ended with {self.process.returncode}:\n{self.output}"
            if _GRAPHQL_LINE.search(self.output):
                try:
                    if httpx.get(f"{self.url}/health/{what}", timeout=5).status_code == 200:
                        return self.url
                except httpx.TransportError:
                    pass
            time.sleep(0.1)
        raise AssertionError(f"the service was not {what} after {START_LIMIT_SECONDS} s:\n{self.output}")

    def terminate(self) -> int:
        """SIGTERM, and wait for the end; returns the exit code."""
        return self.end(signal.SIGTERM)

    def kill(self) -> int:
        """SIGKILL, and wait for the end."""
        return self.end(signal.SIGKILL)

    def end(self, how: signal.Signals) -> int:
        """Send a signal and wait for the end; returns the exit code. A process that does not end in time is killed."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.wait_ended()

    def wait_ended(self) -> int:
        """Wait until it ends by itself; returns the exit code."""
        try:
            return self.process.wait(STOP_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the service did not end:\n{self.output}") from None
