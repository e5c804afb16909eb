"""Turn items: as records, and as seen in a thread's history."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.context import Info
from plait.api.scalars import Json
from plait.api.types.node import Node
from plait.domain import model as records
from plait.domain.model import ItemKind, ItemStatus
from plait.graph import pages

if TYPE_CHECKING:
    from plait.api.types.run import Run

RunRef = Annotated["Run", strawberry.lazy("plait.api.types.run")]

_KIND = "What the item is."
_STATUS = "Whether it is done."
_POSITION = "Its number in its run, from 1; the message of the run is the first."
_TEXT = "Its text."
_DATA = "What the executor gave with it, as JSON."
_TOKENS = "How many tokens it takes, counted by Plait."
_CREATED = "When it was first stored."
_RUN = "The run it belongs to."


async def _run(root: strawberry.Parent[records.TurnItem], info: Info) -> records.Run:
    return await info.context.loaders.runs.must(root.run_id)


@strawberry.type(description="One message, tool call, command, file change or the like of a run.")
class TurnItem(Node):
    run_id: strawberry.ID = strawberry.field(description="The run it belongs to.")
    thread_id: strawberry.ID = strawberry.field(description="The thread of its run.")
    position: int = strawberry.field(description=_POSITION)
    kind: ItemKind = strawberry.field(description=_KIND)
    status: ItemStatus = strawberry.field(description=_STATUS)
    text: str | None = strawberry.field(description=_TEXT)
    data: Json | None = strawberry.field(description=_DATA)
    tokens: int = strawberry.field(description=_TOKENS)
    created_at: datetime = strawberry.field(description=_CREATED)
    run: records.Run = strawberry.field(resolver=_run, graphql_type=RunRef, description=_RUN)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.TurnItem)


@strawberry.type(description="An item of a thread's history: its own, or one inherited from where it was forked.")
class VisibleItem:
    id: strawberry.ID = strawberry.field(description="Id of the `TurnItem`.")
    run_id: strawberry.ID = strawberry.field(description="The run it belongs to.")
    thread_id: strawberry.ID = strawberry.field(description="The thread that owns its run.")
    inherited: bool = strawberry.field(description="Whether its run belongs to another thread.")
    position: int = strawberry.field(description=_POSITION)
    kind: ItemKind = strawberry.field(description=_KIND)
    status: ItemStatus = strawberry.field(description=_STATUS)
    text: str | None = strawberry.field(description=_TEXT)
    data: Json | None = strawberry.field(description=_DATA)
    tokens: int = strawberry.field(description=_TOKENS)
    created_at: datetime = strawberry.field(description=_CREATED)
    run: records.Run = strawberry.field(resolver=_run, graphql_type=RunRef, description=_RUN)


class VisibleItemView:
    """A visible item with the fields of its item beside `inherited`."""

    __slots__ = (
        "created_at",
        "data",
        "id",
        "inherited",
        "kind",
        "position",
        "run_id",
        "status",
        "text",
        "thread_id",
        "tokens",
    )

    def __init__(self, visible: pages.VisibleItem) -> None:
        item = visible.item
        self.inherited = visible.inherited
        self.id = item.id
        self.run_id = item.run_id
        self.thread_id = item.thread_id
        self.position = item.position
        self.kind = item.kind
        self.status = item.status
        self.text = item.text
        self.data = item.data
        self.tokens = item.tokens
        self.created_at = item.created_at
