"""Checks of single values that clients send: texts, names, ids, JSON. Each raises `InvalidInput` naming the field."""

import math
from collections.abc import Iterable
from typing import cast

import orjson
from pydantic import JsonValue

from plait.domain.errors import ErrorCode, InvalidInput
from plait.domain.ids import IdKind, require_id
from plait.domain.planning import PROVIDER_KEY

MAX_JSON_DEPTH = 100
MAX_KEY = 200


def record_id(value: str, kind: IdKind, field: str) -> str:
    """An id of this type."""
    try:
        return require_id(value, kind, field)
    except InvalidInput as error:
        raise error if error.message.startswith(field) else InvalidInput(f"{field}: {error.message}") from None


def optional_id(value: str | None, kind: IdKind, field: str) -> str | None:
    return None if value is None else record_id(value, kind, field)


def mutation_key(value: str | None) -> str | None:
    """A `clientMutationId`."""
    return None if value is None else line(value, "clientMutationId", MAX_KEY)


def provider_key(value: str, field: str = "provider") -> str:
    if not PROVIDER_KEY.fullmatch(value):
        raise InvalidInput(f"{field} is a key of 1 to 64 letters a-z, digits, dots, dashes and underscores.")
    return value


def optional_line(value: str | None, field: str, longest: int) -> str | None:
    return None if value is None else line(value, field, longest)


def line(value: str, field: str, longest: int) -> str:
    """A short text that names something: not empty, at most `longest` characters, no NUL."""
    if not value:
        raise InvalidInput(f"{field} must not be empty.")
    return title(value, field, longest)


def title(value: str, field: str, longest: int) -> str:
    """A short text that may be empty."""
    _utf8(value, field)
    if len(value) > longest:
        raise InvalidInput(
            f"{field} may have {longest} characters at most, got {len(value)}.", ErrorCode.LIMIT_EXCEEDED
        )
    if "\0" in value:
        raise InvalidInput(f"{field} must not hold a NUL character.")
    return value


def text(value: str, field: str, max_bytes: int) -> str:
    """A text of any content, at most `max_bytes` of UTF-8."""
    size = _utf8(value, field)
    if size > max_bytes:
        raise InvalidInput(f"{field} may have {max_bytes} bytes at most, got {size}.", ErrorCode.LIMIT_EXCEEDED)
    return value


def optional_text(value: str | None, field: str, max_bytes: int) -> str | None:
    return None if value is None else text(value, field, max_bytes)


def filled_text(value: str, field: str, max_bytes: int) -> str:
    """A text that says something."""
    if not value.strip():
        raise InvalidInput(f"{field} must not be blank.")
    return text(value, field, max_bytes)


def count(value: int, field: str) -> int:
    if value < 0:
        raise InvalidInput(f"{field} must not be negative, got {value}.")
    return value


def json_value(value: object, field: str, max_bytes: int) -> JsonValue:
    """JSON that comes back as it was given: finite numbers, 64-bit integers, valid text, no endless nesting."""
    level: list[object] = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [inner for outer in level for inner in _inside(outer, field)]
        if not level:
            break
    else:
        raise InvalidInput(f"{field} is nested more than {MAX_JSON_DEPTH} deep.", ErrorCode.LIMIT_EXCEEDED)
    try:
        size = len(orjson.dumps(value))
    except (orjson.JSONEncodeError, UnicodeEncodeError):
        raise InvalidInput(
            f"{field} holds an integer of more than 64 bits, or text that is not valid Unicode."
        ) from None
    if size > max_bytes:
        raise InvalidInput(f"{field} may have {max_bytes} bytes at most, got {size}.", ErrorCode.LIMIT_EXCEEDED)
    return cast("JsonValue", value)


def _inside(value: object, field: str) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{field} holds a number that is too large.")
    return ()


def _utf8(value: str, field: str) -> int:
    """The bytes `value` takes."""
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput(f"{field} holds half of a surrogate pair, which is not valid Unicode.") from None
