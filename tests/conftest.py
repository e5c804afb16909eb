"""What every test can ask for: the run's one real Neo4j, the real service as a process, and one that all share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plait.localdb import Endpoint
from tests.crash.attempts import Undisturbed, undisturbed
from tests.crash.bench import Bench, opened_bench
from tests.support.client import Client
from tests.support.commands import CASES
from tests.support.graph import Graph
from tests.support.neo4j import running_neo4j, wipe
from tests.support.service import PLAIT, ServiceProcess, use_endpoint


@pytest.fixture(scope="session")
def neo4j_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """The one Neo4j of the run; tests that need it empty ask for `empty_neo4j`."""
    with running_neo4j(tmp_path_factory.mktemp("neo4j")) as endpoint:
        yield endpoint


@pytest.fixture
def empty_neo4j(neo4j_endpoint: Endpoint) -> Endpoint:
    """The run's Neo4j with no node in it; constraints and indexes stay."""
    wipe(neo4j_endpoint)
    return neo4j_endpoint


StartPlait = Callable[..., ServiceProcess]


@pytest.fixture
def plait_process(tmp_path: Path) -> Iterator[StartPlait]:
    """Starts the real service and ends what still runs after the test.

    `plait_process(endpoint)` uses that Neo4j, `plait_process()` makes the service start its own in `data_dir` (a folder
    of the test's). Further keywords: `port` (a free one), `ready=False` returns at once, `env` adds variables.
    """
    running: list[ServiceProcess] = []

    def start(
        endpoint: Endpoint | None = None,
        *,
        data_dir: Path | None = None,
        port: int = 0,
        ready: bool = True,
        env: dict[str, str] | None = None,
    ) -> ServiceProcess:
        variables = (use_endpoint(endpoint) if endpoint is not None else {}) | (env or {})
        command = [str(PLAIT), "serve", "--port", str(port), "--data-dir", str(data_dir or tmp_path / "data")]
        service = ServiceProcess(command, tmp_path / "service", variables)
        running.append(service)
        if ready:
            service.wait_ready()
        return service

    yield start
    for service in running:
        service.terminate()


PROVIDERS = {
    # Takes no context from outside.
    "mute": {"driver": "mute", "injection": "none"},
    # A second account of a built-in provider.
    "codex-b": {"driver": "codex"},
    # Take short handoffs only.
    "brief-300": {"driver": "brief", "handoffTokens": 300},
    "brief-900": {"driver": "brief", "handoffTokens": 900},
}
"""The providers of the shared service besides the built-in ones."""


@pytest.fixture(scope="session")
def service(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One real service on the run's one Neo4j, for all tests that make threads of their own and wipe nothing."""
    folder = tmp_path_factory.mktemp("shared-service")
    settings = {"PLAIT_PROVIDERS": json.dumps(PROVIDERS)}
    command = [str(PLAIT), "serve", "--port", "0", "--data-dir", str(folder / "data")]
    process = ServiceProcess(command, folder, use_endpoint(neo4j_endpoint) | settings)
    client = Client(process.wait_ready())
    yield client
    client.close()
    process.terminate()


@pytest.fixture(scope="session")
def graph(neo4j_endpoint: Endpoint) -> Iterator[Graph]:
    """The graph of the run's one Neo4j, by Cypher."""
    opened = Graph(neo4j_endpoint)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def proxied(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A service whose way to Neo4j can be watched and broken, and the next one, which stands ready."""
    with opened_bench(neo4j_endpoint, tmp_path_factory.mktemp("bench")) as made:
        yield made


@pytest.fixture(scope="session")
def right(proxied: Bench) -> dict[str, Undisturbed]:
    """What each command must come to in each case, by the name of the case."""
    proxied.empty()
    return undisturbed(proxied, CASES)


@pytest.fixture(scope="module")
def bench(proxied: Bench, right: dict[str, Undisturbed]) -> Bench:
    """`proxied`, with nothing in the graph when a module begins."""
    del right
    proxied.empty()
    return proxied
