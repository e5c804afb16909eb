"""Threads: the canonical conversations."""

from datetime import datetime
from typing import Annotated

import strawberry

from plait.api.connections import After, Before, Connection, First, Last, PageView, list_size, page_request, view
from plait.api.context import Info
from plait.api.types.checkpoint import Checkpoint
from plait.api.types.item import VisibleItem, VisibleItemView
from plait.api.types.node import Node
from plait.api.types.point import SourcePoint
from plait.api.types.provider import ProviderThread
from plait.api.types.run import Run
from plait.api.types.transfer import ContextTransfer
from plait.domain import model as records
from plait.domain.model import Creator, Relationship, ThreadStatus, TransferStatus, TransferType

DEFAULT_LIST = 100

FirstOfList = Annotated[int | None, strawberry.argument(description="How many to give at most: 1 to 250.")]
ThreadRef = Annotated["Thread", strawberry.lazy("plait.api.types.thread")]


@strawberry.type(description="The canonical conversation, whatever providers it ran on.")
class Thread(Node):
    title: str | None = strawberry.field(description="Its title; titles need not be unique.")
    status: ThreadStatus = strawberry.field(description="Whether it takes new work.")
    created_by: Creator = strawberry.field(description="Who made it.")
    created_at: datetime = strawberry.field(description="When it was made.")
    updated_at: datetime = strawberry.field(description="When it last changed.")
    depth: int = strawberry.field(description="How many parents it has above it; 0 for a root.")
    parent_thread_id: strawberry.ID | None = strawberry.field(description="The thread it came from.")
    relationship_to_parent: Relationship | None = strawberry.field(description="How it came from its parent.")
    root_thread_id: strawberry.ID = strawberry.field(description="The thread at the top of its tree.")
    spawned_by_run_id: strawberry.ID | None = strawberry.field(
        description="The run of its parent that spawned it, where it is a subagent."
    )
    provider: str | None = strawberry.field(description="Key of the provider its last accepted run was on.")
    run_count: int = strawberry.field(description="How many runs it has of its own, rolled back ones included.")
    active_run_id: strawberry.ID | None = strawberry.field(description="The run that works in it now.")
    origin: records.SourcePoint | None = strawberry.field(
        name="originPoint", graphql_type=SourcePoint | None, description="The point it was forked from."
    )
    latest_stable: records.SourcePoint | None = strawberry.field(
        name="latestStablePoint",
        graphql_type=SourcePoint | None,
        description="Where a fork taken now would begin; null in a root thread without a completed run.",
    )

    @strawberry.field(description="The thread it came from.", graphql_type=ThreadRef | None)
    @staticmethod
    async def parent(root: strawberry.Parent[records.Thread], info: Info) -> records.Thread | None:
        return await info.context.loaders.threads.maybe(root.parent_thread_id)

    @strawberry.field(
        name="root", description="The thread at the top of its tree; itself for a root.", graphql_type=ThreadRef
    )
    @staticmethod
    async def root_thread(root: strawberry.Parent[records.Thread], info: Info) -> records.Thread:
        if root.root_thread_id == root.id:
            return root
        return await info.context.loaders.threads.must(root.root_thread_id)

    @strawberry.field(description="The run that works in it now.", graphql_type=Run | None)
    @staticmethod
    async def active_run(root: strawberry.Parent[records.Thread], info: Info) -> records.Run | None:
        return await info.context.loaders.runs.maybe(root.active_run_id)

    @strawberry.field(description="Its own runs, oldest first.", graphql_type=Connection[Run])
    @staticmethod
    async def runs(
        root: strawberry.Parent[records.Thread],
        info: Info,
        first: First = None,
        after: After = None,
    ) -> PageView[records.Run]:
        request = page_request(info.context.limits, first, after)
        return view(await info.context.readers.runs_of(root.id, request))

    @strawberry.field(
        description="The items of its history, inherited and own, oldest first.", graphql_type=Connection[VisibleItem]
    )
    @staticmethod
    async def visible_items(
        root: strawberry.Parent[records.Thread],
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> PageView[VisibleItemView]:
        request = page_request(info.context.limits, first, after, last, before)
        page = await info.context.readers.visible_items(root.id, request)
        return PageView(page, tuple(VisibleItemView(entry) for entry in page.entries))

    @strawberry.field(description="Transfers from or into it, newest first.", graphql_type=list[ContextTransfer])
    @staticmethod
    async def transfers(
        root: strawberry.Parent[records.Thread],
        info: Info,
        status: Annotated[TransferStatus | None, strawberry.argument(description="Only those that stand here.")] = None,
        type: Annotated[TransferType | None, strawberry.argument(description="Only those of this type.")] = None,
        first: FirstOfList = DEFAULT_LIST,
    ) -> list[records.Transfer]:
        size = list_size(first, "first", DEFAULT_LIST, info.context.limits.max_list)
        return await info.context.readers.transfers_of(root.id, status, type, size)

    @strawberry.field(
        description="The provider threads behind it, the last used first.", graphql_type=list[ProviderThread]
    )
    @staticmethod
    async def provider_threads(
        root: strawberry.Parent[records.Thread], info: Info, first: FirstOfList = DEFAULT_LIST
    ) -> list[records.ProviderThread]:
        size = list_size(first, "first", DEFAULT_LIST, info.context.limits.max_list)
        return await info.context.readers.provider_threads_of(root.id, size)

    @strawberry.field(description="Its checkpoints, newest first.", graphql_type=list[Checkpoint])
    @staticmethod
    async def checkpoints(
        root: strawberry.Parent[records.Thread], info: Info, first: FirstOfList = DEFAULT_LIST
    ) -> list[records.Checkpoint]:
        size = list_size(first, "first", DEFAULT_LIST, info.context.limits.max_list)
        return await info.context.readers.checkpoints_of(root.id, size)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.Thread)
