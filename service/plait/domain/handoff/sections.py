"""The sections above the transcript: decisions, files, commands, plan, questions, failures, results, checkpoint."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plait.domain.handoff.blocks import FAILING, Answered, command_outcome, diff_counts
from plait.domain.handoff.cleaning import one_line
from plait.domain.handoff.passages import without_gap
from plait.domain.handoff.reading import Change, Command, Facts, Step, Subagent
from plait.domain.handoff.records import CommandNoted, FileNoted, Noted, StepNoted, SubagentNoted
from plait.domain.model import ItemKind, Record, RunStatus

_EXCERPT = 240
"""Code points of an excerpt in a digest line or in the payload."""


class Line(NamedTuple):
    """One line of a section: its text, the run it comes from, and its entry in the payload."""

    text: str
    run_id: str
    entry: Record


class Section(NamedTuple):
    """A titled list, oldest line first. `field` is its list in the payload."""

    title: str
    field: str
    lines: tuple[Line, ...]


class RunEnd(NamedTuple):
    """How a run ended; `reason` is scrubbed."""

    run_id: str
    provider: str
    status: RunStatus
    reason: str


def build_sections(entries: Sequence[Facts | Answered], ends: Iterable[RunEnd]) -> tuple[Section, ...]:
    """Every section that has a line, in the order of a handoff."""
    facts = [entry for entry in entries if isinstance(entry, Facts)]
    sections = (
        Section("Decisions", "decisions", _noted(facts, "decisions")),
        Section("Files changed", "files_changed", _files(facts)),
        Section("Commands and tests, latest outcome of each", "commands", _commands(facts)),
        Section("Plan, as it was last", "plan", _plan(facts)),
        Section("Open questions", "open_questions", _noted(facts, "questions")),
        Section("Failures", "failures", _failures(entries, ends)),
        Section("Subagent results", "subagent_results", _subagents(facts)),
    )
    return tuple(section for section in sections if section.lines)


def excerpt(text: str) -> str:
    return one_line(without_gap(text), _EXCERPT)


def _noted(facts: Iterable[Facts], field: str) -> tuple[Line, ...]:
    lines: dict[str, Line] = {}
    for fact in facts:
        if not fact.finished:
            continue
        for text in fact.decisions if field == "decisions" else fact.questions:
            lines.setdefault(text, Line(text, fact.run_id, _note(text, fact.run_id, fact.item_id)))
    return tuple(lines.values())


def _note(text: str, run_id: str, item_id: str | None) -> Noted:
    return Noted(text=excerpt(text), run_id=run_id, item_id=item_id)


def _files(facts: Iterable[Facts]) -> tuple[Line, ...]:
    latest: dict[str, tuple[Facts, Change, int, int]] = {}
    for fact in facts:
        if fact.kind is not ItemKind.FILE_CHANGE or not fact.finished or not isinstance(fact.detail, tuple):
            continue
        for change in fact.detail:
            if not isinstance(change, Change) or not change.path:
                continue
            added, removed = diff_counts(change.diff)
            before = latest.pop(change.path, None)
            if before:
                added, removed = added + before[2], removed + before[3]
            latest[change.path] = (fact, change, added, removed)
    return tuple(_file_line(*row) for row in latest.values())


def _file_line(fact: Facts, change: Change, added: int, removed: int) -> Line:
    path, kind = excerpt(change.path), one_line(without_gap(change.change), 40)
    counts = f" (+{added} -{removed})" if added or removed else ""
    entry = FileNoted(path=path, change=kind, added=added, removed=removed, run_id=fact.run_id, item_id=fact.item_id)
    return Line(f"{kind} {path}{counts}", fact.run_id, entry)


def _commands(facts: Iterable[Facts]) -> tuple[Line, ...]:
    latest: dict[tuple[str, str], tuple[Facts, Command, int]] = {}
    for fact in facts:
        if isinstance(fact.detail, Command) and fact.detail.command:
            key = (fact.detail.cwd, fact.detail.command)
            before = latest.pop(key, None)
            latest[key] = (fact, fact.detail, 1 + (before[2] if before else 0))
    return tuple(_command_line(*row) for row in latest.values())


def _command_line(fact: Facts, command: Command, times: int) -> Line:
    outcome = command_outcome(command) if fact.finished else "interrupted"
    text = excerpt(command.command)
    entry = CommandNoted(
        command=text,
        outcome=outcome,
        exit_code=command.exit_code if fact.finished else None,
        times=times,
        run_id=fact.run_id,
        item_id=fact.item_id,
    )
    often = f", the last of {times} times" if times > 1 else ""
    return Line(f"{text}: {outcome}{often}", fact.run_id, entry)


def _plan(facts: Sequence[Facts]) -> tuple[Line, ...]:
    for fact in reversed(facts):
        if fact.kind is ItemKind.PLAN and isinstance(fact.detail, tuple) and fact.detail:
            return tuple(_step_line(fact, row) for row in fact.detail if isinstance(row, Step))
    return ()


def _step_line(fact: Facts, row: Step) -> Line:
    entry = StepNoted(
        step=excerpt(row.step), status=one_line(without_gap(row.status), 40), run_id=fact.run_id, item_id=fact.item_id
    )
    return Line(f"[{row.status or ' '}] {row.step}", fact.run_id, entry)


def _failures(entries: Iterable[Facts | Answered], ends: Iterable[RunEnd]) -> tuple[Line, ...]:
    lines: dict[tuple[str, str], Line] = {}
    for entry in entries:
        if isinstance(entry, Answered):
            key = (entry.name, entry.input)
            lines.pop(key, None)
            if entry.status.lower() in FAILING:
                text = f"tool {excerpt(entry.name)}: {entry.status.lower()}"
                lines[key] = Line(text, entry.run_id, _note(text, entry.run_id, entry.item_id))
        elif isinstance(entry.detail, Command) and entry.finished:
            key = (f"$ {entry.detail.cwd}", entry.detail.command)
            lines.pop(key, None)
            if entry.detail.exit_code:
                text = f"{excerpt(entry.detail.command)}: {command_outcome(entry.detail)}"
                lines[key] = Line(text, entry.run_id, _note(text, entry.run_id, entry.item_id))
        elif entry.kind is ItemKind.ERROR and entry.text:
            text = excerpt(entry.text)
            lines[(entry.item_id, "")] = Line(text, entry.run_id, _note(text, entry.run_id, entry.item_id))
    for end in ends:
        if end.status in (RunStatus.FAILED, RunStatus.INTERRUPTED):
            text = f"the run ended {end.status.value}" + (f": {excerpt(end.reason)}" if end.reason else "")
            lines[(end.run_id, "run")] = Line(text, end.run_id, _note(text, end.run_id, None))
    return tuple(lines.values())


def _subagents(facts: Iterable[Facts]) -> tuple[Line, ...]:
    latest: dict[str, tuple[Facts, Subagent]] = {}
    for fact in facts:
        if isinstance(fact.detail, Subagent):
            key = fact.detail.thread_id or fact.item_id
            latest.pop(key, None)
            latest[key] = (fact, fact.detail)
    return tuple(_subagent_line(*row) for row in latest.values())


def _subagent_line(fact: Facts, child: Subagent) -> Line:
    status = (one_line(without_gap(child.status), 40) if fact.finished else "") or "interrupted"
    result = excerpt(child.result) if fact.finished else ""
    entry = SubagentNoted(
        thread_id=one_line(without_gap(child.thread_id), 80),
        status=status,
        result=result,
        run_id=fact.run_id,
        item_id=fact.item_id,
    )
    said = f": {result}" if result else ""
    return Line(f"{entry.thread_id or 'subagent'}, {status}{said}", fact.run_id, entry)
