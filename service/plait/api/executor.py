"""How graphql-core completes fields here: a plain attribute that is a leaf of the answer takes a short way.

Most of an answer is such attributes. For each, graphql-core builds a path, an info object and arguments, and goes
through a resolver and the completion of the type. What is left of it here is: read, serialise. Whatever is out of the
ordinary (an error, a null where none may be) goes the long way, which knows what to say.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from inspect import isawaitable
from typing import Any, NamedTuple, TypeAlias

from graphql import (
    GraphQLID,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLString,
    is_non_null_type,  # pyright: ignore[reportUnknownVariableType]
)
from graphql.pyutils import Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import CustomGraphQLEnumType, GraphQLCoreConverter
from strawberry.types.field import StrawberryField

Fields: TypeAlias = dict[str, Any]


class _Leaf(NamedTuple):
    attribute: str
    serialize: Callable[[Any], Any]
    nullable: bool


class ShortWayExecutor(StrawberryGraphQLCoreExecutionContext):
    """graphql-core's executor with the short way for leaves."""

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: Fields,
        position_context: Any,
    ) -> Any:
        leaves = _leaves(parent_type)
        results: dict[str, Any] = {}
        rest: Fields = {}
        for response_name, details in grouped_field_set.items():
            results[response_name] = None  # takes its place in the order
            leaf = leaves.get(details[0].node.name.value)
            if leaf is None:
                rest[response_name] = details
                continue
            try:
                value = getattr(source_value, leaf.attribute)
                if value is not None:
                    results[response_name] = leaf.serialize(value)
                elif not leaf.nullable:
                    rest[response_name] = details
            except Exception:
                rest[response_name] = details
        if not rest:
            return results
        others = super().execute_fields(parent_type, source_value, path, rest, position_context)
        if isawaitable(others):
            return _joined(results, others)
        results.update(others)
        return results


async def _joined(results: dict[str, Any], others: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    results.update(await others)
    return results


@cache
def _leaves(parent: GraphQLObjectType) -> dict[str, _Leaf]:
    """The fields of a type that may take the short way, by name."""
    found = {name: _leaf(field) for name, field in parent.fields.items()}
    return {name: leaf for name, leaf in found.items() if leaf is not None}


def _leaf(field: Any) -> _Leaf | None:
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(definition, StrawberryField) or not definition.is_basic_field:
        return None
    nullable = not is_non_null_type(field.type)
    serialize = _serializer(field.type if nullable else field.type.of_type)
    return serialize and _Leaf(definition.python_name, serialize, nullable)


def _serializer(type: object) -> Callable[[Any], Any] | None:
    """How a value of a leaf type becomes part of the answer; nothing for other types."""
    if isinstance(type, CustomGraphQLEnumType):
        return {type.wrapped_cls(value.value): name for name, value in type.values.items()}.__getitem__
    if type in (GraphQLString, GraphQLID):
        return _text
    return type.coerce_output_value if isinstance(type, GraphQLScalarType) else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError
