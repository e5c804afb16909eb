"""A handoff as a person has changed it: their words, with nothing taken out but secrets."""

import hashlib
from typing import NamedTuple

from plait.domain.errors import ErrorCode, InvalidInput
from plait.domain.handoff.redaction import Redactor
from plait.domain.tokens import count_tokens


class RevisedText(NamedTuple):
    """The text as it will be sent, its SHA-256 (hex, of the UTF-8) and its tokens."""

    text: str
    hash: str
    tokens: int


def revise(text: str, budget_tokens: int) -> RevisedText:
    """A person's own text for a handoff. Raises `InvalidInput` with `LIMIT_EXCEEDED` when it is over the budget."""
    # The limit first: a longer text would be cut before it is looked through.
    _require_room(text, budget_tokens)
    redactor = Redactor(budget_tokens)
    redactor.learn("revision", text)
    redactor.close()
    scrubbed = redactor.scrub("revision", text)
    tokens = _require_room(scrubbed, budget_tokens)
    return RevisedText(scrubbed, hashlib.sha256(scrubbed.encode("utf-8")).hexdigest(), tokens)


def _require_room(text: str, budget_tokens: int) -> int:
    tokens = count_tokens(text)
    if tokens > budget_tokens:
        raise InvalidInput(
            f"text takes {tokens} tokens; this handoff may take {budget_tokens} at most.", ErrorCode.LIMIT_EXCEEDED
        )
    return tokens
