"""The statements of `cypher/`, loaded once: their text, the types of their parameters, and their columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from types import NoneType
from typing import LiteralString, cast

_PARAMETER = re.compile(r"^// \$(\w+): (.+)$", re.MULTILINE)
_COLUMNS = re.compile(r"^// Columns: (.+)$", re.MULTILINE)
_PACKAGED = Path(__file__).parent.parent / "cypher"
_CHECKOUT = Path(__file__).parents[3] / "cypher"

PARAMETER_TYPES: Mapping[str, tuple[type, ...]] = {
    "STRING": (str, NoneType),
    "INTEGER": (int,),
    "BOOLEAN": (bool,),
    "MAP": (dict,),
    "LIST<STRING>": (list,),
    "LIST<MAP>": (list,),
    "ZONED DATETIME": (datetime, NoneType),
}
"""What a header may declare, and the Python types that fit. As in Cypher, a text or a time may be null."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One `.cypher` file. Its header declares `$parameters` and `Columns:`; a test holds both to the database."""

    name: str
    text: LiteralString
    parameters: Mapping[str, tuple[type, ...]]
    columns: tuple[str, ...]

    def check(self, given: Mapping[str, object]) -> None:
        """Raises `TypeError` when `given` are not the declared parameters: our own mistake, never a caller's."""
        if given.keys() != self.parameters.keys():
            raise TypeError(f"{self.name}: parameters differ in {sorted(given.keys() ^ self.parameters.keys())}")
        for name, kinds in self.parameters.items():
            if not isinstance(given[name], kinds):
                raise TypeError(f"{self.name}: ${name} can't be {type(given[name]).__name__}")


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
        parameters={match[1]: PARAMETER_TYPES[match[2].strip()] for match in _PARAMETER.finditer(text)},
        columns=tuple(part.strip() for part in columns[1].split(",")) if columns else (),
    )
