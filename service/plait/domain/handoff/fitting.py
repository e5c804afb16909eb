"""Fitting into a budget: everything if it fits, else the first request, a digest, and the newest items that do."""

from collections.abc import Sequence
from typing import NamedTuple

from plait.domain.budgets import share_out
from plait.domain.handoff.blocks import Block
from plait.domain.handoff.frame import Frame
from plait.domain.handoff.layout import (
    Choice,
    everything,
    is_pointer,
    lay_out,
    note_text,
    section_text,
    title_text,
)
from plait.domain.handoff.material import Material, RunPart
from plait.domain.handoff.passages import shorten
from plait.domain.handoff.records import HandoffTooSmall
from plait.domain.handoff.sections import Line, Section
from plait.domain.model import HandoffKind, ItemKind
from plait.domain.tokens import count_tokens

_TRIES = 8
_WEIGHTS = {"goal": 25, "sections": 20, "checkpoint": 15, "notes": 8, "title": 2, "summary": 15, "transcript": 30}
"""How the room is shared by those who want more than there is; a checkpoint's weight doubles in its own kind."""
_CALLS = {ItemKind.TOOL_CALL, ItemKind.COMMAND, ItemKind.FILE_CHANGE}


class Fitted(NamedTuple):
    """The text, its exact tokens, and what it shows."""

    text: str
    tokens: int
    choice: Choice


class Costs(NamedTuple):
    """Tokens: of each block of each run, of the runs' headings, and of all that each claimant could show."""

    blocks: list[list[int]]
    heads: list[int]
    wants: dict[str, int]


def fit(material: Material, frame: Frame, budget: int) -> Fitted:
    """The fullest text of at most `budget` tokens. Raises `HandoffTooSmall` when even the frame is larger."""
    whole = _laid_out(material, frame, everything(material))
    if whole.tokens <= budget:
        return whole
    # The mark of what is left out is known only after the choice, and tokens of pieces do not quite add up to those
    # of the whole: so the whole is counted and the room corrected.
    costs = _measure(material, frame)
    room = budget - count_tokens(frame.opening) - count_tokens(frame.closing)
    for attempt in range(_TRIES):
        fitted = _laid_out(material, frame, _choose(material, frame, room, costs))
        if fitted.tokens <= budget:
            return fitted
        room -= fitted.tokens - budget + 4 * attempt
        if room <= 0:
            break
    least = _laid_out(material, frame, Choice(tail_from=len(material.runs)))
    if least.tokens <= budget:
        return least
    raise HandoffTooSmall(budget, least.tokens)


def _laid_out(material: Material, frame: Frame, choice: Choice) -> Fitted:
    text = lay_out(material, frame, choice)
    return Fitted(text, count_tokens(text), choice)


def _measure(material: Material, frame: Frame) -> Costs:
    blocks = [[_cost(frame, block) for block in run.blocks] for run in material.runs]
    heads = [count_tokens(frame.line(run.label)) for run in material.runs]
    wants = {
        "goal": _cost(frame, material.goal),
        "sections": sum(count_tokens(section_text(frame, s, s.lines)) for s in material.sections),
        "checkpoint": _cost(frame, material.checkpoint),
        "notes": sum(count_tokens(note_text(frame, note)) for note in material.notes),
        "title": count_tokens(title_text(frame, material)) if material.title else 0,
        "transcript": sum(map(sum, blocks)) + sum(heads),
    }
    return Costs(blocks, heads, wants)


def _choose(material: Material, frame: Frame, room: int, costs: Costs) -> Choice:
    """A choice of about `room` tokens. Tried without a summary in the gap first: it may stand in the tail anyway."""
    summary = _latest_summary(material.runs)
    choice = _choose_with(material, frame, room, costs, None)
    if summary is None or _in_tail(choice, summary[1]):
        return choice
    return _choose_with(material, frame, room, costs, summary[1])


def _in_tail(choice: Choice, block: Block) -> bool:
    return any(shown.item_id == block.item_id for blocks in choice.tail for shown in blocks)


def _choose_with(material: Material, frame: Frame, room: int, costs: Costs, summary: Block | None) -> Choice:
    wants = {**costs.wants, "summary": _cost(frame, summary)}
    weights = dict(_WEIGHTS)
    if frame.kind is HandoffKind.CHECKPOINT_CONTEXT:
        weights["checkpoint"] *= 2
    shares = share_out(room, wants, weights)
    goal = frame.shortened(material.goal, shares["goal"]) if material.goal else None
    checkpoint = frame.shortened(material.checkpoint, shares["checkpoint"]) if material.checkpoint else None
    stand_in = frame.shortened(summary, shares["summary"]) if summary else None
    sections = _fit_sections(material.sections, frame, shares["sections"])
    notes = _fit_notes(material.notes, frame, shares["notes"])
    title = bool(material.title) and shares["title"] >= wants["title"]
    used = (
        _cost(frame, goal)
        + _cost(frame, checkpoint)
        + _cost(frame, stand_in)
        + sum(count_tokens(section_text(frame, section, lines)) for section, lines in sections)
        + sum(count_tokens(note_text(frame, note)) for note in notes)
        + (wants["title"] if title else 0)
    )
    left = room - used - count_tokens(frame.line("transcript, oldest first"))
    tail_from, tail, left = _fit_tail(material, frame, left, costs, goal)
    lead: tuple[Block, ...] = ()
    if material.unread and material.unread_at == tail_from == 1:
        lead = _fit_lead(material.runs[0], left - costs.heads[0], costs.blocks[0])
    choice = Choice(tail_from, title, notes, goal, sections, checkpoint, lead, tail, stand_in)
    return choice._replace(summary=None) if summary and _in_tail(choice, summary) else choice


def _cost(frame: Frame, block: Block | None) -> int:
    return count_tokens(frame.block(block)) if block else 0


def _latest_summary(runs: Sequence[RunPart]) -> tuple[int, Block] | None:
    for number in range(len(runs) - 1, -1, -1):
        for block in reversed(runs[number].blocks):
            if block.kind is ItemKind.COMPACTION:
                return number, block
    return None


def _fit_tail(
    material: Material, frame: Frame, room: int, costs: Costs, goal: Block | None
) -> tuple[int, tuple[tuple[Block, ...], ...], int]:
    """The tail, with single blocks allowed more of the room when there is some left over."""
    fitted = _fit_capped(material, frame, room, costs, goal, 1)
    for portion in (2, 4):
        if fitted[0] > (material.unread_at if material.unread else 0) or fitted[2] < room // 8:
            break
        larger = _fit_capped(material, frame, room, costs, goal, portion)
        if larger[0] > fitted[0]:
            break
        fitted = larger
    return fitted


def _fit_capped(
    material: Material, frame: Frame, room: int, costs: Costs, goal: Block | None, portion: int
) -> tuple[int, tuple[tuple[Block, ...], ...], int]:
    """The newest blocks that fit, one after the other backwards; the first that can't be shown ends it."""
    stop = material.unread_at if material.unread else 0
    whole = room
    tail: list[tuple[Block, ...]] = []
    for number in range(len(material.runs) - 1, stop - 1, -1):
        blocks: list[Block] = []
        left = room - costs.heads[number]
        full = True
        for place in range(len(costs.blocks[number]) - 1, -1, -1):
            block = material.runs[number].blocks[place]
            cap = min(left, max(64, whole * portion // (4 if block.kind in _CALLS else 2)))
            fitted = block if costs.blocks[number][place] <= cap else frame.shortened(block, cap)
            if fitted is None or (goal is None and is_pointer(material, number, block)):
                full = False
                break
            left -= costs.blocks[number][place] if fitted is block else count_tokens(frame.block(fitted))
            blocks.append(fitted)
        if left < 0 or (costs.blocks[number] and not blocks):
            break
        room = left
        tail.append(tuple(reversed(blocks)))
        if not full:
            break
    return len(material.runs) - len(tail), tuple(reversed(tail)), room


def _fit_lead(run: RunPart, room: int, costs: list[int]) -> tuple[Block, ...]:
    """What fits of the oldest run, from its beginning."""
    blocks: list[Block] = []
    for block, cost in zip(run.blocks, costs, strict=True):
        if cost > room:
            break
        room -= cost
        blocks.append(block)
    return tuple(blocks)


def _fit_sections(sections: Sequence[Section], frame: Frame, room: int) -> tuple[tuple[Section, tuple[Line, ...]], ...]:
    wants = {section.field: count_tokens(section_text(frame, section, section.lines)) for section in sections}
    shares = share_out(room, wants, dict.fromkeys(wants, 1))
    fitted: list[tuple[Section, tuple[Line, ...]]] = []
    for section in sections:
        share = shares[section.field]
        lines = section.lines if share >= wants[section.field] else _fit_lines(section, frame, share)
        if lines:
            fitted.append((section, lines))
    return tuple(fitted)


def _fit_lines(section: Section, frame: Frame, room: int) -> tuple[Line, ...]:
    """The newest lines that fit; a long one is cut in the middle."""
    room -= count_tokens(section_text(frame, section, ())) + 2
    whole = room
    lines: list[Line] = []
    for line in reversed(section.lines):
        text = shorten(line.text, min(room, max(32, whole // 2)) - 4, frame.mark) if room > 8 else None
        if text is None:
            break
        room -= count_tokens(text) + (12 if text is not line.text else 4)
        lines.append(line._replace(text=text))
    return tuple(reversed(lines))


def _fit_notes(notes: Sequence[str], frame: Frame, room: int) -> tuple[str, ...]:
    fitted: list[str] = []
    for done, note in enumerate(notes):
        share = room // (len(notes) - done)
        text = shorten(note, share - count_tokens(frame.line("note")) - 2, frame.mark)
        if text is None:
            continue
        room -= count_tokens(note_text(frame, text))
        fitted.append(text)
    return tuple(fitted)
