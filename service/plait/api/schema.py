"""The schema, put together, and its text. `plait export-schema > schema.graphql` keeps it."""

from functools import cache

import strawberry
from graphql import GraphQLObjectType, GraphQLSchema, Undefined, lexicographic_sort_schema, print_schema
from strawberry.schema.config import StrawberryConfig

from plait.api.codes import AnyCode
from plait.api.executor import ShortWayExecutor
from plait.api.mutations import Mutation
from plait.api.queries import Query
from plait.api.scalars import SCALARS
from plait.api.types.checkpoint import Checkpoint
from plait.api.types.execution import ExecutionNode
from plait.api.types.handoff import ContextHandoff
from plait.api.types.item import TurnItem
from plait.api.types.provider import ProviderThread

schema = strawberry.Schema(
    query=Query,
    mutation=Mutation,
    types=[TurnItem, Checkpoint, ExecutionNode, ProviderThread, ContextHandoff, AnyCode],
    execution_context_class=ShortWayExecutor,
    config=StrawberryConfig(scalar_map=SCALARS),
)


@cache
def core_schema() -> GraphQLSchema:
    """The schema as graphql-core knows it, where an optional argument has no default rather than a null one."""
    core = schema._schema  # pyright: ignore[reportPrivateUsage]
    for type in core.type_map.values():
        if isinstance(type, GraphQLObjectType):
            for field in type.fields.values():
                for argument in field.args.values():
                    if argument.default_value is None:
                        argument.default_value = Undefined
    return core


@cache
def print_sdl() -> str:
    """The schema as text, sorted, with its descriptions."""
    return print_schema(lexicographic_sort_schema(core_schema())) + "\n"
