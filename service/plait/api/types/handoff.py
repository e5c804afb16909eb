"""Handoffs: what was (or will be) told to a provider, as records."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.context import Info
from plait.api.scalars import Json
from plait.api.types.node import Node
from plait.domain import model as records
from plait.domain.model import HandoffKind

if TYPE_CHECKING:
    from plait.api.types.transfer import ContextTransfer


@strawberry.type(description="The materialised context of a transfer, as sent.")
class ContextHandoff(Node):
    transfer_id: strawberry.ID = strawberry.field(description="The transfer it carries out.")
    target_thread_id: strawberry.ID = strawberry.field(description="The thread it goes into.")
    provider: str = strawberry.field(description="Key of the provider it is for.")
    kind: HandoffKind = strawberry.field(description="What it carries.")
    text: str = strawberry.field(description="The text, as sent.")
    hash: str = strawberry.field(description="Hash of the text.")
    tokens: int = strawberry.field(description="How many tokens the text takes, counted by Plait.")
    budget_tokens: int = strawberry.field(description="How many tokens it was allowed to take.")
    payload: Json = strawberry.field(description="The same as structured data, with what was left out and why.")
    revision_of_id: strawberry.ID | None = strawberry.field(
        description="The handoff that a person has put into these words; null: it was built by Plait."
    )
    superseded_by_id: strawberry.ID | None = strawberry.field(description="The revision that took its place.")
    created_at: datetime = strawberry.field(description="When it was built.")

    @strawberry.field(
        description="The transfer it carries out.",
        graphql_type=Annotated["ContextTransfer", strawberry.lazy("plait.api.types.transfer")],
    )
    @staticmethod
    async def transfer(root: strawberry.Parent[records.Handoff], info: Info) -> records.Transfer:
        return await info.context.loaders.transfers.must(root.transfer_id)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.Handoff)
