"""The handoff builder: from the items of runs to one bounded, fenced, redacted text with its structured payload."""

from plait.domain.handoff.build import build_handoff
from plait.domain.handoff.records import (
    MIN_HANDOFF_TOKENS,
    BuiltHandoff,
    HandoffPayload,
    HandoffRequest,
    HandoffTooSmall,
    RunContent,
    Told,
)
from plait.domain.handoff.revision import revise

__all__ = [
    "MIN_HANDOFF_TOKENS",
    "BuiltHandoff",
    "HandoffPayload",
    "HandoffRequest",
    "HandoffTooSmall",
    "RunContent",
    "Told",
    "build_handoff",
    "revise",
]
