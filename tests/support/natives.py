"""Stand-ins of providers that carry out plans to the letter, and know only what they were really told.

A native thread is a list of turns. What a turn knows is read from the texts: every text a test sends holds one mark.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

_MARK = re.compile(r"\bmark(\d+)\b")


def marks(text: str | None) -> list[int]:
    """The marks in a text, each once, in the order they first come."""
    return list(dict.fromkeys(int(found) for found in _MARK.findall(text or "")))


@dataclass
class Turn:
    """A turn of a native thread: what was put before the message, and what was said in the turn itself."""

    id: str
    injected: list[int]
    said: list[int] = field(default_factory=list[int])


@dataclass
class Natives:
    """Every native thread there is, by its id."""

    tag: str
    threads: dict[str, list[Turn]] = field(default_factory=dict[str, list[Turn]])
    _numbers: Any = field(default_factory=itertools.count)

    def take(self, plan: dict[str, Any]) -> tuple[str, Turn]:
        """Begins a turn as the plan says: in the thread it resumes, in a fork of one, or in a new one."""
        number = next(self._numbers)
        turn = Turn(f"{self.tag}-turn-{number}", marks(plan["injected"]))
        if plan["resume"]:
            native = plan["resume"]["nativeThreadId"]
            before = self.threads[native]
        elif plan["nativeFork"]:
            native = f"{self.tag}-thread-{number}"
            origin = self.threads[plan["nativeFork"]["nativeThreadId"]]
            at = [known.id for known in origin].index(plan["nativeFork"]["lastTurnId"])
            assert plan["nativeFork"]["laterTerminalTurns"] == len(origin) - at - 1
            before = origin[: at + 1]
        else:
            native, before = f"{self.tag}-thread-{number}", []
        self.threads[native] = [*before, turn]
        return native, turn

    def knows(self, native: str) -> list[int]:
        """All that the native thread was told or said, in order."""
        return [mark for turn in self.threads[native] for mark in (*turn.injected, *turn.said)]
