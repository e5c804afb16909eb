"""Building a handoff: gather, choose a frame, fit, and say in the payload what the text shows and leaves out."""

import hashlib
from typing import Any

from plait.domain.handoff.fitting import Fitted, fit
from plait.domain.handoff.frame import choose_frame
from plait.domain.handoff.layout import Choice, find_gap, shown_runs
from plait.domain.handoff.material import Material, gather
from plait.domain.handoff.passages import has_gap, without_gap
from plait.domain.handoff.records import BuiltHandoff, HandoffPayload, HandoffRequest, LeftOut, Noted
from plait.domain.handoff.sections import excerpt


def build_handoff(request: HandoffRequest) -> BuiltHandoff:
    """The handoff of a request: the same request gives the same bytes, and never more tokens than its budget.

    Raises `HandoffTooSmall` when the budget can't hold the frame and the note of what was left out; a budget of
    `MIN_HANDOFF_TOKENS` always can, with ids of ours.
    """
    material = gather(request)
    frame = choose_frame(request.kind, list(material.texts()), request.of)
    fitted = fit(material, frame, request.budget_tokens)
    return BuiltHandoff(
        text=fitted.text,
        hash=hashlib.sha256(fitted.text.encode("utf-8")).hexdigest(),
        tokens=fitted.tokens,
        payload=_payload(request, material, fitted),
        carries=_carries(material, fitted.choice),
    )


def _carries(material: Material, choice: Choice) -> tuple[str, ...]:
    shown = set(shown_runs(material, choice))
    shown.update(line.run_id for _, lines in choice.sections for line in lines)
    if choice.summary:
        shown.add(choice.summary.run_id)
    carried = [run.run_id for run in material.runs if run.run_id in shown]
    if choice.checkpoint and choice.checkpoint.run_id not in carried:
        carried.append(choice.checkpoint.run_id)
    return tuple(carried)


def _payload(request: HandoffRequest, material: Material, fitted: Fitted) -> HandoffPayload:
    choice = fitted.choice
    lists: dict[str, Any] = {section.field: tuple(line.entry for line in lines) for section, lines in choice.sections}
    goal = choice.goal
    return HandoffPayload(
        goal=Noted(text=excerpt(goal.parts[0].text), run_id=goal.run_id, item_id=goal.item_id) if goal else None,
        checkpoint_id=request.checkpoint.id if request.checkpoint and choice.checkpoint else None,
        runs=shown_runs(material, choice),
        left_out=(*_left_out(material, choice), *material.never),
        redactions=material.redactions,
        notes=tuple(without_gap(note) for note in choice.notes),
        **lists,
    )


def _left_out(material: Material, choice: Choice) -> list[LeftOut]:
    """What the budget cost."""
    gap = find_gap(material, choice)
    # By alias: `from` is a keyword of the language.
    runs = {"what": "runs", "count": gap.runs, "reason": "budget", "from": gap.first_run_id, "to": gap.last_run_id}
    left = [LeftOut.model_validate(runs)]
    shown = {section.field: len(lines) for section, lines in choice.sections}
    lines = sum(len(section.lines) - shown.get(section.field, 0) for section in material.sections)
    blocks = [
        choice.goal,
        choice.checkpoint,
        choice.summary,
        *choice.lead,
        *(b for blocks in choice.tail for b in blocks),
    ]
    cut = sum(any(has_gap(part.text) for part in block.parts) for block in blocks if block)
    cut += sum(has_gap(note) for note in choice.notes)
    counts = {
        "items": gap.lead_items + gap.tail_items,
        "section lines": lines,
        "middles of long texts": cut,
        "notes": len(material.notes) - len(choice.notes),
        "title": int(bool(material.title) and not choice.title),
        "first request": int(material.goal is not None and choice.goal is None),
        "checkpoint": int(material.checkpoint is not None and choice.checkpoint is None),
    }
    left.extend(LeftOut(what=what, count=count, reason="budget") for what, count in counts.items())
    return [entry for entry in left if entry.count]
