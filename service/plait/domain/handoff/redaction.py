"""Taking secrets out of texts, in two passes: first all texts are learned, then each is scrubbed.

Two passes, because a secret named once (`password = "…"`) is a secret wherever it stands, and because a secret may be
split over the texts of several items, as streams do.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from detect_secrets.plugins.jwt import JwtTokenDetector

from plait.domain.handoff.cleaning import clean
from plait.domain.handoff.detectors import (
    ASSIGNED,
    JWT,
    KEYWORD,
    KEYWORD_NEEDLES,
    KEYWORDS,
    OPENAI,
    OPENAI_MIDDLE,
    OPENAI_PATTERN,
    PRIVATE_KEY,
    RULES,
    is_placeholder,
)
from plait.domain.handoff.passages import with_gap
from plait.domain.tokens import count_tokens

_WINDOW = 4096
"""How much of a text's ends is looked at for a secret that goes on in a neighbour, in characters."""

_MARGIN = 16_384
"""More than the longest secret, in characters: what is thrown away at the edges of a gap made before scanning."""

_LINE, _OVERLAP = 1000, 300
"""Lines longer than this are scanned in pieces: the keyword patterns are quadratic."""

_MAX_KNOWN = 200
"""How many distinct secret values are looked for everywhere."""

_TOKEN_REST = re.compile(r"[A-Za-z0-9_+/=.-]*[A-Za-z0-9_+/=-]")
_JWT = re.compile(r"(?<![A-Za-z0-9_=-])[A-Za-z0-9_=-]++\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_.+/=-]*)?")
_KEY_NAME = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?(?: ?-{2,5})?"
_KEY_BEGIN = re.compile(rf"(?:-{{2,5}} ?)?BEGIN {_KEY_NAME}|PuTTY-User-Key-File-\d")
_KEY_END = re.compile(rf"(?:-{{2,5}} ?)?END {_KEY_NAME}|Private-MAC: [0-9a-f]+")
_KEY_BODY = re.compile(
    r"(?:[^A-Za-z0-9+/=]{0,8}(?:\\[nr])*"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200}|[A-Za-z0-9+/=]{20,}))+"
)
_KEY_WORD = re.compile(r"[A-Za-z0-9+/=]+")


class Span(NamedTuple):
    """A secret in a text, by character offsets."""

    start: int
    end: int
    type: str


class Redactor:
    """Learns texts, then scrubs them. One for each handoff; it holds no state that outlives it."""

    def __init__(self, budget_tokens: int) -> None:
        self._budget = budget_tokens
        self._prepared: dict[str, tuple[str, int]] = {}
        self._spans: dict[str, list[Span]] = {}
        self._streams: defaultdict[str, list[str]] = defaultdict(list)
        self._known: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def learn(self, stream: str, text: str) -> str:
        """Note a text; texts with the same `stream` are also read as if one went on in the next."""
        if text not in self._prepared:
            self._prepared[text] = self._prepare(text)
            prepared = self._prepared[text][0]
            if prepared not in self._spans:
                self._spans[prepared] = find_secrets(prepared)
                self._remember(prepared)
        self._streams[stream].append(self._prepared[text][0])
        return text

    def close(self) -> None:
        """End of learning: look for what is split over neighbours."""
        for texts in self._streams.values():
            if len(texts) > 1:
                self._find_split(texts)
        self._streams.clear()

    def scrub(self, stream: str, text: str) -> str:
        """A learned text, clean and without its secrets. (`stream` as in `learn`.)"""
        del stream
        prepared, missing = self._prepared[text]
        spans = sorted((*self._spans[prepared], *self._occurrences(prepared)))
        if not missing:
            return self._replace(prepared, spans)
        head_end = prepared.index("\x00")
        tail_start = prepared.rindex("\x00") + 1
        head = self._replace(prepared[:head_end], [s for s in spans if s.end <= head_end])
        tail_spans = [Span(s.start - tail_start, s.end - tail_start, s.type) for s in spans if s.start >= tail_start]
        tail = self._replace(prepared[tail_start:], tail_spans)
        # A secret that the gap cut is not seen as one; its rest is within the margin.
        return with_gap(head[:-_MARGIN], missing + 2 * _MARGIN, tail[_MARGIN:])

    def _prepare(self, text: str) -> tuple[str, int]:
        text = clean(text)
        keep = 3 * self._budget + _MARGIN
        if len(text) <= 2 * keep + _MARGIN or count_tokens(text) <= self._budget:
            return text, 0
        missing = len(text) - 2 * keep
        return with_gap(text[:keep], missing, text[-keep:]), missing

    def _remember(self, text: str) -> None:
        for span in self._spans[text]:
            value = text[span.start : span.end]
            guessed = span.type == KEYWORD
            if len(self._known) < _MAX_KNOWN and 8 <= len(value) <= _WINDOW and (not guessed or _is_random(value)):
                self._known.setdefault(value, span.type)

    def _occurrences(self, text: str) -> Iterator[Span]:
        for value, kind in self._known.items():
            at = text.find(value)
            while at >= 0:
                yield Span(at, at + len(value), kind)
                at = text.find(value, at + len(value))

    def _replace(self, text: str, spans: list[Span]) -> str:
        pieces: list[str] = []
        at = 0
        for span in _merged(spans):
            pieces.append(text[at : span.start])
            pieces.append(f"[redacted: {span.type}]")
            self.counts[span.type] += 1
            at = span.end
        pieces.append(text[at:])
        return "".join(pieces)

    def _find_split(self, texts: list[str]) -> None:
        """Find secrets that begin in one text and end in another, and add to each text its part."""
        joined: list[str] = []
        starts: list[int] = []
        places: list[tuple[str, int]] = []
        length = 0
        for text in texts:
            pieces = (
                [(text, 0)]
                if len(text) <= 2 * _WINDOW
                else [(text[:_WINDOW], 0), (text[-_WINDOW:], len(text) - _WINDOW)]
            )
            for number, (piece, offset) in enumerate(pieces):
                if number:
                    joined.append("\x00")
                    length += 1
                starts.append(length)
                places.append((text, offset))
                joined.append(piece)
                length += len(piece)
        whole = "".join(joined)
        for span in find_tokens(whole):
            first = bisect_right(starts, span.start) - 1
            last = bisect_right(starts, span.end - 1) - 1
            for number in range(first, last + 1) if last > first else ():
                text, offset = places[number]
                begin = max(span.start - starts[number], 0) + offset
                end = min(span.end - starts[number] + offset, len(text))
                if end > begin:
                    self._spans[text].append(Span(begin, end, span.type))


def find_secrets(text: str) -> list[Span]:
    """Every secret in `text`, by all detectors. Linear in the text but for a bounded factor in long hostile lines."""
    return [*find_tokens(text), *_find_assigned(text)]


def find_tokens(text: str) -> list[Span]:
    """The secrets that are recognised by their own shape."""
    lower = text.lower()
    spans: list[Span] = []
    for rule in RULES:
        if rule.needles and not any(needle in lower for needle in rule.needles):
            continue
        for match in rule.pattern.finditer(text):
            start, end = match.span(rule.group)
            if rule.check(text[start:end]):
                spans.append(Span(start, _token_end(text, end) if rule.group == 0 else end, rule.type))
    spans.extend(_find_jwts(text))
    spans.extend(_find_openai(text))
    spans.extend(_find_private_keys(text))
    return spans


def _token_end(text: str, end: int) -> int:
    """Where the word that a token ends in really ends: a pattern may stop short of the last characters."""
    rest = _TOKEN_REST.match(text, end)
    return rest.end() if rest else end


def _find_jwts(text: str) -> Iterator[Span]:
    if "eyJ" not in text:
        return
    for match in _JWT.finditer(text):
        at = match.group().find("eyJ")
        first, _, rest = match.group()[max(at, 0) :].partition(".")
        if at >= 0 and rest and JwtTokenDetector.is_formally_valid(f"{first}.{rest.partition('.')[0]}"):
            yield Span(match.start() + at, match.end(), JWT)


def _find_openai(text: str) -> Iterator[Span]:
    at = text.find(OPENAI_MIDDLE)
    while at >= 0:
        start = max(0, at - 200)
        match = OPENAI_PATTERN.search(text, start, at + 28)
        if match:
            yield Span(match.start(), _token_end(text, match.end()), OPENAI)
        at = text.find(OPENAI_MIDDLE, at + len(OPENAI_MIDDLE))


def _find_private_keys(text: str) -> Iterator[Span]:
    kind = PRIVATE_KEY
    at = 0
    begin = end = None
    while "PRIVATE KEY" in text or "PuTTY" in text:
        # Each is looked for again only once it is passed, so that many beginnings do not cost a search each.
        if begin is None or begin.start() < at:
            begin = _KEY_BEGIN.search(text, at) if begin or at == 0 else None
        if end is None or end.start() < at:
            end = _KEY_END.search(text, at) if end or at == 0 else None
        if end and (begin is None or end.start() < begin.start()):
            # The end of a key whose beginning is not here.
            yield Span(_key_start(text, max(at, end.start() - _MARGIN), end.start()), end.end(), kind)
            at = end.end()
        elif begin:
            other = _KEY_BEGIN.search(text, begin.end())
            limit = min(begin.end() + _MARGIN, other.start() if other else len(text))
            if end and end.start() < limit:
                at = end.end()
            else:
                body = _KEY_BODY.match(text, begin.end())
                at = body.end() if body else begin.end()
            yield Span(begin.start(), at, kind)
        else:
            return


def _key_start(text: str, low: int, high: int) -> int:
    """Where the words before `high` begin that look like the lines of a key; its last line may be short."""
    start = high
    for match in reversed(list(_KEY_WORD.finditer(text, low, high))):
        if len(match.group()) < 20 and start != high and match.start() > 0:
            break
        start = match.start()
    return start


def _find_assigned(text: str) -> Iterator[Span]:
    lower = text.lower()
    if not any(needle in lower for needle in KEYWORD_NEEDLES):
        return
    for start, line in _short_lines(text):
        small = line.lower()
        if not any(needle in small for needle in KEYWORD_NEEDLES):
            continue
        for pattern, group in KEYWORDS:
            for match in pattern.finditer(line):
                if not is_placeholder(match.group(group)):
                    yield Span(start + match.start(group), start + match.end(group), KEYWORD)
        for rule in ASSIGNED:
            for match in rule.pattern.finditer(line):
                value = match.group(rule.group)
                if rule.check(value) and not is_placeholder(value):
                    yield Span(start + match.start(rule.group), start + match.end(rule.group), rule.type)


def _short_lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        for offset in range(0, max(1, len(line) - _OVERLAP), _LINE - _OVERLAP):
            yield start + offset, line[offset : offset + _LINE]
        start += len(line) + 1


def _merged(spans: list[Span]) -> Iterator[Span]:
    current: Span | None = None
    for span in sorted(spans):
        if current is None:
            current = span
        elif span.start < current.end:
            current = current._replace(end=max(current.end, span.end))
        else:
            yield current
            current = span
    if current is not None:
        yield current


def _is_random(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and " " not in value
