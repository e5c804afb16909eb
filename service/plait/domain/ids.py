"""Ids: a prefix that names the type, then a UUIDv7. Checked here; made outside the domain."""

import re
from enum import StrEnum

from plait.domain.errors import InvalidInput


class IdKind(StrEnum):
    """The prefix of each type of record."""

    THREAD = "thr"
    RUN = "run"
    ITEM = "itm"
    CHECKPOINT = "cpt"
    PROVIDER_THREAD = "pvt"
    EXECUTION_NODE = "exe"
    TRANSFER = "trf"
    HANDOFF = "hnd"
    RECEIPT = "rcp"
    EVENT = "evt"


_PREFIXES = frozenset(kind.value for kind in IdKind)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def kind_of(value: str) -> IdKind:
    """The type an id names. Raises `InvalidInput` when it is not an id of ours."""
    prefix, _, rest = value.partition("_")
    if prefix in _PREFIXES and _UUID.fullmatch(rest):
        return IdKind(prefix)
    raise InvalidInput(f"{_shown(value)} is not an id; ids look like thr_ followed by a lower-case UUID.")


def require_id(value: str, kind: IdKind, field: str) -> str:
    """The id itself, when it is of the wanted type. Raises `InvalidInput` naming `field` otherwise."""
    if kind_of(value) is not kind:
        raise InvalidInput(f"{field} wants an id that starts with {kind.value}_, got {_shown(value)}.")
    return value


def _shown(value: str) -> str:
    return ascii(value if len(value) <= 60 else value[:57] + "...")
