"""What an item says: its data read forgivingly into plain facts, each text through the redactor."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from plait.domain.model import ItemKind, ItemStatus, TurnItem

Scrub = Callable[[str, str], str]
"""Takes the name of the stream a text belongs to and the text; gives what may be shown of it."""

_SETUP = {"system", "developer", "setup", "instructions", "reminder", "system_reminder", "system-reminder"}


class Call(NamedTuple):
    """A tool call, or one part of it. `call_id` pairs parts and is never shown. No output: not answered here."""

    call_id: str | None
    name: str
    input: str
    output: str | None
    status: str


class Command(NamedTuple):
    command: str
    exit_code: int | None
    output: str | None
    cwd: str


class Change(NamedTuple):
    path: str
    change: str
    diff: str


class Step(NamedTuple):
    step: str
    status: str


class Subagent(NamedTuple):
    thread_id: str
    status: str
    result: str


class Compaction(NamedTuple):
    summary: str
    through_run_id: str


Detail = Call | Command | tuple[Change, ...] | tuple[Step, ...] | Subagent | Compaction | None


class Facts(NamedTuple):
    """One item, read and scrubbed. `setup` marks what is no conversation but instructions of the old surroundings."""

    run_id: str
    item_id: str
    kind: ItemKind
    finished: bool
    text: str
    detail: Detail
    decisions: tuple[str, ...]
    questions: tuple[str, ...]
    setup: bool


def read_item(item: TurnItem, scrub: Scrub) -> Facts:
    """Read one item. Unknown or malformed data is taken as text where its kind needs some; nothing raises."""
    data = _object(item.data)
    stream = item.kind.value
    text = scrub(stream, item.text or "")
    return Facts(
        run_id=item.run_id,
        item_id=item.id,
        kind=item.kind,
        finished=item.status is ItemStatus.FINISHED,
        text=text,
        detail=_detail(item, data, scrub),
        decisions=_texts(data, "decisions", scrub),
        questions=_texts(data, "openQuestions", scrub),
        setup=item.kind is ItemKind.OTHER and any(str(data.get(k)).lower() in _SETUP for k in ("role", "type", "kind")),
    )


def _detail(item: TurnItem, data: dict[str, Any], scrub: Scrub) -> Detail:
    raw = "" if data else item.data or ""
    match item.kind:
        case ItemKind.TOOL_CALL:
            return _call(data, raw, scrub)
        case ItemKind.COMMAND:
            return _command(data, raw, scrub)
        case ItemKind.FILE_CHANGE:
            return _changes(data, scrub)
        case ItemKind.PLAN:
            return tuple(
                Step(scrub("step", _line(step, "step", "text", "title")), scrub("status", _line(step, "status")))
                for step in _objects(data.get("steps"), "step")
            )
        case ItemKind.SUBAGENT:
            return Subagent(
                scrub("id", _text(data.get("threadId")) or ""),
                scrub("status", _text(data.get("status")) or ""),
                scrub("result", _text(data.get("result")) or ""),
            )
        case ItemKind.COMPACTION:
            return Compaction(
                scrub("summary", _text(data.get("summary")) or ""), scrub("id", _text(data.get("throughRunId")) or "")
            )
        case _:
            return None


def _call(data: dict[str, Any], raw: str, scrub: Scrub) -> Call:
    output = _text(data.get("output"))
    return Call(
        call_id=_text(data.get("callId")),
        name=scrub("name", _text(data.get("name")) or ""),
        input=scrub("input", _text(data.get("input")) or raw),
        output=None if output is None else scrub("output", output),
        status=scrub("status", _text(data.get("status")) or ""),
    )


def _command(data: dict[str, Any], raw: str, scrub: Scrub) -> Command:
    output = _text(data.get("output"))
    command = data.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in cast("list[Any]", command)):
        command = " ".join(cast("list[str]", command))
    return Command(
        command=scrub("command", _text(command) or raw),
        exit_code=_integer(data.get("exitCode")),
        output=None if output is None else scrub("output", output),
        cwd=scrub("cwd", _text(data.get("cwd")) or ""),
    )


def _changes(data: dict[str, Any], scrub: Scrub) -> tuple[Change, ...]:
    changes = _objects(data.get("changes"), "path") or ([data] if "path" in data else [])
    return tuple(
        Change(
            scrub("path", _line(change, "path")),
            scrub("change", _line(change, "change", "kind") or "update"),
            scrub("diff", _text(change.get("diff")) or ""),
        )
        for change in changes
    )


def _object(data: str | None) -> dict[str, Any]:
    try:
        value: Any = json.loads(data or "{}")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        # A map from path to change, as some providers write it.
        pairs = cast("dict[str, Any]", value).items()
        return [{key: name, **(cast("dict[str, Any]", v) if isinstance(v, dict) else {})} for name, v in pairs]
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    return [cast("dict[str, Any]", v) if isinstance(v, dict) else {key: v} for v in items if v is not None]


def _texts(data: dict[str, Any], key: str, scrub: Scrub) -> tuple[str, ...]:
    value = data.get(key)
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return tuple(scrub(key, text) for text in map(_text, values) if text and text.strip())


def _line(data: dict[str, Any], *keys: str) -> str:
    return next((text for text in (_text(data.get(key)) for key in keys) if text), "")


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return str(type(value).__name__)


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, str) and value.removeprefix("-").isascii() and value.removeprefix("-").isdigit():
        return int(value) if len(value) < 12 else None
    return None
