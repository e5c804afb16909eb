"""The Neo4j that these tests may do anything to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plait.localdb import LocalNeo4j
from plait.settings import Settings


@pytest.fixture(scope="session")
def own_neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """A Neo4j besides the run's one: for tests that kill it or take its schema away."""
    with LocalNeo4j(Settings(data_dir=tmp_path_factory.mktemp("own-neo4j"), neo4j_uri=None, local_bolt_port=0)) as own:
        yield own
