"""What provider threads know, a page for each of them, in two statements for all."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, TypeAdapter

from plait.domain.coverage import CoverageVia, Covered, Link, Telling, Told, coverage, told_to
from plait.domain.errors import InvalidInput
from plait.domain.history import WHOLE_RUN, History, Mark, Segment
from plait.domain.model import Record, Run
from plait.graph.chains import Chain
from plait.graph.contents import run_bounds
from plait.graph.cursors import decode_cursor, encode_cursor
from plait.graph.database import Row, Transaction
from plait.graph.pages import Page, PageRequest
from plait.graph.statements import service_statement

_COVERAGE = service_statement("coverage")
_ENDS = service_statement("segment_ends")

CoverageKey = tuple[str, PageRequest]
"""A provider thread by its id, and the page of its coverage that is asked for."""


class CoverageSegment(BaseModel):
    """Runs of one thread, one after the other, that a provider thread knows in one way."""

    model_config = ConfigDict(frozen=True)

    thread_id: str
    first_run: Run
    last_run: Run
    run_count: int
    after_item_position: int | None
    through_item_position: int | None
    via: CoverageVia
    handoff_id: str | None
    native_turn_id: str | None
    in_history: bool


class _Part(Record):
    thread_id: str
    after: Mark
    through: Mark


_PARTS = TypeAdapter(tuple[_Part, ...])


async def read_coverage(
    tx: Transaction, wanted: Sequence[CoverageKey]
) -> list[Page[CoverageSegment] | InvalidInput | None]:
    """A page of the coverage of each provider thread, forward only; none where there is no such provider thread.

    `InvalidInput` stands in the place of a page whose cursor belongs to another list.
    """
    row = await tx.demand(_COVERAGE, ids=list(dict.fromkeys(key for key, _ in wanted)))
    # Long histories take a while: not on the event loop.
    known = await asyncio.to_thread(_known, row)
    slices = [_slice(key, known[key], request) if key in known else None for key, request in wanted]
    shown = [covered for found in slices if isinstance(found, _Slice) for covered in found.shown]
    bounds = run_bounds(covered.segment for covered in shown)
    ends = await tx.demand(_ENDS, segments=[{**bound, "number": number} for number, bound in enumerate(bounds)])
    found = {end["number"]: (Run.model_validate(end["first"]), Run.model_validate(end["last"])) for end in ends["ends"]}
    runs = iter([found[number] for number in range(len(shown))])
    return [each.page([next(runs) for _ in each.shown]) if isinstance(each, _Slice) else each for each in slices]


def _known(row: Row) -> dict[str, tuple[Covered, ...]]:
    """What each of the provider threads knows."""
    chain = Chain(row["chain"])
    links = {link["id"]: Link(link["originId"], link["through"]) for link in row["links"]}
    tellings: defaultdict[str, list[Telling]] = defaultdict(list)
    for told in row["told"]:
        part = _history(told["segments"])
        tellings[told["providerThreadId"]].append(Telling(told["position"], Told(told["handoffId"], part)))
    present = {thread: chain.head_history(thread) for thread in {each["threadId"] for each in row["providerThreads"]}}
    return {
        each["id"]: coverage(
            chain.history_at(each["tipThreadId"], Mark(each["tipPosition"])),
            told_to(each["id"], links, tellings),
            present[each["threadId"]],
        )
        for each in row["providerThreads"]
    }


def _history(kept: str) -> History:
    parts = _PARTS.validate_json(kept)
    return History(tuple(Segment(part.thread_id, part.after, part.through) for part in parts))


class _Slice(BaseModel):
    """The part of a coverage that one page shows."""

    scope: str
    shown: tuple[Covered, ...]
    total: int
    has_next: bool
    has_previous: bool

    def page(self, ends: Iterable[tuple[Run, Run]]) -> Page[CoverageSegment]:
        return Page[CoverageSegment](
            entries=tuple(_entry(covered, *runs) for covered, runs in zip(self.shown, ends, strict=True)),
            cursors=tuple(_cursor(self.scope, covered.segment) for covered in self.shown),
            total=self.total,
            has_next=self.has_next,
            has_previous=self.has_previous,
        )


def _slice(key: str, known: tuple[Covered, ...], request: PageRequest) -> _Slice | InvalidInput:
    scope, limit = f"coverage:{key}", request.first or 0
    rest = known
    try:
        if request.after is not None:
            rest = _after(known, scope, request.after)
    except InvalidInput as wrong:
        return wrong
    return _Slice(
        scope=scope,
        shown=rest[:limit],
        total=len(known),
        has_next=len(rest) > limit,
        has_previous=request.after is not None,
    )


def _cursor(scope: str, segment: Segment) -> str:
    return encode_cursor(scope, segment.thread_id, segment.through.run, segment.through.item)


def _after(known: tuple[Covered, ...], scope: str, cursor: str) -> tuple[Covered, ...]:
    """What comes after a place: a segment that has grown since, or was cut, goes on where the cursor is."""
    thread_id, run, item = decode_cursor(cursor, scope, str, int, int)
    mark = Mark(int(run), int(item))
    for index, covered in enumerate(known):
        segment = covered.segment
        if segment.thread_id == thread_id and segment.after < mark <= segment.through:
            rest = covered._replace(segment=segment._replace(after=mark))
            return ((rest,) if mark < segment.through else ()) + known[index + 1 :]
    raise InvalidInput("The cursor points to a run that this provider thread does not know.")


def _entry(covered: Covered, first: Run, last: Run) -> CoverageSegment:
    segment, native = covered.segment, covered.handoff_id is None
    cut = segment.through.item != WHOLE_RUN
    return CoverageSegment(
        thread_id=segment.thread_id,
        first_run=first,
        last_run=last,
        # Within a segment no run was rolled back, so those that were accepted are numbered without a gap.
        run_count=(last.ordinal or 0) - (first.ordinal or 0) + 1,
        after_item_position=segment.after.item if segment.after.item != WHOLE_RUN else None,
        through_item_position=segment.through.item if cut else None,
        via=CoverageVia.NATIVE if native else CoverageVia.HANDOFF,
        handoff_id=covered.handoff_id,
        native_turn_id=last.native_turn_id if native and not cut else None,
        in_history=covered.present,
    )
