"""Runs: one message and all the work it set off."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.connections import After, Connection, First, PageView, page_request, view
from plait.api.context import Info
from plait.api.types.checkpoint import Checkpoint
from plait.api.types.execution import ExecutionNode
from plait.api.types.item import TurnItem
from plait.api.types.node import Node
from plait.api.types.plan import RecordedPlan, StartPlan
from plait.domain import model as records
from plait.domain.model import Executor, RunStatus

if TYPE_CHECKING:
    from plait.api.types.thread import Thread


@strawberry.type(description="Tokens the provider counted for a run; each run once, whatever was forked from it.")
class RunUsage:
    input_tokens: int = strawberry.field(description="Tokens the provider read.")
    output_tokens: int = strawberry.field(description="Tokens the provider wrote.")


@strawberry.type(description="One user (or agent) message and all the work it set off, on one provider.")
class Run(Node):
    thread_id: strawberry.ID = strawberry.field(description="The thread it belongs to.")
    position: int = strawberry.field(description="Its number in the thread, from 1.")
    provider: str = strawberry.field(description="Key of the provider.")
    model: str | None = strawberry.field(description="The model that was asked for.")
    executor: Executor = strawberry.field(description="Who drives the provider.")
    status: RunStatus = strawberry.field(description="Where it stands.")
    created_at: datetime = strawberry.field(description="When it was made.")
    started_at: datetime | None = strawberry.field(description="When the provider accepted its turn.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
    lease_until: datetime | None = strawberry.field(
        description="Until when its executor must be heard of again, by `heartbeatRun` or any other report; after that "
        "it becomes INTERRUPTED. Null once it has ended."
    )
    reason: str | None = strawberry.field(description="Why it failed or was interrupted.")
    stable: bool = strawberry.field(description="Whether it is a point to fork from.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of its thread.")
    native_turn_id: str | None = strawberry.field(description="The provider's own id of the turn.")

    @strawberry.field(description="Tokens the provider counted for it, once it has told.")
    @staticmethod
    def usage(root: strawberry.Parent[records.Run]) -> RunUsage | None:
        if root.input_tokens is None or root.output_tokens is None:
            return None
        return RunUsage(input_tokens=root.input_tokens, output_tokens=root.output_tokens)

    @strawberry.field(description="The plan it was started by.", graphql_type=StartPlan | None)
    @staticmethod
    def plan(root: strawberry.Parent[records.Run]) -> RecordedPlan | None:
        return None if root.plan is None else RecordedPlan(root, root.plan)

    @strawberry.field(description="The message that set it off: the text of its first item.")
    @staticmethod
    async def message(root: strawberry.Parent[records.Run], info: Info) -> str | None:
        item = await info.context.loaders.first_items.load(root.id)
        return None if item is None else item.text

    @strawberry.field(
        description="The thread it belongs to.",
        graphql_type=Annotated["Thread", strawberry.lazy("plait.api.types.thread")],
    )
    @staticmethod
    async def thread(root: strawberry.Parent[records.Run], info: Info) -> records.Thread:
        return await info.context.loaders.threads.must(root.thread_id)

    @strawberry.field(description="Its items, oldest first.", graphql_type=Connection[TurnItem])
    @staticmethod
    async def items(
        root: strawberry.Parent[records.Run],
        info: Info,
        first: First = None,
        after: After = None,
    ) -> PageView[records.TurnItem]:
        request = page_request(info.context.limits, first, after)
        return view(await info.context.readers.items_of_run(root.id, request))

    @strawberry.field(
        description="Its checkpoints, newest first.",
        graphql_type=list[Checkpoint],
    )
    @staticmethod
    async def checkpoints(root: strawberry.Parent[records.Run], info: Info) -> list[records.Checkpoint]:
        return await info.context.loaders.checkpoints_of_runs.load(root.id)

    @strawberry.field(
        description="The subagents that its provider started itself, in the order in which they were first heard of.",
        graphql_type=list[ExecutionNode],
    )
    @staticmethod
    async def execution_nodes(root: strawberry.Parent[records.Run], info: Info) -> list[records.ExecutionNode]:
        return await info.context.loaders.execution_nodes_of_runs.load(root.id)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.Run)
