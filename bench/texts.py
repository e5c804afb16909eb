"""Messages and answers of a wanted size, the same ones in every run of the benchmarks."""

from __future__ import annotations

import random
from dataclasses import dataclass

from plait.domain.tokens import count_tokens

_TEXT = (
    "the build fails on a test of the parser because it reads one token too many after a comment so we keep where "
    "the line began and compare it before moving on which also mends the column in errors while two callers still "
    "rely on old names in config.py and need a note in docs before release 2.4 removes them"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a run holds: a message and an answer, with their tokens."""

    message: str
    answer: str
    message_tokens: int
    answer_tokens: int

    @property
    def tokens(self) -> int:
        return self.message_tokens + self.answer_tokens


def exchanges(message_words: int, answer_words: int, count: int = 64) -> tuple[Exchange, ...]:
    """`count` different exchanges; a word is about 1.1 tokens."""
    words_known = _TEXT.split()
    source = random.Random(count)

    def text(words: int) -> str:
        return " ".join(source.choice(words_known) for _ in range(words))

    pairs = [(text(message_words), text(answer_words)) for _ in range(count)]
    return tuple(Exchange(m, a, count_tokens(m), count_tokens(a)) for m, a in pairs)


SHORT = exchanges(3, 5)
REALISTIC = exchanges(40, 185)
"""About 250 tokens a run."""
