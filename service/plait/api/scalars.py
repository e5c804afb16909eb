"""The scalars of the schema: date-times and JSON."""

from datetime import UTC, datetime
from typing import NewType, cast

import orjson
import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition


def _parse_time(value: object) -> datetime:
    if not isinstance(value, str) or len(value) > 40:
        raise GraphQLError("A DateTime is a string such as 2026-01-31T12:00:00Z.")
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise GraphQLError("A DateTime is a string such as 2026-01-31T12:00:00Z.") from None
    if parsed.tzinfo is None:
        raise GraphQLError("A DateTime needs its offset from UTC, such as Z or +02:00.")
    try:
        return parsed.astimezone(UTC)
    except OverflowError:
        raise GraphQLError("A DateTime must lie within the years 1 to 9999 in UTC.") from None


def _show_json(text: object) -> object:
    return orjson.loads(cast("str", text))


Json = NewType("Json", object)
"""Any JSON value. Records hold it as text; inputs come as plain Python values."""

SCALARS: dict[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="A date and time with its offset from UTC, in ISO 8601; answers are in UTC.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time.html",
        serialize=datetime.isoformat,
        parse_value=_parse_time,
    ),
    Json: strawberry.scalar(
        name="JSON",
        description="Any JSON value: object, list, string, number, boolean or null. Integers have at most 64 bits.",
        serialize=_show_json,
    ),
}
