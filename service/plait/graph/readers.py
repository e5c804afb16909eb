"""The reads of the API: each is one statement or two in one transaction, and gives domain records."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from plait.domain.errors import ErrorCode, InvalidInput, NotFound
from plait.domain.history import WHOLE_RUN, History, Mark, Segment
from plait.domain.model import (
    Checkpoint,
    ExecutionNode,
    Handoff,
    ProviderThread,
    Record,
    Run,
    SourcePoint,
    Thread,
    Transfer,
    TransferStatus,
    TransferType,
    TurnItem,
)
from plait.domain.tallies import Ledger, measure
from plait.graph.chains import Chain, last_point, read_chain
from plait.graph.contents import run_bounds
from plait.graph.coverage import CoverageKey, CoverageSegment, read_coverage
from plait.graph.cursors import decode_cursor, encode_cursor
from plait.graph.database import Database, Row, Transaction
from plait.graph.pages import (
    Comparison,
    Direction,
    EdgeKind,
    Lineage,
    LineageEdge,
    LineageNode,
    Page,
    PageRequest,
    RunsAlone,
    ThreadFilter,
    VisibleItem,
)
from plait.graph.paths import LineagePath, path_of
from plait.graph.statements import Statement, service_statement

_THREADS = service_statement("threads_by_id")
_RUNS = service_statement("runs_by_id")
_ITEMS = service_statement("items_by_id")
_CHECKPOINTS = service_statement("checkpoints_by_id")
_TRANSFERS = service_statement("transfers_by_id")
_HANDOFFS = service_statement("handoffs_by_id")
_PROVIDER_THREADS = service_statement("provider_threads_by_id")
_FIRST_ITEMS = service_statement("first_items")
_RUN_CHECKPOINTS = service_statement("checkpoints_of_runs")
_NODES = service_statement("execution_nodes_by_id")
_RUN_NODES = service_statement("execution_nodes_of_runs")
_RUNS_PAGE = service_statement("runs_page")
_ITEMS_PAGE = service_statement("items_page")
_VISIBLE = service_statement("visible_items_forward")
_VISIBLE_BACK = service_statement("visible_items_backward")
_COUNT_ITEMS = service_statement("count_items")
_THREAD_TRANSFERS = service_statement("thread_transfers")
_THREAD_PROVIDERS = service_statement("thread_provider_threads")
_THREAD_CHECKPOINTS = service_statement("thread_checkpoints")
_LIST = service_statement("list_threads")
_SEARCH = service_statement("search_threads")
_COUNT_THREADS = service_statement("count_threads")
_LINEAGE = service_statement("lineage")
_PATH = service_statement("lineage_path")
_OLDEST_RUNS = service_statement("oldest_runs")

_FAR_FUTURE = datetime(9999, 12, 31, tzinfo=UTC)
_LAST_ID = "~"
"""Sorts after every id."""
COUNT_LIMIT = 10_000
"""A filtered count of threads stops here."""

R = TypeVar("R", bound=Record)


class Readers:
    """Reads; every method raises `StorageUnavailable` when Neo4j is away, and `NotFound` for an unknown owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def threads(self, ids: Sequence[str]) -> list[Thread | None]:
        """The threads of these ids, in their order; none where there is no such thread."""
        return await self._by_id(_THREADS, Thread, ids)

    async def runs(self, ids: Sequence[str]) -> list[Run | None]:
        return await self._by_id(_RUNS, Run, ids)

    async def items(self, ids: Sequence[str]) -> list[TurnItem | None]:
        return await self._by_id(_ITEMS, TurnItem, ids)

    async def checkpoints(self, ids: Sequence[str]) -> list[Checkpoint | None]:
        return await self._by_id(_CHECKPOINTS, Checkpoint, ids)

    async def transfers(self, ids: Sequence[str]) -> list[Transfer | None]:
        return await self._by_id(_TRANSFERS, Transfer, ids)

    async def handoffs(self, ids: Sequence[str]) -> list[Handoff | None]:
        return await self._by_id(_HANDOFFS, Handoff, ids)

    async def provider_threads(self, ids: Sequence[str]) -> list[ProviderThread | None]:
        return await self._by_id(_PROVIDER_THREADS, ProviderThread, ids)

    async def first_items(self, run_ids: Sequence[str]) -> list[TurnItem | None]:
        """The first item of each run, its message; none where there is no such run."""
        row = await self._database.answer(_FIRST_ITEMS, runIds=list(run_ids))
        found = {record["runId"]: TurnItem.model_validate(record) for record in row["records"]}
        return [found.get(run_id) for run_id in run_ids]

    async def checkpoints_of_runs(self, run_ids: Sequence[str]) -> list[list[Checkpoint]]:
        """The checkpoints on each run, newest first."""
        row = await self._database.answer(_RUN_CHECKPOINTS, runIds=list(run_ids))
        found = [Checkpoint.model_validate(record) for record in row["records"]]
        return [[checkpoint for checkpoint in found if checkpoint.run_id == run_id] for run_id in run_ids]

    async def execution_nodes(self, ids: Sequence[str]) -> list[ExecutionNode | None]:
        return await self._by_id(_NODES, ExecutionNode, ids)

    async def execution_nodes_of_runs(self, run_ids: Sequence[str]) -> list[list[ExecutionNode]]:
        """The native children that were seen in each run, in the order in which they were first heard of."""
        row = await self._database.answer(_RUN_NODES, runIds=list(run_ids))
        found = [ExecutionNode.model_validate(record) for record in row["records"]]
        return [[node for node in found if node.run_id == run_id] for run_id in run_ids]

    async def runs_of(self, thread_id: str, request: PageRequest) -> Page[Run]:
        """The runs of a thread, oldest first. Forward pages only."""
        return await self._numbered(_RUNS_PAGE, Run, "thread", thread_id, request)

    async def items_of_run(self, run_id: str, request: PageRequest) -> Page[TurnItem]:
        """The items of a run, oldest first. Forward pages only."""
        return await self._numbered(_ITEMS_PAGE, TurnItem, "run", run_id, request)

    async def visible_items(self, thread_id: str, request: PageRequest) -> Page[VisibleItem]:
        """The items of a thread's history, inherited ones first; pages run both ways."""
        backward = request.last is not None
        limit = (request.last if backward else request.first) or 0
        scope = f"visible:{thread_id}"

        async def work(tx: Transaction) -> Page[VisibleItem]:
            history = (await _chain(tx, thread_id)).head_history(thread_id)
            part = _between(history, scope, request)
            segments = part.newest_first() if backward else part.segments
            total = await tx.demand(_COUNT_ITEMS, segments=[_bounds(segment) for segment in history.segments])
            found = await tx.demand(
                _VISIBLE_BACK if backward else _VISIBLE,
                segments=[_bounds(segment) for segment in segments],
                limit=limit + 1,
            )
            rows: list[Row] = found["records"]
            more, rows = len(rows) > limit, rows[:limit]
            if backward:
                rows.reverse()
            items = [(TurnItem.model_validate(entry["item"]), int(entry["position"])) for entry in rows]
            return Page[VisibleItem](
                entries=tuple(VisibleItem(item=item, inherited=item.thread_id != thread_id) for item, _ in items),
                cursors=tuple(encode_cursor(scope, item.thread_id, at, item.position) for item, at in items),
                total=total["total"],
                has_next=request.before is not None if backward else more,
                has_previous=more if backward else request.after is not None,
            )

        return await self._database.read(work)

    async def transfers_of(
        self, thread_id: str, status: TransferStatus | None, kind: TransferType | None, first: int
    ) -> list[Transfer]:
        """The transfers from or into a thread, newest first."""
        return await self._owned(
            _THREAD_TRANSFERS, Transfer, thread_id, {"status": status, "type": kind, "limit": first}
        )

    async def provider_threads_of(self, thread_id: str, first: int) -> list[ProviderThread]:
        """The provider threads behind a thread, the last used first."""
        return await self._owned(_THREAD_PROVIDERS, ProviderThread, thread_id, {"limit": first})

    async def coverage_of(self, wanted: Sequence[CoverageKey]) -> list[Page[CoverageSegment] | Exception]:
        """What provider threads know, a page of it for each; forward pages only. What is wrong stands in its place."""

        async def work(tx: Transaction) -> list[Page[CoverageSegment] | Exception]:
            found = await read_coverage(tx, wanted)
            pairs = zip(found, wanted, strict=True)
            return [page if page is not None else _no("provider thread", key) for page, (key, _) in pairs]

        return await self._database.read(work)

    async def checkpoints_of(self, thread_id: str, first: int) -> list[Checkpoint]:
        """The checkpoints of a thread, newest first."""
        return await self._owned(_THREAD_CHECKPOINTS, Checkpoint, thread_id, {"limit": first})

    async def list_threads(self, request: PageRequest, where: ThreadFilter, search: str | None) -> Page[Thread]:
        """Threads, newest first. Forward pages only. A filtered or searched total stops at `COUNT_LIMIT`."""
        scope, limit = "threads", request.first or 0
        filters = where.model_dump(by_alias=True)
        before_time, before_id = _FAR_FUTURE, _LAST_ID
        if request.after is not None:
            time, last = decode_cursor(request.after, scope, str, str)
            before_time, before_id = _time(str(time)), str(last)
        bounds = {"beforeTime": before_time, "beforeId": before_id, "limit": limit + 1, **filters}

        async def work(tx: Transaction) -> Page[Thread]:
            if search is not None:
                row = await tx.demand(_SEARCH, query=_phrase(search), **bounds)
                total = int(row["total"])
            else:
                row = await tx.demand(_LIST, **bounds)
                count_limit = COUNT_LIMIT if any(value is not None for value in filters.values()) else 2**62
                total = int((await tx.demand(_COUNT_THREADS, limit=count_limit, **filters))["total"])
            found = [Thread.model_validate(record) for record in row["records"]]
            return _page(
                found,
                limit,
                total,
                request,
                lambda thread: encode_cursor(scope, thread.created_at.isoformat(), thread.id),
            )

        return await self._database.read(work)

    async def lineage(
        self,
        thread_id: str,
        direction: Direction,
        kinds: Sequence[EdgeKind],
        max_depth: int,
        as_of: datetime | None,
        request: PageRequest,
    ) -> Lineage:
        """The threads around one, by generation, and every edge that leads to a thread of this page."""
        scope, limit = f"lineage:{thread_id}:{direction.value}:{max_depth}", request.first or 0
        after: tuple[Any, ...] = (0, "")
        if request.after is not None:
            after = decode_cursor(request.after, scope, int, str)

        async def work(tx: Transaction) -> Lineage:
            row = await tx.fetch(
                _LINEAGE,
                threadId=thread_id,
                up=direction is not Direction.DESCENDANTS,
                down=direction is not Direction.ANCESTORS,
                maxDepth=max_depth,
                asOf=as_of or _FAR_FUTURE,
                afterGeneration=after[0],
                afterId=after[1],
                kinds=[kind.value for kind in kinds],
                limit=limit + 1,
            )
            if row is None:
                raise _no("thread", thread_id)
            nodes = [LineageNode.model_validate(node) for node in row["nodes"]]
            shown = {node.thread.id for node in nodes[:limit]}
            page = _page(
                nodes,
                limit,
                int(row["total"]),
                request,
                lambda node: encode_cursor(scope, node.thread.generation, node.thread.id),
            )
            edges = [LineageEdge.model_validate(edge) for edge in row["edges"] if edge["targetThreadId"] in shown]
            return Lineage(page=page, edges=tuple(edges), truncated=page.has_next or int(row["beyond"]) > 0)

        return await self._database.read(work)

    async def lineage_path(self, from_id: str, to_id: str) -> LineagePath | None:
        """The shortest way between two threads along lineage edges, whichever way they point; none where none is."""
        row = await self._database.answer(_PATH, fromId=from_id, toId=to_id)
        for key, found in ((from_id, row["source"]), (to_id, row["target"])):
            if found is None:
                raise _no("thread", key)
        return path_of(row)

    async def merge_base(self, thread_ids: Sequence[str]) -> SourcePoint | None:
        """The last point that the histories of all these threads share; none where they share nothing."""

        async def work(tx: Transaction) -> SourcePoint | None:
            first, *others = [(await _chain(tx, key)).head_history(key) for key in thread_ids]
            common = first
            for other in others:
                common = common.common(other)
            return await last_point(tx, common)

        return await self._database.read(work)

    async def compare(self, base_id: str, head_id: str, first: int) -> Comparison:
        """What the histories of two threads share and what each has alone: the first runs of it, oldest first."""

        async def work(tx: Transaction) -> Comparison:
            base, head = await _chain(tx, base_id), await _chain(tx, head_id)
            ours, theirs = base.head_history(base_id), head.head_history(head_id)
            ledger = base.ledger() | head.ledger()
            return Comparison(
                merge_base=await last_point(tx, ours.common(theirs)),
                base_only=await _alone(tx, ours.minus(theirs), ledger, first),
                head_only=await _alone(tx, theirs.minus(ours), ledger, first),
            )

        return await self._database.read(work)

    async def _by_id(self, statement: Statement, kind: type[R], ids: Sequence[str]) -> list[R | None]:
        row = await self._database.answer(statement, ids=list(dict.fromkeys(ids)))
        found = {record["id"]: kind.model_validate(record) for record in row["records"]}
        return [found.get(key) for key in ids]

    async def _owned(
        self, statement: Statement, kind: type[R], thread_id: str, parameters: Mapping[str, object]
    ) -> list[R]:
        async def work(tx: Transaction) -> list[R]:
            row = await tx.fetch(statement, threadId=thread_id, **parameters)
            if row is None:
                raise _no("thread", thread_id)
            return [kind.model_validate(record) for record in row["records"]]

        return await self._database.read(work)

    async def _numbered(
        self, statement: Statement, kind: type[Any], owner: str, owner_id: str, request: PageRequest
    ) -> Page[Any]:
        """A page of what has a number within its owner."""
        scope, limit = f"{statement.name}:{owner_id}", request.first or 0
        after = decode_cursor(request.after, scope, int)[0] if request.after is not None else 0

        async def work(tx: Transaction) -> Page[Any]:
            row = await tx.fetch(statement, **{f"{owner}Id": owner_id, "after": after, "limit": limit + 1})
            if row is None:
                raise _no(owner, owner_id)
            found = [kind.model_validate(record) for record in row["records"]]
            return _page(found, limit, row["total"], request, lambda record: encode_cursor(scope, record.position))

        return await self._database.read(work)


async def _chain(tx: Transaction, thread_id: str) -> Chain:
    """The chain of a thread. Raises `NotFound`."""
    chain = await read_chain(tx, thread_id)
    if thread_id not in chain:
        raise _no("thread", thread_id)
    return chain


async def _alone(tx: Transaction, part: History, ledger: Ledger, first: int) -> RunsAlone:
    part = part.in_whole_runs()
    tally = measure(part, ledger)
    row = await tx.demand(_OLDEST_RUNS, segments=run_bounds(part.segments), limit=first)
    runs = tuple(Run.model_validate(run) for run in row["runs"])
    return RunsAlone(total=tally.runs, tokens=tally.tokens, runs=runs)


def _page(found: list[R], limit: int, total: int, request: PageRequest, cursor: Callable[[R], str]) -> Page[R]:
    """A forward page from one entry more than it shows."""
    shown = tuple(found[:limit])
    return Page[R](
        entries=shown,
        cursors=tuple(cursor(entry) for entry in shown),
        total=total,
        has_next=len(found) > limit,
        has_previous=request.after is not None,
    )


def _between(history: History, scope: str, request: PageRequest) -> History:
    """The part of a history after one cursor and before another. Raises `InvalidInput` for a cursor of elsewhere."""
    part = list(history.segments)
    if request.after is not None:
        at, mark = _place(part, request.after, scope)
        part = [part[at]._replace(after=mark), *part[at + 1 :]]
    if request.before is not None:
        at, mark = _place(part, request.before, scope)
        part = [*part[:at], part[at]._replace(through=Mark(mark.run, mark.item - 1))]
    return History(tuple(segment for segment in part if segment.after < segment.through))


def _place(segments: list[Segment], cursor: str, scope: str) -> tuple[int, Mark]:
    thread_id, run, item = decode_cursor(cursor, scope, str, int, int)
    mark = Mark(int(run), int(item))
    for index, segment in enumerate(segments):
        if segment.thread_id == thread_id and segment.after < mark <= segment.through:
            return index, mark
    raise InvalidInput("The cursor points to an item that is not in this history.")


def _bounds(segment: Segment) -> dict[str, Any]:
    whole = segment.after.item == WHOLE_RUN
    return {
        "threadId": segment.thread_id,
        "firstRun": segment.first_run,
        "afterRun": segment.after.run,
        "afterItem": 0 if whole else segment.after.item,
        "throughRun": segment.through.run,
        "throughItem": segment.through.item,
    }


def _time(text: str) -> datetime:
    wrong = InvalidInput("The cursor does not belong to this list; take cursors from pageInfo of the same query.")
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise wrong
        return time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise wrong from error


def _phrase(words: str) -> str:
    """The words as one quoted phrase of the index's query language, so that nothing in them is an operator."""
    if not words.strip():
        raise InvalidInput("search wants at least one word.", ErrorCode.INVALID_INPUT)
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _no(kind: str, record_id: str) -> NotFound:
    return NotFound(f"There is no {kind} {record_id}.")
