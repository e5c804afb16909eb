"""The README's own lines, run in a shell as they stand: what it shows is what comes out."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest

from plait.localdb import Endpoint
from plait.settings import Settings
from tests.support.markdown import CHECKOUT, Block, blocks, section, table
from tests.support.service import PLAIT, ServiceProcess, clean_environment, use_endpoint

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
COMMAND = ".venv/bin/plait"
LIMIT_SECONDS = 120


def walk_through() -> list[tuple[Block, str]]:
    """Each block of lines to paste, with what the README says they print."""
    parts = blocks(section(README, "## Walk through it"))
    following = [*parts[1:], Block("", "", "")]
    return [
        (lines, shown.text if shown.language == "text" else "")
        for lines, shown in zip(parts, following, strict=True)
        if lines.language == "bash"
    ]


@pytest.fixture(scope="module")
def address(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service as `make serve` starts it, but for its port and its database."""
    process = ServiceProcess(
        [str(PLAIT), "serve", "--port", "0"], tmp_path_factory.mktemp("readme"), use_endpoint(neo4j_endpoint)
    )
    yield process.wait_ready()
    process.terminate()


@pytest.fixture(scope="module")
def printed(address: str, neo4j_endpoint: Endpoint) -> list[str]:
    """What each block printed, all run in one shell. Only the address and the place of the command are put in."""
    between = "printf '\\036'\n"
    lines = "".join(block.text + between for block, _ in walk_through())
    script = "set -euo pipefail\n" + lines.replace(ADDRESS, address).replace(COMMAND, str(PLAIT))
    done = subprocess.run(
        ["bash", "--norc"],
        input=script,
        cwd=CHECKOUT,
        env=clean_environment(**use_endpoint(neo4j_endpoint)),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout.split("\036")[:-1]


@pytest.mark.parametrize(
    "number", range(len(walk_through())), ids=lambda n: f"{n}-{walk_through()[n][0].heading.replace(' ', '-')}"
)
def test_each_block_prints_what_the_readme_shows(printed: list[str], number: int) -> None:
    _, shown = walk_through()[number]
    # An ellipsis stands for what differs each time: ids, times, hashes, and what is left out for length.
    pattern = ".+?".join(re.escape(part) for part in shown.strip().split("…"))

    found = re.sub(r" +$", "", printed[number], flags=re.MULTILINE).strip()

    assert re.fullmatch(pattern, found, re.DOTALL), f"shown:\n{shown}\nprinted:\n{found}"


def test_the_walk_through_shows_every_outcome_it_promises(printed: list[str]) -> None:
    everything = "".join(printed)

    for word in (
        "NONE",
        "PORTABLE",
        "NATIVE",
        "PENDING",
        "CONSUMED",
        '"totalCount":3',
        "portable_context",
        "2 records",
    ):
        assert word in everything, word


def test_each_line_is_a_whole_command_so_that_it_can_be_pasted_alone() -> None:
    for block, _ in walk_through():
        for line in block.text.splitlines():
            checked = subprocess.run(["bash", "-n"], input=line, capture_output=True, text=True)
            assert checked.returncode == 0, f"{line}\n{checked.stderr}"


def test_it_asks_where_the_service_listens_by_default() -> None:
    settings = Settings.model_fields

    assert f"http://{settings['host'].default}:{settings['port'].default}" == ADDRESS


def test_the_settings_table_is_the_settings() -> None:
    expected = [
        [f"`{setting(name)}`", shown_default(field.default), in_its_words(field.description or "")]
        for name, field in Settings.model_fields.items()
    ]

    assert table(section(README, "## Settings")) == expected


def setting(field: str) -> str:
    return f"PLAIT_{field.upper()}"


def shown_default(default: object) -> str:
    return "none" if default is None else f"`{default}`"


def in_its_words(description: str) -> str:
    """A description with fields named as they are set from outside."""
    named = "|".join(Settings.model_fields)
    return re.sub(rf"`({named})`", lambda field: f"`{setting(field[1])}`", description)


def test_what_it_says_is_missing_is_missing() -> None:
    schema = (CHECKOUT / "schema.graphql").read_text(encoding="utf-8")
    paragraph = re.search(r"\*\*Not there yet:\*\*(.+?)\n\n", README, re.DOTALL)
    assert paragraph is not None
    names = re.findall(r"`(\w+)`", paragraph[1])

    assert names
    assert [name for name in names if re.search(rf"^  {name}\b", schema, re.MULTILINE)] == []
    # The one that is a value and not a field says so itself.
    assert "Plait, through an adapter. Refused for now." in schema
