"""The bench that these tests work at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plait.localdb import Endpoint
from tests.crash.bench import Bench, opened_bench


@pytest.fixture(scope="module")
def bench(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened_bench(neo4j_endpoint, tmp_path_factory.mktemp("bench"), spare=True) as made:
        yield made
