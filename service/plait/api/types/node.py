"""The interface that every record with an id of its own has."""

import strawberry
from graphql import GraphQLAbstractType

from plait.domain.model import Checkpoint, ExecutionNode, Handoff, ProviderThread, Run, Thread, Transfer, TurnItem

_NAMES: dict[type, str] = {
    Thread: "Thread",
    Run: "Run",
    TurnItem: "TurnItem",
    Checkpoint: "Checkpoint",
    ProviderThread: "ProviderThread",
    ExecutionNode: "ExecutionNode",
    Transfer: "ContextTransfer",
    Handoff: "ContextHandoff",
}


@strawberry.interface(description="A record with an id that is unique over all types.")
class Node:
    id: strawberry.ID = strawberry.field(
        description="The record's id: a prefix that names its type, then a UUIDv7; the same id as in the graph."
    )

    @classmethod
    def resolve_type(cls, obj: object, _info: object, _type: GraphQLAbstractType) -> str:
        return _NAMES[type(obj)]
