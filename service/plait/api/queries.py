"""The queries: reads that start from an id, and lists."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from plait.api import checks, validation
from plait.api.connections import DEFAULT_PAGE, After, Connection, First, PageView, list_size, page_request, view
from plait.api.context import Info
from plait.api.inputs import ThreadFilterInput
from plait.api.types.checkpoint import Checkpoint
from plait.api.types.comparison import ThreadComparison
from plait.api.types.handoff import ContextHandoff
from plait.api.types.lineage import Lineage, LineagePath
from plait.api.types.node import Node
from plait.api.types.plan import FreshPlan, StartPlan
from plait.api.types.point import SourcePoint
from plait.api.types.provider import Provider
from plait.api.types.run import Run
from plait.api.types.thread import Thread
from plait.api.types.transfer import ContextTransfer
from plait.domain import model as records
from plait.domain.errors import ErrorCode, InvalidInput
from plait.domain.ids import IdKind, kind_of
from plait.domain.model import Strategy
from plait.graph import pages, paths
from plait.graph.pages import Direction, EdgeKind

MIN_COMPARED, MAX_COMPARED = 2, 10
"""How many threads a merge base may be asked of."""

Id = Annotated[strawberry.ID, strawberry.argument(description="The record's id; NOT_FOUND where there is none.")]
ThreadId = Annotated[strawberry.ID, strawberry.argument(description="The thread; NOT_FOUND where there is none.")]


def argument(description: str) -> object:
    return strawberry.argument(description=description)


@strawberry.type(description="Reads. A field that is refused is null and has its error; the others still come.")
class Query:
    @strawberry.field(description="A thread by its id.", graphql_type=Thread | None)
    @staticmethod
    async def thread(info: Info, id: Id) -> records.Thread:
        return await info.context.loaders.threads.must(checks.record_id(id, IdKind.THREAD, "id"))

    @strawberry.field(description="A run by its id.", graphql_type=Run | None)
    @staticmethod
    async def run(info: Info, id: Id) -> records.Run:
        return await info.context.loaders.runs.must(checks.record_id(id, IdKind.RUN, "id"))

    @strawberry.field(description="A checkpoint by its id.", graphql_type=Checkpoint | None)
    @staticmethod
    async def checkpoint(info: Info, id: Id) -> records.Checkpoint:
        return await info.context.loaders.checkpoints.must(checks.record_id(id, IdKind.CHECKPOINT, "id"))

    @strawberry.field(description="A transfer by its id.", graphql_type=ContextTransfer | None)
    @staticmethod
    async def transfer(info: Info, id: Id) -> records.Transfer:
        return await info.context.loaders.transfers.must(checks.record_id(id, IdKind.TRANSFER, "id"))

    @strawberry.field(description="A handoff by its id.", graphql_type=ContextHandoff | None)
    @staticmethod
    async def handoff(info: Info, id: Id) -> records.Handoff:
        return await info.context.loaders.handoffs.must(checks.record_id(id, IdKind.HANDOFF, "id"))

    @strawberry.field(description="Any record by its id.", graphql_type=Node | None)
    @staticmethod
    async def node(info: Info, id: Id) -> object:
        loaders = info.context.loaders
        match kind_of(id):
            case IdKind.THREAD:
                return await loaders.threads.must(id)
            case IdKind.RUN:
                return await loaders.runs.must(id)
            case IdKind.ITEM:
                return await loaders.items.must(id)
            case IdKind.CHECKPOINT:
                return await loaders.checkpoints.must(id)
            case IdKind.EXECUTION_NODE:
                return await loaders.execution_nodes.must(id)
            case IdKind.PROVIDER_THREAD:
                return await loaders.provider_threads.must(id)
            case IdKind.TRANSFER:
                return await loaders.transfers.must(id)
            case IdKind.HANDOFF:
                return await loaders.handoffs.must(id)
            case other:
                raise InvalidInput(f"Records with an id that starts with {other.value}_ are not nodes.")

    @strawberry.field(
        description="Threads, newest first. With a filter or a search, `totalCount` stops at 10,000.",
        graphql_type=Connection[Thread] | None,
    )
    @staticmethod
    async def threads(
        info: Info,
        first: First = None,
        after: After = None,
        filter: Annotated[ThreadFilterInput | None, argument("Only threads like this.")] = None,
        search: Annotated[
            str | None, argument("Only threads whose title holds all these words, each whole, in any case.")
        ] = None,
    ) -> PageView[records.Thread]:
        request = page_request(info.context.limits, first, after)
        where, words = validation.thread_filter(filter), validation.search(search)
        return view(await info.context.readers.list_threads(request, where, words))

    @strawberry.field(description="The threads around one thread, and how context flowed between them.")
    @staticmethod
    async def lineage(
        info: Info,
        thread_id: ThreadId,
        direction: Annotated[Direction, argument("Which way to follow the edges.")] = Direction.BOTH,
        kinds: Annotated[list[EdgeKind] | None, argument("Follow only edges of these kinds; null is all.")] = None,
        max_depth: Annotated[
            int | None, argument("How many edges to follow at most, from 0 to 10,000; 10,000 if not said.")
        ] = None,
        as_of: Annotated[datetime | None, argument("Leave out what was made after this time.")] = None,
        first: First = None,
        after: After = None,
    ) -> Lineage | None:
        context = info.context
        found = await context.readers.lineage(
            checks.record_id(thread_id, IdKind.THREAD, "threadId"),
            direction,
            _kinds(kinds),
            _depth(max_depth, context.limits.max_lineage_depth),
            as_of,
            page_request(context.limits, first, after),
        )
        return Lineage.of(found)

    @strawberry.field(
        description="The edges between two threads: the shortest way from one to the other along lineage edges, "
        "whichever way these point. Null where no edges join them: they are of different trees. Of equally short ways "
        "it is always the same: the one through the tree, by their common ancestor; else, step by step, the thread of "
        "the lowest generation.",
        graphql_type=LineagePath | None,
    )
    @staticmethod
    async def lineage_path(
        info: Info,
        from_id: Annotated[
            strawberry.ID,
            strawberry.argument(name="from", description="The thread it begins at; NOT_FOUND where there is none."),
        ],
        to_id: Annotated[
            strawberry.ID,
            strawberry.argument(name="to", description="The thread it ends at; NOT_FOUND where there is none."),
        ],
    ) -> paths.LineagePath | None:
        return await info.context.readers.lineage_path(
            checks.record_id(from_id, IdKind.THREAD, "from"), checks.record_id(to_id, IdKind.THREAD, "to")
        )

    @strawberry.field(
        description="The last point that the histories of some threads share; null where they share nothing.",
        graphql_type=SourcePoint | None,
    )
    @staticmethod
    async def merge_base(
        info: Info, thread_ids: Annotated[list[strawberry.ID], argument("The threads, two to ten.")]
    ) -> records.SourcePoint | None:
        ids = [checks.record_id(thread_id, IdKind.THREAD, "threadIds") for thread_id in thread_ids]
        if not MIN_COMPARED <= len(ids) <= MAX_COMPARED:
            raise InvalidInput(f"threadIds takes {MIN_COMPARED} to {MAX_COMPARED} threads, got {len(ids)}.")
        return await info.context.readers.merge_base(ids)

    @strawberry.field(
        description="What the histories of two threads share, and what each has alone.",
        graphql_type=ThreadComparison | None,
    )
    @staticmethod
    async def compare_threads(
        info: Info,
        base: Annotated[strawberry.ID, argument("A thread, such as the one a fork was taken from.")],
        head: Annotated[strawberry.ID, argument("Another thread, such as the fork.")],
        first: First = None,
    ) -> pages.Comparison:
        return await info.context.readers.compare(
            checks.record_id(base, IdKind.THREAD, "base"),
            checks.record_id(head, IdKind.THREAD, "head"),
            list_size(first, "first", DEFAULT_PAGE, info.context.limits.max_page_size),
        )

    @strawberry.field(
        description="How a run started now would come to know the thread's history, with every way that was looked at. "
        "Writes nothing.",
        graphql_type=StartPlan | None,
    )
    @staticmethod
    async def explain_start(
        info: Info,
        thread_id: ThreadId,
        provider: Annotated[str, argument("Key of the provider.")],
        model: Annotated[str | None, argument("The provider's model.")] = None,
        strategy: Annotated[Strategy | None, argument("The only way to carry context, as `startRun` takes it.")] = None,
    ) -> FreshPlan:
        thread_id = strawberry.ID(checks.record_id(thread_id, IdKind.THREAD, "threadId"))
        key, wanted = checks.provider_key(provider), validation.model(model)
        return FreshPlan(await info.context.commands.explain_start(thread_id, key, wanted, strategy))

    @strawberry.field(description="The providers that runs may name.")
    @staticmethod
    def providers(info: Info) -> list[Provider]:
        known = info.context.services.providers
        return [Provider(key=provider.key, capabilities=provider, available=True) for provider in known]


def _kinds(given: list[EdgeKind] | None) -> Sequence[EdgeKind]:
    if given is None:
        return tuple(EdgeKind)
    if not given:
        raise InvalidInput("kinds must name at least one kind; null is all of them.")
    return tuple(dict.fromkeys(given))


def _depth(given: int | None, largest: int) -> int:
    if given is None:
        return largest
    if given < 0:
        raise InvalidInput(f"maxDepth must not be negative, got {given}.")
    if given > largest:
        raise InvalidInput(f"maxDepth must be at most {largest}, got {given}.", ErrorCode.LIMIT_EXCEEDED)
    return given
