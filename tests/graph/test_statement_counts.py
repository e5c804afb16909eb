"""How many statements each command and each hot query takes: a fixed number, however large the tree is.

A number that grows with the data is what makes a service slow on the day it matters; one that grows by accident is
seen here first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from plait.graph.statements import cypher_folder
from plait.localdb import Endpoint
from tests.crash.attempts import Undisturbed, undisturbed
from tests.crash.bench import Bench, opened_bench
from tests.support.client import key
from tests.support.commands import CASES, Case

NAMES = {file.read_text(encoding="utf-8"): file.stem for file in (cypher_folder() / "service").glob("*.cypher")}


@pytest.fixture(scope="module")
def bench(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened_bench(neo4j_endpoint, tmp_path_factory.mktemp("bench")) as made:
        made.empty()
        yield made


@pytest.fixture(scope="module")
def right(bench: Bench) -> dict[str, Undisturbed]:
    return undisturbed(bench, CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_x(right: dict[str, Undisturbed], case: Case) -> None:
    print(case.name, [NAMES[s] for s in right[case.name].statements])
