"""From what went wrong to what the client is told: a sentence, a code, whether to try again, and nothing internal."""

from collections.abc import Iterable
from typing import TypeAlias, cast

import structlog
from graphql import GraphQLError
from uuid_utils import uuid7

from plait.api.codes import Code
from plait.domain.errors import ErrorCode, PlaitError

JsonObject: TypeAlias = dict[str, object]

MAX_MESSAGE = 1_000
MASKED = "Something went wrong here. The log has more under this errorId."

_log = cast("structlog.stdlib.BoundLogger", structlog.get_logger(__name__))


def refusal(code: Code, message: str, *, retryable: bool = False) -> JsonObject:
    """An entry of `errors` that belongs to no field."""
    return {"message": message, "extensions": {"code": code.value, "retryable": retryable}}


def request_errors(errors: Iterable[GraphQLError], code: Code) -> list[JsonObject]:
    """What graphql-core found wrong with a document."""
    return [_with_place(refusal(code, _shortened(error.message)), error) for error in errors]


def field_errors(errors: Iterable[GraphQLError]) -> list[JsonObject]:
    """What went wrong when an operation was carried out."""
    return [_with_place(_told(error), error) for error in errors]


def masked(error: BaseException) -> JsonObject:
    """An entry for an error nobody foresaw: the log gets it whole, the client its id."""
    error_id = str(uuid7())
    _log.error("internal_error", error_id=error_id, exc_info=error)
    entry = refusal(ErrorCode.INTERNAL_ERROR, MASKED)
    cast("JsonObject", entry["extensions"])["errorId"] = error_id
    return entry


def _told(error: GraphQLError) -> JsonObject:
    cause = error.original_error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    if isinstance(cause, PlaitError):
        return refusal(cause.code, cause.message, retryable=cause.retryable)
    if cause is None:  # graphql-core's own word on variables and arguments
        return refusal(ErrorCode.INVALID_INPUT, _shortened(error.message))
    return masked(cause)


def _with_place(entry: JsonObject, error: GraphQLError) -> JsonObject:
    if error.path:
        entry["path"] = error.path
    if error.locations:
        entry["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    return entry


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
