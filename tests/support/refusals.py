"""How a refusal must look, whatever it is about."""

from __future__ import annotations

from tests.support.client import Refusal


def check_sentence(refusal: Refusal) -> None:
    """One line for a person, and nothing of the inside."""
    for error in refusal.errors:
        assert set(error) <= {"message", "extensions", "path", "locations"}
        assert set(error["extensions"]) == {"code", "retryable"}
        message = error["message"]
        assert 10 < len(message) <= 1000
        for inside in ("Traceback", 'File "', ".py", "Exception", "neo4j", "Neo.", "pydantic"):
            assert inside not in message
