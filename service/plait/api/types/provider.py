"""Providers: what each can do, and their own handles behind our threads."""

from datetime import datetime

import strawberry

from plait.api.types.node import Node
from plait.domain import model as records
from plait.domain.model import ProviderThreadStatus
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport


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


@strawberry.type(description="A provider's own thread, the handle behind one of ours.")
class ProviderThread(Node):
    thread_id: strawberry.ID = strawberry.field(description="The thread it stands behind.")
    provider: str = strawberry.field(description="Key of the provider.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of it.")
    status: ProviderThreadStatus = strawberry.field(description="Whether it can be resumed.")
    tip_run_id: strawberry.ID = strawberry.field(description="The last run it accepted: it knows that run's history.")
    turns: int = strawberry.field(description="How many runs it accepted.")
    created_at: datetime = strawberry.field(description="When it was first seen.")

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.ProviderThread)
