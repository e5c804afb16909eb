"""Providers: what each can do, and their own handles behind our threads."""

from datetime import datetime

import strawberry

from plait.api.connections import After, Connection, First, PageView, page_request, view
from plait.api.context import Info
from plait.api.types.handoff import ContextHandoff
from plait.api.types.node import Node
from plait.api.types.run import Run
from plait.domain import model as records
from plait.domain.coverage import CoverageVia
from plait.domain.model import ProviderThreadStatus
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport
from plait.graph import coverage as reads


@strawberry.type(description="What a provider can do: all that the planner knows of it.", name="ProviderCapabilities")
class ProviderCapabilities:
    driver: str = strawberry.field(description="The kind of provider; several instances may share it.")
    fork: ForkSupport = strawberry.field(description="At which point it can fork its own thread.")
    resume: bool = strawberry.field(description="Whether it can go on in an earlier thread of its own.")
    revert: bool = strawberry.field(description="Whether it can take turns back.")
    injection: ContextInjection = strawberry.field(description="How context can reach it besides the user's words.")
    strong_native_ids: bool = strawberry.field(description="Whether its own ids name the same thing for good.")
    bound_to_directory: bool = strawberry.field(description="Whether its threads belong to one working folder.")
    reports_children: bool = strawberry.field(description="Whether it tells of the subagents it starts.")
    handoff_tokens: int = strawberry.field(description="Largest handoff it should be given, in tokens.")


@strawberry.type(description="An instance of a provider that runs may be started on.")
class Provider:
    key: str = strawberry.field(description="What runs name it by.")
    capabilities: Capabilities = strawberry.field(graphql_type=ProviderCapabilities, description="What it can do.")
    available: bool = strawberry.field(
        description="Whether a run may be started on it now: always, where the app itself drives it (`CLIENT`)."
    )


@strawberry.type(
    description="Runs of one thread, one after the other, that a provider thread knows in one way.",
)
class CoverageSegment:
    thread_id: strawberry.ID = strawberry.field(description="The thread that owns the runs.")
    first_run: records.Run = strawberry.field(graphql_type=Run, description="The first of the runs.")
    last_run: records.Run = strawberry.field(graphql_type=Run, description="The last of the runs.")
    run_count: int = strawberry.field(description="How many runs that a provider accepted these are.")
    after_item_position: int | None = strawberry.field(
        description="Of the first run only what comes after this item is meant; null: the run from its beginning."
    )
    through_item_position: int | None = strawberry.field(
        description="Of the last run only what comes through this item is meant; null: the run to its end."
    )
    via: CoverageVia = strawberry.field(description="How the provider thread came to know them.")
    handoff_id: strawberry.ID | None = strawberry.field(description="The handoff that told them; null: natively known.")
    native_turn_id: str | None = strawberry.field(
        description="The provider's own id of the turn of the last run, where it is known natively as a whole."
    )
    in_history: bool = strawberry.field(
        description="Whether they are in the history of the thread the provider thread stands behind; false: they were "
        "rolled back since, and the provider thread is not resumed."
    )

    @strawberry.field(
        description="The handoff that told them; null: natively known. Its payload has what was left out of it.",
        graphql_type=ContextHandoff | None,
    )
    @staticmethod
    async def handoff(root: strawberry.Parent[reads.CoverageSegment], info: Info) -> records.Handoff | None:
        return await info.context.loaders.handoffs.maybe(root.handoff_id)


@strawberry.type(description="A provider's own thread, the handle behind one of ours.")
class ProviderThread(Node):
    thread_id: strawberry.ID = strawberry.field(description="The thread it stands behind.")
    provider: str = strawberry.field(description="Key of the provider.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of it.")
    status: ProviderThreadStatus = strawberry.field(description="Whether it can be resumed.")
    tip_run_id: strawberry.ID = strawberry.field(description="The last run it accepted: it knows that run's history.")
    turns: int = strawberry.field(description="How many runs it accepted.")
    created_at: datetime = strawberry.field(description="When it was first seen.")

    @strawberry.field(
        description="What it knows, in the order of the history of its last run, each run once: natively, or by a "
        "handoff. A lost one knew it. A turn that is in no history is not told of here: the status is DIVERGENT.",
        graphql_type=Connection[CoverageSegment],
    )
    @staticmethod
    async def coverage(
        root: strawberry.Parent[records.ProviderThread], info: Info, first: First = None, after: After = None
    ) -> PageView[reads.CoverageSegment]:
        request = page_request(info.context.limits, first, after)
        return view(await info.context.loaders.coverage.load((root.id, request)))

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.ProviderThread)
