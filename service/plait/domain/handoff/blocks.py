"""From facts to blocks: what is shown as one, or not at all. A call and its result are one block."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plait.domain.handoff.cleaning import one_line
from plait.domain.handoff.passages import without_gap
from plait.domain.handoff.reading import Call, Change, Command, Compaction, Detail, Facts, Step, Subagent
from plait.domain.model import ItemKind

_CLOSING = {"completed", "complete", "success", "succeeded", "ok", "done", "failed", "failure", "error", "errored",
            "denied", "declined", "rejected", "cancelled", "canceled", "timeout", "timed_out"}  # fmt: skip
FAILING = {"failed", "failure", "error", "errored", "denied", "declined", "rejected", "timeout", "timed_out"}
"""Words for the status of a call that did not do what it should."""

_DIFF_LINES, _DIFF_CHARS = 40, 2000
"""A diff with more is large, and never shown."""


class Part(NamedTuple):
    """A heading that always stays, and a text that may be shortened in the middle."""

    label: str
    text: str


class Block(NamedTuple):
    """What goes into a text as a whole, or stays out of it as a whole."""

    run_id: str
    item_id: str
    kind: ItemKind | None
    parts: tuple[Part, ...]


class Answered(NamedTuple):
    """A call with what is known of its result. `output` none: interrupted, when `status` does not say how it ended."""

    run_id: str
    item_id: str
    text: str
    name: str
    input: str
    output: str | None
    status: str

    @property
    def closed(self) -> bool:
        return self.output is not None or self.status.lower() in _CLOSING


class Arranged(NamedTuple):
    """Facts in order, calls joined with their results, and counts of what is never shown."""

    entries: tuple[Facts | Answered, ...]
    never: Counter[str]


def arrange(facts: Iterable[Facts]) -> Arranged:
    """Join calls with their results, and drop what no handoff shows, counting it."""
    never: Counter[str] = Counter()
    entries: list[Facts | Answered] = []
    open_calls: dict[str, int] = {}
    for fact in facts:
        if fact.kind is ItemKind.REASONING:
            never["reasoning"] += 1
        elif fact.setup:
            never["set-up texts"] += 1
        elif isinstance(fact.detail, Call):
            _join(fact, fact.detail, entries, open_calls, never)
        elif (
            not fact.finished
            and not isinstance(fact.detail, Command | Subagent)
            and fact.kind is not ItemKind.FILE_CHANGE
        ):
            never["unfinished texts"] += 1
        else:
            never["unfinished texts"] += not fact.finished and _has_unfinished(fact.detail)
            entries.append(fact)
    return Arranged(tuple(entries), never)


def _has_unfinished(detail: Detail) -> bool:
    """Whether an unfinished item that is shown as interrupted has a text that is not shown."""
    match detail:
        case Command():
            return bool(detail.output)
        case Subagent():
            return bool(detail.result)
        case tuple() as rows:
            return any(isinstance(row, Change) and row.diff for row in rows)
        case _:
            return False


def _join(
    fact: Facts, call: Call, entries: list[Facts | Answered], open_calls: dict[str, int], never: Counter[str]
) -> None:
    output = call.output
    if not fact.finished and output is not None:
        never["unfinished texts"] += 1
        output = None
    status = call.status if fact.finished else ""
    at = open_calls.get(call.call_id) if call.call_id is not None else None
    known = entries[at] if at is not None else None
    asks = bool(call.name or call.input)
    if isinstance(known, Answered) and at is not None and _continues(known, fact, call):
        if output is None and fact.text and not asks and fact.finished:
            output = fact.text
        if output is not None and known.output is not None:
            never["superseded outputs"] += 1
        entries[at] = known._replace(
            name=known.name or call.name,
            input=known.input or call.input,
            output=known.output if output is None else output,
            status=status or known.status,
        )
    elif call.call_id is not None and not asks and call.output is not None:
        never["results without their call"] += 1
    else:
        if call.call_id is not None:
            open_calls[call.call_id] = len(entries)
        entries.append(Answered(fact.run_id, fact.item_id, fact.text, call.name, call.input, output, status))


def _continues(known: Answered, fact: Facts, call: Call) -> bool:
    """Whether an item with the id of an earlier call is about that call, and not a new one (ids are used again)."""
    if not call.name and not call.input:
        return True
    same = call.name in ("", known.name) and call.input in ("", known.input)
    return known.run_id == fact.run_id and (same or not known.closed)


def superseded(entries: Sequence[Facts | Answered]) -> set[int]:
    """The places of the entries whose output is superseded: the same command or call was answered again later."""
    seen: set[tuple[str, str]] = set()
    places: set[int] = set()
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        key = None
        if isinstance(entry, Answered):
            key = (entry.name, entry.input) if entry.name and entry.input and entry.output else None
        elif isinstance(entry.detail, Command) and entry.finished and entry.detail.output:
            key = (f"$ {entry.detail.cwd}", entry.detail.command)
        if key is None:
            continue
        if key in seen:
            places.add(place)
        seen.add(key)
    return places


def to_block(entry: Facts | Answered, is_superseded: bool = False) -> Block | None:
    """The block an entry makes; none when it has nothing to show."""
    if isinstance(entry, Answered):
        return Block(entry.run_id, entry.item_id, ItemKind.TOOL_CALL, _call_parts(entry, is_superseded))
    parts = _parts(entry, is_superseded)
    return Block(entry.run_id, entry.item_id, entry.kind, parts) if parts else None


def _call_parts(call: Answered, is_superseded: bool) -> tuple[Part, ...]:
    name = one_line(without_gap(call.name), 120) or "without a name"
    asked = "\n".join(text for text in (call.text, call.input) if text)
    if call.output is None and not call.closed:
        return Part(f"tool call: {name}", asked), Part("result: none, the call was interrupted", "")
    status = one_line(without_gap(call.status), 40)
    return Part(f"tool call: {name}", asked), _result(status, call.output or "", is_superseded)


def _result(outcome: str, output: str, is_superseded: bool) -> Part:
    label = f"result: {outcome}" if outcome else "result"
    if is_superseded:
        return Part(f"{label} (output superseded by a later one)", "")
    return Part(label if output else f"{label} (no output)", output)


def _parts(fact: Facts, is_superseded: bool) -> tuple[Part, ...]:
    match fact.detail:
        case Command() as command:
            where = f" in {one_line(without_gap(command.cwd), 120)}" if command.cwd else ""
            asked = "\n".join(text for text in (command.command, fact.text) if text)
            if not fact.finished:
                return Part(f"command{where}", asked), Part("result: none, the command was interrupted", "")
            return Part(f"command{where}", asked), _result(
                command_outcome(command), command.output or "", is_superseded
            )
        case Subagent() as child:
            status = (one_line(without_gap(child.status), 40) if fact.finished else "") or "interrupted"
            asked = Part(f"subagent {one_line(without_gap(child.thread_id), 80)}".rstrip(), fact.text)
            return asked, Part(f"result: {status}", child.result if fact.finished else "")
        case Compaction() as compaction:
            text = "\n".join(text for text in (compaction.summary, fact.text) if text)
            through = one_line(without_gap(compaction.through_run_id), 80)
            label = "summary by the provider of all before" + (f", through run {through}" if through else "")
            return (Part(label, text),) if text else ()
        case tuple() as rows if fact.kind is ItemKind.FILE_CHANGE:
            return _file_parts(fact, [row for row in rows if isinstance(row, Change)])
        case tuple() as rows:
            steps = [f"- [{row.status or ' '}] {row.step}" for row in rows if isinstance(row, Step)]
            text = "\n".join([*([fact.text] if fact.text else []), *steps])
            return (Part("plan", text),) if text else ()
        case _:
            return (Part(_LABELS.get(fact.kind, fact.kind.value), fact.text),) if fact.text else ()


_LABELS = {ItemKind.USER_MESSAGE: "user", ItemKind.ASSISTANT_MESSAGE: "assistant"}


def command_outcome(command: Command) -> str:
    return "exit code not known" if command.exit_code is None else f"exit code {command.exit_code}"


def _file_parts(fact: Facts, changes: Sequence[Change]) -> tuple[Part, ...]:
    label = "file change" if fact.finished else "file change, interrupted: may be incomplete"
    texts = [fact.text] if fact.text else []
    for change in changes:
        added, removed = diff_counts(change.diff)
        counts = f" (+{added} -{removed})" if change.diff else ""
        line = f"{change.change} {change.path}{counts}"
        if change.diff and fact.finished:
            line += "\n[large diff left out]" if is_large(change.diff) else f"\n{change.diff}"
        texts.append(line)
    return (Part(label, "\n".join(texts)),) if texts else ()


def is_large(diff: str) -> bool:
    return len(diff) > _DIFF_CHARS or diff.count("\n") > _DIFF_LINES


def diff_counts(diff: str) -> tuple[int, int]:
    """Added and removed lines of a unified diff, its file headings not counted."""
    lines = diff.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return added, removed
