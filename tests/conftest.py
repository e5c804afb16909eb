"""What every test can ask for: the run's one real Neo4j, and the real service as a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.neo4j import running_neo4j, wipe
from tests.support.service import PLAIT, ServiceProcess, use_endpoint

from plait.localdb import Endpoint


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
