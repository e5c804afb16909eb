"""A record as the property map of its node."""

from typing import Any

from plait.domain.model import Record


def properties(record: Record) -> dict[str, Any]:
    """Camel-case properties; times stay times, enumerations become their text, and what is unset is left out."""
    return {key: value for key, value in record.model_dump(by_alias=True).items() if value is not None}
