"""Reading the part of a history that a handoff will carry: what fits the budget, never the whole of a long one."""

from collections.abc import Iterable
from typing import Any

from plait.domain.handoff import RunContent
from plait.domain.history import WHOLE_RUN, History, Mark, Segment
from plait.domain.model import Checkpoint, Record, Run, TurnItem
from plait.graph.database import Row, Transaction
from plait.graph.statements import service_statement

_NEWEST = service_statement("history_runs")
_OLDEST = service_statement("oldest_runs")
_ITEMS = service_statement("items_of_runs")
_SUMMARY = service_statement("latest_summary")

_PAGE = 200
"""Runs a statement: enough to make round trips cheap, few enough to stop soon after the budget is met."""


class Content(Record):
    """The newest runs of a part of a history, oldest first, and what is to be said of those not read.

    `first` and `not_read` (the first and the last run that were passed over) are none when all was read.
    """

    newest: tuple[RunContent, ...]
    first: RunContent | None = None
    not_read: tuple[str, str] | None = None
    checkpoint: Checkpoint | None = None
    notes: tuple[str, ...] = ()


async def read_content(tx: Transaction, part: History, budget_tokens: int) -> Content:
    """Reads runs, newest first, until they hold `budget_tokens`; then the opening of the oldest and the last summary.

    What is read depends on the budget, not on the length or the depth of the history, nor on the size of one run.
    """
    # A run that the part holds in pieces is told once, where it begins.
    part = part.in_whole_runs()
    chosen, last_unread = await _choose(tx, part, budget_tokens)
    oldest: list[Run] = []
    if last_unread is not None:
        row = await tx.demand(_OLDEST, segments=run_bounds(part.segments), limit=2)
        oldest = [Run.model_validate(run) for run in row["runs"]]
    first = oldest[0] if oldest else None
    contents, notes = await _contents(tx, part, [*reversed(chosen), *oldest[:1]], first, budget_tokens)
    # A summary is of a whole run: it does not stand for one that is cut.
    row = await tx.fetch(_SUMMARY, segments=run_bounds(map(_whole_runs, part.newest_first())))
    checkpoint = Checkpoint.model_validate(row["checkpoint"]) if row is not None else None
    if first is None or last_unread is None:
        return Content(newest=contents, checkpoint=checkpoint, notes=notes)
    only_one = last_unread.id == first.id
    return Content(
        newest=contents[:-1],
        first=contents[-1],
        not_read=None if only_one else (oldest[1].id, last_unread.id),
        checkpoint=checkpoint,
        notes=notes,
    )


async def _choose(tx: Transaction, part: History, budget_tokens: int) -> tuple[list[Run], Run | None]:
    """The newest runs that begin within the budget, newest first, and the last run beyond it, if any."""
    chosen: list[Run] = []
    left = budget_tokens
    segments = list(part.newest_first())
    while segments:
        row = await tx.demand(_NEWEST, segments=run_bounds(segments), limit=_PAGE)
        page = [Run.model_validate(run) for run in row["runs"]]
        for run in page:
            if left <= 0:
                return chosen, run
            chosen.append(run)
            # How much a cut run leaves is known only when its items are read; the builder then fits it exactly.
            left -= 0 if _is_cut(part, run) else run.tokens
        if len(page) < _PAGE:
            break
        segments = before(segments, page[-1])
    return chosen, None


def before(segments: list[Segment], run: Run) -> list[Segment]:
    """What is left of the segments, newest first, before this run of theirs."""
    at = next(index for index, segment in enumerate(segments) if _within(segment, run))
    rest = segments[at]._replace(through=Mark(run.position - 1))
    return [segment for segment in (rest, *segments[at + 1 :]) if segment.after < segment.through]


async def _contents(
    tx: Transaction, part: History, runs: list[Run], opening: Run | None, budget_tokens: int
) -> tuple[tuple[RunContent, ...], tuple[str, ...]]:
    """The runs with those of their items that the history holds and that the budget can, and notes on the others."""
    wanted = [
        {"runId": run.id, "opening": opening is not None and run.id == opening.id, **_item_bounds(part, run)}
        for run in runs
    ]
    row = await tx.demand(_ITEMS, runs=wanted, budgetTokens=budget_tokens)
    found: dict[str, Row] = {entry["runId"]: entry for entry in row["runs"]}
    contents: list[RunContent] = []
    notes: list[str] = []
    for run in runs:
        items = tuple(TurnItem.model_validate(item) for item in found[run.id]["items"])
        contents.append(RunContent(run=run, items=items))
        unread = found[run.id]["total"] - len(items)
        if unread:
            notes.append(f"{unread} items are left out of run {run.id}")
    return tuple(contents), tuple(notes)


def _is_cut(part: History, run: Run) -> bool:
    """Whether the history begins or ends inside the run."""
    return _item_bounds(part, run) != {"after": 0, "through": WHOLE_RUN}


def _whole_runs(segment: Segment) -> Segment:
    """The part of a segment that is whole runs."""
    through = segment.through if segment.through.item == WHOLE_RUN else Mark(segment.through.run - 1)
    return segment._replace(through=through)


def _item_bounds(part: History, run: Run) -> dict[str, int]:
    """Which items of a run the history holds: it may begin or end inside the run."""
    for segment in part.segments:
        if _within(segment, run):
            after = segment.after.item if segment.after.run == run.position else 0
            through = segment.through.item if segment.through.run == run.position else WHOLE_RUN
            return {"after": after, "through": through}
    raise LookupError(f"run {run.id} is not in the history")


def _within(segment: Segment, run: Run) -> bool:
    return segment.thread_id == run.thread_id and segment.first_run <= run.position <= segment.last_run


def run_bounds(segments: Iterable[Segment]) -> list[dict[str, Any]]:
    """Segments as statements over whole runs take them: after one run, through another."""
    return [
        {"threadId": segment.thread_id, "after": segment.first_run - 1, "through": segment.last_run}
        for segment in segments
    ]
