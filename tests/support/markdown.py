"""What the tests of documents read in them: fenced blocks, tables, links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents() -> list[Path]:
    """Every document of the project, by its place."""
    return sorted([CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").rglob("*.md")])


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text, with the heading it stands under."""

    heading: str
    language: str
    text: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    return [Block(_heading(text[: found.start()]), found[1], found[2]) for found in _FENCE.finditer(text)]


def without_blocks(text: str) -> str:
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    """The targets of the links in a document's prose."""
    return _LINK.findall(without_blocks(text))


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    start = text.index(f"\n{heading}\n") + len(heading) + 2
    following = re.search(rf"^#{{1,{level}}} ", text[start:], re.MULTILINE)
    return text[start : start + following.start()] if following else text[start:]


def table(text: str) -> list[list[str]]:
    """The rows of the first table of a text, its head left out."""
    lines = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert lines is not None, "there is no table"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in lines[0].splitlines()[2:]]


def anchors(text: str) -> set[str]:
    """The anchors that headings make."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _heading(before: str) -> str:
    return (re.findall(r"^#+ (.+)$", _FENCE.sub("", before), re.MULTILINE) or [""])[-1]
