"""Long texts: cut in the middle to a number of tokens, with a mark that says how many characters are missing.

A text whose middle is missing carries a gap inside: NUL, the number of characters, NUL. Clean text has no NUL, so
nothing else can look like one; `shown` turns it into a line of the frame.
"""

import re

from plait.domain.handoff.cleaning import cut_after, cut_before
from plait.domain.tokens import count_tokens

_GAP = re.compile("\x00([0-9]+)\x00")


def with_gap(head: str, missing: int, tail: str) -> str:
    """`head` and `tail` with `missing` characters between them; gaps inside the two are added up."""
    return f"{head}\x00{missing}\x00{tail}" if missing else head + tail


def has_gap(text: str) -> bool:
    return "\x00" in text


def shown(text: str, mark: str) -> str:
    """`text` with its gap as a line of its own that starts with `mark`."""
    return _GAP.sub(lambda gap: f"\n{mark} {gap.group(1)} characters left out\n", text)


def without_gap(text: str) -> str:
    """`text` with an ellipsis in the place of its gap."""
    return _GAP.sub("…", text)


def _tidy_end(text: str, end: int) -> int:
    """A little earlier, after a whole line or word, when there is one near."""
    for separator in "\n ":
        at = text.rfind(separator, max(0, end - min(80, end // 4)), end)
        if at >= 0:
            return at
    return end


def _tidy_start(text: str, start: int) -> int:
    """A little later, before a whole line or word, when there is one near."""
    for separator in "\n ":
        at = text.find(separator, start, start + min(80, (len(text) - start) // 4))
        if at >= 0:
            return at + 1
    return start


def shorten(text: str, tokens: int, mark: str) -> str | None:
    """`text` cut in the middle so that what `shown` makes of it has at most `tokens` tokens; none if it can't be."""
    if count_tokens(shown(text, mark)) <= tokens:
        return text
    gap = _GAP.search(text)
    head, missing, tail = (text, 0, text) if gap is None else (text[: gap.start()], int(gap[1]), text[gap.end() :])
    total = len(text) if gap is None else len(head) + missing + len(tail)

    def cut(keep: int) -> str:
        end = _tidy_end(head, cut_before(head, (keep + 1) // 2))
        start = _tidy_start(tail, cut_after(tail, max(len(tail) - keep // 2, end if gap is None else 0)))
        return with_gap(head[:end], total - end - (len(tail) - start), tail[start:])

    def fits(keep: int) -> bool:
        return count_tokens(shown(cut(keep), mark)) <= tokens

    if not fits(0):
        return None
    # Grows from a small size, so that a megabyte costs no more than what is kept of it.
    low, high = 0, max(16, tokens)
    while high < total and fits(high):
        low, high = high, high * 2
    high = min(high, total)
    while high - low > max(1, low // 64):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return cut(low)
