"""The bench that these tests work at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plait.localdb import Endpoint, LocalNeo4j
from plait.settings import Settings
from tests.crash.bench import Bench, opened_bench


@pytest.fixture(scope="module")
def bench(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened_bench(neo4j_endpoint, tmp_path_factory.mktemp("bench"), spare=True) as made:
        yield made


@pytest.fixture(scope="session")
def own_neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """A Neo4j besides the run's one: for tests that kill it or take its schema away."""
    with LocalNeo4j(Settings(data_dir=tmp_path_factory.mktemp("own-neo4j"), neo4j_uri=None, local_bolt_port=0)) as own:
        yield own
