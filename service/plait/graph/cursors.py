"""Opaque cursors: a place in one list, by its immutable keys. A cursor of another list is refused."""

import base64
import binascii
from typing import cast

import orjson

from plait.domain.errors import InvalidInput

Key = str | int
_LONGEST = 400


def encode_cursor(scope: str, *keys: Key) -> str:
    """The cursor of the entry with these keys in the list `scope`."""
    return base64.urlsafe_b64encode(orjson.dumps([scope, *keys])).decode().rstrip("=")


def decode_cursor(cursor: str, scope: str, *kinds: type[Key]) -> tuple[Key, ...]:
    """The keys in a cursor of the list `scope`. Raises `InvalidInput` for anything else."""
    wrong = InvalidInput("The cursor does not belong to this list; take cursors from pageInfo of the same query.")
    if len(cursor) > _LONGEST:
        raise wrong
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as error:
        raise wrong from error
    if not isinstance(parts, list):
        raise wrong
    found, *keys = cast(list[Key], parts) or [""]
    if found != scope or len(keys) != len(kinds):
        raise wrong
    if any(type(key) is not kind for key, kind in zip(keys, kinds, strict=True)):
        raise wrong
    if any(isinstance(key, int) and not 0 <= key < 2**63 for key in keys):
        raise wrong
    return tuple(keys)
