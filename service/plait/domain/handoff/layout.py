"""A choice of what to show, laid out as text; what the choice leaves out is marked where it is missing."""

from typing import NamedTuple

from plait.domain.handoff.blocks import Block
from plait.domain.handoff.frame import Frame
from plait.domain.handoff.material import Material
from plait.domain.handoff.passages import shown
from plait.domain.handoff.sections import Line, Section


class Choice(NamedTuple):
    """What is shown. `lead`: blocks of the oldest run, before the gap; `tail`: the newest runs' blocks, after it.

    `tail_from` is the number of the first run of the tail. Blocks may be shortened ones. `summary` stands in the gap
    for what is missing there.
    """

    tail_from: int
    title: bool = False
    notes: tuple[str, ...] = ()
    goal: Block | None = None
    sections: tuple[tuple[Section, tuple[Line, ...]], ...] = ()
    checkpoint: Block | None = None
    lead: tuple[Block, ...] = ()
    tail: tuple[tuple[Block, ...], ...] = ()
    summary: Block | None = None


class Gap(NamedTuple):
    """What is missing between lead and tail: whole runs with the ids of the first and last, and single items."""

    runs: int
    first_run_id: str | None
    last_run_id: str | None
    lead_items: int
    tail_items: int


def everything(material: Material) -> Choice:
    """The choice that leaves nothing out of what was read."""
    split = material.unread_at if material.unread else 0
    return Choice(
        tail_from=split,
        title=bool(material.title),
        notes=material.notes,
        goal=material.goal,
        sections=tuple((section, section.lines) for section in material.sections),
        checkpoint=material.checkpoint,
        lead=material.runs[0].blocks if split and material.runs else (),
        tail=tuple(run.blocks for run in material.runs[split:]),
    )


def shown_runs(material: Material, choice: Choice) -> tuple[str, ...]:
    """The ids of the runs of which the transcript, or the goal, shows something."""
    numbers = [*range(_lead_runs(material, choice)), *range(choice.tail_from, len(material.runs))]
    return tuple(material.runs[number].run_id for number in numbers)


def _lead_runs(material: Material, choice: Choice) -> int:
    if choice.tail_from == 0 or not material.runs:
        return 0
    whole = len(choice.lead) == len(material.runs[0].blocks) and material.unread_at == 1
    return 1 if choice.goal or choice.lead or (whole and choice.tail_from == 1) else 0


def find_gap(material: Material, choice: Choice) -> Gap:
    """What the choice leaves out of the transcript."""
    runs, start = material.runs, choice.tail_from
    lead = _lead_runs(material, choice)
    missing = [run.run_id for run in runs[lead:start]]
    if material.unread:
        first, last = material.unread_range or (None, None)
        at = max(0, material.unread_at - lead)
        ids: list[str | None] = [*missing[:at], first, last, *missing[at:]]
    else:
        ids = [*missing]
    lead_left = runs[0].blocks[len(choice.lead) :] if lead else ()
    lead_items = sum(not (choice.goal and is_pointer(material, 0, block)) for block in lead_left)
    tail_items = len(runs[start].blocks) - len(choice.tail[0]) if choice.tail else 0
    if start == 0 and choice.goal:
        # The pointer to a goal that is shown says nothing of its own.
        tail_items -= sum(is_pointer(material, 0, block) for block in runs[0].blocks[:tail_items])
    count = len(missing) + material.unread
    return Gap(count, ids[0] if ids else None, ids[-1] if ids else None, lead_items, tail_items)


def is_pointer(material: Material, number: int, block: Block) -> bool:
    """Whether a block of run `number` only points to the goal."""
    return number == 0 and material.goal is not None and block.item_id == material.goal.item_id


def gap_label(gap: Gap) -> str:
    """The one mark of what is left out; empty when nothing is."""
    what: list[str] = []
    if gap.runs == 1:
        what.append("1 run" + (f", {gap.first_run_id}" if gap.first_run_id else ""))
    elif gap.runs:
        ids = f", {gap.first_run_id} through {gap.last_run_id}" if gap.first_run_id else ""
        what.append(f"{gap.runs} runs{ids}")
    if gap.lead_items:
        what.append(f"{_items(gap.lead_items)} of the first run")
    if gap.tail_items:
        what.append(f"the first {_items(gap.tail_items)} of the run below")
    return "left out here: " + "; ".join(what) if what else ""


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


def section_text(frame: Frame, section: Section, lines: tuple[Line, ...]) -> str:
    missing = len(section.lines) - len(lines)
    heading = f"{section.title} ({missing} left out)" if missing else section.title
    return frame.line(heading.lower()) + "".join(f"- {shown(line.text, frame.mark)}\n" for line in lines)


def title_text(frame: Frame, material: Material) -> str:
    return frame.line("title of the thread") + f"{shown(material.title, frame.mark)}\n"


def note_text(frame: Frame, note: str) -> str:
    return frame.line("note") + f"{shown(note, frame.mark)}\n"


def lay_out(material: Material, frame: Frame, choice: Choice) -> str:
    """The whole text of the handoff."""
    pieces = [frame.opening]
    if choice.title:
        pieces.append(title_text(frame, material))
    pieces.extend(note_text(frame, note) for note in choice.notes)
    if choice.goal:
        pieces.append(frame.block(choice.goal))
    pieces.extend(section_text(frame, section, lines) for section, lines in choice.sections)
    if choice.checkpoint:
        pieces.append(frame.block(choice.checkpoint))
    pieces.extend(_transcript(material, frame, choice))
    pieces.append(frame.closing)
    return "".join(pieces)


def _transcript(material: Material, frame: Frame, choice: Choice) -> list[str]:
    pieces: list[str] = []
    runs = material.runs
    if choice.lead:
        pieces.append(frame.line(runs[0].label))
        pieces.extend(frame.block(block) for block in choice.lead)
    label = gap_label(find_gap(material, choice))
    if label:
        pieces.append(frame.line(label))
    if choice.summary:
        pieces.append(frame.block(choice.summary))
    for run, blocks in zip(runs[choice.tail_from :], choice.tail, strict=True):
        pieces.append(frame.line(run.label))
        pieces.extend(frame.block(block) for block in blocks)
    return [frame.line("transcript, oldest first"), *pieces] if choice.lead or choice.tail else pieces
