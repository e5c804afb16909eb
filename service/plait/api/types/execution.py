"""Native children of a run, as their provider tells of them."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.context import Info
from plait.api.types.node import Node
from plait.domain import model as records
from plait.domain.model import NodeStatus

if TYPE_CHECKING:
    from plait.api.types.run import Run
    from plait.api.types.thread import Thread


ThreadRef = Annotated["Thread", strawberry.lazy("plait.api.types.thread")]


@strawberry.type(description="A subagent that a provider started itself, as far as it tells.")
class ExecutionNode(Node):
    run_id: strawberry.ID = strawberry.field(description="The earliest run it was seen in.")
    thread_id: strawberry.ID = strawberry.field(description="The thread of that run.")
    provider: str = strawberry.field(description="Key of the provider.")
    native_id: str = strawberry.field(description="The provider's own id of it.")
    native_parent_id: str | None = strawberry.field(
        description="The provider's own id of the subagent that started it; null: the run did, or nobody told."
    )
    title: str | None = strawberry.field(description="Its name.")
    task: str | None = strawberry.field(description="What it was asked to do.")
    status: NodeStatus = strawberry.field(description="Where its work stands.")
    result: str | None = strawberry.field(description="What it found, or why there is nothing.")
    created_at: datetime = strawberry.field(description="When it was first heard of.")
    updated_at: datetime = strawberry.field(description="When it was last heard of.")

    @strawberry.field(
        description="The run it was seen in.", graphql_type=Annotated["Run", strawberry.lazy("plait.api.types.run")]
    )
    @staticmethod
    async def run(root: strawberry.Parent[records.ExecutionNode], info: Info) -> records.Run:
        return await info.context.loaders.runs.must(root.run_id)

    @strawberry.field(description="The thread that was made of it, if any.", graphql_type=ThreadRef | None)
    @staticmethod
    async def promoted_thread(root: strawberry.Parent[records.ExecutionNode], info: Info) -> records.Thread | None:
        return await info.context.loaders.threads.maybe(root.promoted_thread_id)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.ExecutionNode)
