"""Transfers: the records that connect the source and the target of context."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.context import Info
from plait.api.types.handoff import ContextHandoff
from plait.api.types.node import Node
from plait.api.types.point import SourcePoint
from plait.domain import model as records
from plait.domain.model import Creator, ResultStatus, Strategy, TransferStatus, TransferType

if TYPE_CHECKING:
    from plait.api.types.run import Run
    from plait.api.types.thread import Thread

ThreadRef = Annotated["Thread", strawberry.lazy("plait.api.types.thread")]
TransferRef = Annotated["ContextTransfer", strawberry.lazy("plait.api.types.transfer")]
RunRef = Annotated["Run", strawberry.lazy("plait.api.types.run")]


@strawberry.type(description="How a transfer is carried out.")
class TransferResolution:
    strategy: Strategy = strawberry.field(description="The way that was chosen.")
    handoff_id: strawberry.ID | None = strawberry.field(description="The handoff that carries it.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of the thread that carries it.")


@strawberry.type(description="Why a transfer failed.")
class TransferFailure:
    code: str = strawberry.field(description="A code for programs.")
    message: str = strawberry.field(description="A sentence for people.")


@strawberry.type(description="What a subagent gives back.")
class SubagentResult:
    status: ResultStatus = strawberry.field(description="How its run ended.")
    text: str | None = strawberry.field(description="Its answer, or why there is none.")


@strawberry.type(description="The durable record that connects the source and the target of a context transfer.")
class ContextTransfer(Node):
    type: TransferType = strawberry.field(description="Why context is transferred.")
    status: TransferStatus = strawberry.field(description="Where it stands.")
    source_thread_id: strawberry.ID = strawberry.field(description="The thread context comes from.")
    target_thread_id: strawberry.ID = strawberry.field(description="The thread context goes into.")
    source_point: records.SourcePoint = strawberry.field(
        graphql_type=SourcePoint, description="The exact state it takes; what it carries ends here, inclusive."
    )
    base_point: records.SourcePoint | None = strawberry.field(
        graphql_type=SourcePoint | None,
        description="The last point both sides share: what it carries begins after it. Merge-backs have one; that of a "
        "subagent's result is the run that spawned it.",
    )
    source_provider: str | None = strawberry.field(description="Key of the provider at the source.")
    target_provider: str | None = strawberry.field(description="Key of the provider it was resolved for.")
    created_by: Creator = strawberry.field(description="Who asked for it.")
    created_at: datetime = strawberry.field(description="When it was made.")
    resolved_at: datetime | None = strawberry.field(description="When it was resolved.")
    consumed_at: datetime | None = strawberry.field(description="When a provider accepted the turn that carried it.")

    @strawberry.field(description="How it is carried out; null before it is resolved.")
    @staticmethod
    def resolution(root: strawberry.Parent[records.Transfer]) -> TransferResolution | None:
        if root.strategy is None:
            return None
        handoff_id = None if root.handoff_id is None else strawberry.ID(root.handoff_id)
        return TransferResolution(strategy=root.strategy, handoff_id=handoff_id, native_thread_id=root.native_thread_id)

    @strawberry.field(description="What the subagent gives back; null where it is no `SUBAGENT_RESULT`.")
    @staticmethod
    def result(root: strawberry.Parent[records.Transfer]) -> SubagentResult | None:
        return None if root.result_status is None else SubagentResult(status=root.result_status, text=root.result_text)

    @strawberry.field(description="Why it failed; null otherwise.")
    @staticmethod
    def failure(root: strawberry.Parent[records.Transfer]) -> TransferFailure | None:
        if root.failure_code is None:
            return None
        return TransferFailure(code=root.failure_code, message=root.failure_message or "")

    @strawberry.field(description="The thread context comes from.", graphql_type=ThreadRef)
    @staticmethod
    async def source_thread(root: strawberry.Parent[records.Transfer], info: Info) -> records.Thread:
        return await info.context.loaders.threads.must(root.source_thread_id)

    @strawberry.field(description="The thread context goes into.", graphql_type=ThreadRef)
    @staticmethod
    async def target_thread(root: strawberry.Parent[records.Transfer], info: Info) -> records.Thread:
        return await info.context.loaders.threads.must(root.target_thread_id)

    @strawberry.field(description="The handoff that carries it.", graphql_type=ContextHandoff | None)
    @staticmethod
    async def handoff(root: strawberry.Parent[records.Transfer], info: Info) -> records.Handoff | None:
        return await info.context.loaders.handoffs.maybe(root.handoff_id)

    @strawberry.field(description="The run whose provider turn carried it.", graphql_type=RunRef | None)
    @staticmethod
    async def consumed_by_run(root: strawberry.Parent[records.Transfer], info: Info) -> records.Run | None:
        return await info.context.loaders.runs.maybe(root.consumed_by_run_id)

    @strawberry.field(
        description="The transfer that replaced it.",
        graphql_type=TransferRef | None,
    )
    @staticmethod
    async def superseded_by(root: strawberry.Parent[records.Transfer], info: Info) -> records.Transfer | None:
        return await info.context.loaders.transfers.maybe(root.superseded_by_id)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.Transfer)
