"""`plait cypher` as a person meets it: the table, the JSON, where it finds the database, and that it can't write."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.localdb import Endpoint
from tests.support.service import PLAIT, ServiceProcess, clean_environment, use_endpoint

StartPlait = Callable[..., ServiceProcess]


@pytest.fixture
def cypher(neo4j_endpoint: Endpoint) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command against the run's Neo4j."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return plait_cypher(*arguments, **use_endpoint(neo4j_endpoint))

    return run


def plait_cypher(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PLAIT), "cypher", *arguments], env=clean_environment(**variables), capture_output=True, text=True
    )


Cypher = Callable[..., subprocess.CompletedProcess[str]]


def test_the_records_are_a_table_whose_cells_are_never_broken(cypher: Cypher) -> None:
    long = "x" * 300

    done = cypher(
        "UNWIND [[1, 'one'], [2, null], [3, $long]] AS r RETURN r[0] AS n, r[1] AS `a word`", "-p", f"long={long}"
    )

    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip(" \u2500")]
    assert [line.split() for line in lines] == [["n", "a", "word"], ["1", "one"], ["2"], ["3", long], ["3", "records"]]


def test_json_gives_every_kind_of_value_a_line_a_record(cypher: Cypher) -> None:
    statement = """
    RETURN $text AS text, $number + 1 AS number, $flag AS flag, $list[1] AS second, $none AS none,
           datetime('2026-01-02T03:04:05Z') AS time, duration('PT90S') AS length, {a: [1, 2.5]} AS map
    """

    done = cypher(
        statement,
        "--json",
        "-p",
        "text=12 o'clock",
        "-p",
        "number=41",
        "-p",
        "flag=true",
        "-p",
        'list=["a", "b"]',
        "-p",
        "none=null",
    )

    assert json.loads(done.stdout) == {
        "text": "12 o'clock",
        "number": 42,
        "flag": True,
        "second": "b",
        "none": None,
        "time": "2026-01-02T03:04:05.000000000+00:00",
        "length": "PT1M30S",
        "map": {"a": [1, 2.5]},
    }


def test_a_statement_may_come_from_a_file(cypher: Cypher, tmp_path: Path) -> None:
    (tmp_path / "one.cypher").write_text("// A comment.\nRETURN 1 AS one")

    assert json.loads(cypher("--file", str(tmp_path / "one.cypher"), "--json").stdout) == {"one": 1}


@pytest.mark.parametrize(
    "statement", ["CREATE (:Written)", "MATCH (n) SET n.written = true", "CREATE INDEX FOR (n:N) ON (n.x)"]
)
def test_it_can_not_write(cypher: Cypher, statement: str) -> None:
    done = cypher(statement)

    assert done.returncode == 1
    assert done.stderr.startswith("plait: ")
    assert "read access mode" in done.stderr
    assert json.loads(cypher("MATCH (n:Written) RETURN count(n) AS n", "--json").stdout) == {"n": 0}


def test_what_is_wrong_with_a_statement_is_told_and_a_misspelt_name_is_warned_of(cypher: Cypher) -> None:
    wrong = cypher("MATCH (n RETURN n")
    missing = cypher("RETURN $id AS id")
    misspelt = cypher("MATCH (n:Threat) RETURN n.id")

    assert (wrong.returncode, missing.returncode, misspelt.returncode) == (1, 1, 0)
    assert wrong.stderr.startswith("plait: Invalid input")
    assert "Traceback" not in wrong.stderr
    assert "id" in missing.stderr
    assert "Threat" in misspelt.stderr
    warnings = misspelt.stderr.splitlines()
    assert len(warnings) == len(set(warnings))


def test_a_long_answer_is_cut_and_says_so(cypher: Cypher) -> None:
    done = cypher("UNWIND range(1, 2000) AS n RETURN n")

    assert done.stdout.splitlines()[-1].startswith("The first 1000 records")
    assert " 1001" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give a statement, or a file with one."),
        (("RETURN $n AS n", "-p", "n"), "A parameter is given as name=value, not 'n'."),
    ],
)
def test_how_it_is_asked_wrongly_is_told(cypher: Cypher, arguments: tuple[str, ...], told: str) -> None:
    done = cypher(*arguments)

    assert done.returncode != 0
    assert done.stderr == f"plait: {told}\n"


def test_it_finds_the_database_of_the_service_that_runs_on_the_data_folder(
    plait_process: StartPlait, tmp_path: Path
) -> None:
    service = plait_process(data_dir=tmp_path / "data")
    where = ("--data-dir", str(tmp_path / "data"))

    found = plait_cypher("RETURN 1 AS one", "--json", *where)
    assert json.loads(found.stdout) == {"one": 1}

    service.terminate()
    gone = plait_cypher("RETURN 1 AS one", *where)
    assert gone.returncode == 1
    assert gone.stderr == (
        f"plait: No Plait runs on the data folder {tmp_path / 'data'}. "
        "Start one with `plait serve`, name its folder with --data-dir, or set PLAIT_NEO4J_URI.\n"
    )
