"""The documents against what they speak of: links, commands, tables."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

import pytest

import plait
from plait.api.codes import AnyCode
from plait.cli.main import app
from plait.domain.errors import StorageUnavailable
from tests.support.markdown import CHECKOUT, anchors, blocks, documents, links, section, table

NOT_RUN = {
    "make serve": "runs until it is stopped; tests/cli and the walk-through run the `plait serve` it stands for",
    "PLAIT_NEO4J_PASSWORD=… docker compose up --build": "needs Docker; tests/packaging holds its files",
    'PLAIT_PROVIDERS=\'{"codex-work": {"driver": "codex"}}\' make serve': "tests/docs runs the service with it",
    "make install": "the first line of .ci/run",
    "make check": "the second line of .ci/run",
    "make test": "runs this test",
}
"""Lines of the documents that no test runs as they stand, and why. All others are in the README's walk-through."""


def names(files: list[Path]) -> list[str]:
    return [file.relative_to(CHECKOUT).as_posix() for file in files]


def read(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", names(documents()))
def test_every_link_leads_somewhere(name: str) -> None:
    file = CHECKOUT / name
    for link in links(file.read_text(encoding="utf-8")):
        assert "://" not in link, f"{link} leads out of the project"
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), link
        assert CHECKOUT in target.parents, link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_every_document_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    new = {CHECKOUT / "README.md"}
    while new:
        reached |= new
        found = {
            (file.parent / link.partition("#")[0]).resolve()
            for file in new
            for link in links(file.read_text(encoding="utf-8"))
        }
        folders = {file for place in found if place.is_dir() for file in place.glob("*.md")}
        new = {file for file in found | folders if file.suffix == ".md"} - reached
    assert reached == set(documents())


def test_every_command_of_a_document_is_run_or_has_a_reason_not_to_be() -> None:
    walk_through = {block.text for block in blocks(section(read("README.md"), "## Walk through it"))}
    told: set[str] = set()
    for file in documents():
        for block in blocks(file.read_text(encoding="utf-8")):
            if block.language in ("sh", "bash") and block.text not in walk_through:
                told.update(block.text.splitlines())
            assert block.language in ("sh", "bash", "text", "json"), f"{file.name}: {block.language}"

    assert told == NOT_RUN.keys()


def test_what_is_named_in_passing_exists() -> None:
    everything = "\n".join(file.read_text(encoding="utf-8") for file in documents())
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    commands = {(c.name or c.callback.__name__.replace("_", "-")) for c in app.registered_commands if c.callback}

    assert set(re.findall(r"`make ([a-z]+)", everything)) <= targets
    assert set(re.findall(r"`plait ([a-z-]+)", everything)) <= commands


class TestErrors:
    TEXT = read("docs/errors.md")

    def test_the_table_has_every_code_once_in_the_order_of_the_api(self) -> None:
        assert [row[0].strip("`") for row in table(self.TEXT)] == [code.value for code in AnyCode]

    def test_a_code_is_retryable_where_the_service_says_so(self) -> None:
        told = {row[0].strip("`") for row in table(self.TEXT) if row[2] == "yes"}

        assert {row[2] for row in table(self.TEXT)} == {"yes", "no"}
        assert told == {"STORAGE_UNAVAILABLE", "STORAGE_TIMEOUT"} | set(retryable_refusals())
        assert StorageUnavailable("").retryable


def retryable_refusals() -> list[str]:
    """The codes that the service's sources refuse with as retryable."""
    found: list[str] = []
    for file in Path(plait.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(
                word.arg == "retryable" and isinstance(word.value, ast.Constant) and word.value.value is True
                for word in node.keywords
            ):
                found += [arg.attr for arg in node.args if isinstance(arg, ast.Attribute)]
    return found


def test_the_situations_are_those_that_have_tests() -> None:
    rows = table(section(read("docs/semantics.md"), "## Situations"))
    files = sorted((CHECKOUT / "tests" / "situations").glob("test_*.py"))

    told = [(int(row[0]), re.findall(r"\((.+?)\)", row[3])[0]) for row in rows]

    assert told == [(int(file.name.split("_")[1]), f"../tests/situations/{file.name}") for file in files]


def test_the_parts_of_the_architecture_are_those_of_the_import_contract() -> None:
    parts = {row[0].strip("`") for row in table(section(read("docs/architecture.md"), "## The parts"))}
    contract = configparser.ConfigParser()
    contract.read(CHECKOUT / ".importlinter")
    layers = contract["importlinter:contract:layers"]["layers"]

    assert parts | {"settings"} == set(re.findall(r"\w+", layers))


def test_the_places_of_contributing_are_those_of_the_checkout() -> None:
    rows = table(section(read("CONTRIBUTING.md"), "## Where things are"))
    places = {row[0].strip("`") for row in rows}

    assert [place for place in places if not (CHECKOUT / place).exists()] == []
    parts = {
        f"service/plait/{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in (CHECKOUT / "service" / "plait").iterdir()
        if not entry.name.startswith((".", "_")) and entry.name != "py.typed"
    }
    assert parts <= places


def test_the_folders_of_tests_are_told() -> None:
    told = set(re.findall(r"`tests/(\w+)`", section(read("CONTRIBUTING.md"), "## Tests")))
    folders = {entry.name for entry in (CHECKOUT / "tests").iterdir() if entry.is_dir() and entry.name[0] not in "._"}

    assert told == folders


def test_decisions_are_numbered_without_a_gap_and_say_what_follows() -> None:
    files = sorted((CHECKOUT / "docs" / "decisions").glob("*.md"))

    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(file.name[:4])}. ")
        assert [word for word in ("**Context.**", "**Decision.**", "**So.**") if word not in text] == []
