"""Valid, visible text: what can't be shown or could reorder the frame becomes an escape; where a text may be cut."""

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSHOWABLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\u2028\u2029"  # line and paragraph separators: lines to some readers and not to others
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi controls
    "\ud800-\udfff"  # halves of a pair
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"  # noncharacters, byte order mark, interlinear marks
    "\U000e0000-\U000e007f"  # tags: invisible letters
    "]"
)

_CLUSTER_REACH = 64
"""How far a cut moves, in code points, to spare a grapheme cluster."""


def clean(text: str) -> str:
    """`text` as valid Unicode in which nothing is invisible: `\\r\\n` as newline, the rest as `\\x00` or `\\u2028`."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _UNSHOWABLE.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int) -> str:
    """An excerpt of at most `limit` code points on one line; whitespace collapsed, a cut shown by an ellipsis."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: cut_before(line, limit - 1)] + "…"


def cut_before(text: str, at: int) -> int:
    """The last place at or before `at` where `text` can be cut without splitting a grapheme cluster.

    Standard library only: combining marks, joiners, selectors, skin tones, flags, Hangul jamo. A cluster longer than
    64 code points is cut where asked: it is hostile, and a code point is never split in any case.
    """
    at = max(0, min(at, len(text)))
    for place in range(at, max(-1, at - _CLUSTER_REACH), -1):
        if _is_boundary(text, place):
            return place
    return at


def cut_after(text: str, at: int) -> int:
    """The first place at or after `at` where `text` can be cut without splitting a grapheme cluster."""
    at = max(0, min(at, len(text)))
    for place in range(at, min(len(text), at + _CLUSTER_REACH) + 1):
        if _is_boundary(text, place):
            return place
    return at


def _is_boundary(text: str, place: int) -> bool:
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if after.isascii():
        return True
    if before == "\u200d" or after == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flags_before(text, place) % 2 == 0
    if "\u1160" <= after <= "\u11ff":
        return False
    return not unicodedata.category(after).startswith("M")


def _flags_before(text: str, place: int) -> int:
    count = 0
    while count < _CLUSTER_REACH and place - count > 0 and "\U0001f1e6" <= text[place - count - 1] <= "\U0001f1ff":
        count += 1
    return count
