"""A service behind a Bolt proxy, that can be killed while the next one already stands ready."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from plait.localdb import Endpoint
from tests.support.bolt_proxy import BoltProxy
from tests.support.client import Client
from tests.support.graph import Graph
from tests.support.neo4j import wipe
from tests.support.service import PLAIT, ServiceProcess, use_endpoint
from tests.support.trees import Forest

# Transactions that a proxy holds must not be ended for being slow, and none may go by but those of the test.
PATIENT = {"PLAIT_NEO4J_TRANSACTION_TIMEOUT_SECONDS": "600", "PLAIT_LEASE_SWEEP_SECONDS": "86400"}

_NUMBERS = itertools.count(1)


def fresh_tag() -> str:
    """A name for one tree, which no other tree has."""
    return f"tag{next(_NUMBERS):05d}"


@dataclass
class Bench:
    """The service at work, the one that will come after it, and the Neo4j and the proxy behind both."""

    endpoint: Endpoint
    proxy: BoltProxy
    graph: Graph
    folder: Path
    made: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    """The trees made here: the root of each, where it had one to begin with, and its tag."""

    def __post_init__(self) -> None:
        self._next = self._start()
        self.take_over()

    def take_over(self) -> None:
        """The next service goes to work; one more is started to stand ready."""
        self.process = self._next
        self.client = Client(self.process.wait_ready())
        self._next = self._start()

    def kill(self) -> None:
        """SIGKILL to the service at work; what it had under way at Neo4j ends with its connections."""
        self.process.kill()
        self.proxy.cut_all()
        self.client.close()

    def empty(self) -> None:
        """Begin with an empty graph and a proxy that lets everything pass."""
        self.proxy.clear()
        self.proxy.forget()
        self.made.clear()
        wipe(self.endpoint)

    def forest(self) -> Forest:
        return Forest(self.graph)

    def stray(self) -> list[str]:
        """What is in the graph and belongs to no tree made here."""
        forest = self.forest()
        for root, tag in self.made:
            forest.tree(root, tag)
        return forest.unclaimed()

    def close(self) -> None:
        self.client.close()
        for process in (self.process, self._next):
            process.kill()

    def _start(self) -> ServiceProcess:
        command = [str(PLAIT), "serve", "--port", "0", "--data-dir", str(self.folder / "data")]
        return ServiceProcess(command, self.folder, use_endpoint(self.proxy.endpoint) | PATIENT)


@contextmanager
def opened_bench(endpoint: Endpoint, folder: Path) -> Generator[Bench]:
    """A bench in front of `endpoint` until the block ends."""
    with (
        closing(Graph(endpoint)) as graph,
        BoltProxy(endpoint) as proxy,
        closing(Bench(endpoint, proxy, graph, folder)) as made,
    ):
        yield made
