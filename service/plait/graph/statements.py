"""The statements of `cypher/`, loaded once: their text, their parameters and their columns."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

_PARAMETER = re.compile(r"^//\s*\$(\w+)\s*:\s*(.+?)\s*$", re.MULTILINE)
_COLUMNS = re.compile(r"^//\s*Columns:\s*(.+?)\s*$", re.MULTILINE)
_PACKAGED = Path(__file__).parent.parent / "cypher"
_CHECKOUT = Path(__file__).parents[3] / "cypher"


@dataclass(frozen=True, slots=True)
class Statement:
    """One `.cypher` file. Its header declares `$parameters` and `Columns:`; a test holds both to the database."""

    name: str
    text: LiteralString
    parameters: frozenset[str]
    columns: tuple[str, ...]


def cypher_folder() -> Path:
    """Where the statements are: inside an installed package, or at the top of a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@cache
def service_statement(name: str) -> Statement:
    """The statement of `cypher/service/<name>.cypher`. Raises `FileNotFoundError` when there is none."""
    text = (cypher_folder() / "service" / f"{name}.cypher").read_text(encoding="utf-8")
    columns = _COLUMNS.search(text)
    return Statement(
        name=name,
        # The one cast of the project: only text of our own files ever becomes a statement.
        text=cast(LiteralString, text),
        parameters=frozenset(match[1] for match in _PARAMETER.finditer(text)),
        columns=tuple(part.strip() for part in columns[1].split(",")) if columns else (),
    )
