"""The short way for leaves gives what graphql-core's own way gives, in the same order."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
import strawberry
from graphql import ExecutionResult, execute, parse
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from plait.api.executor import ShortWayExecutor


@strawberry.enum
class Colour(StrEnum):
    RED = "red"


@strawberry.type
class Thing:
    number: int | None = None
    flag: bool = True
    text: str = "a"
    needed: str | None = None
    colour: Colour = Colour.RED
    colours: list[Colour] = strawberry.field(default_factory=lambda: [Colour.RED])

    @strawberry.field
    def computed(self) -> str:
        return "c"

    @strawberry.field
    async def later(self) -> Thing | None:
        return None if self.number is None else Thing()


class Rough:
    """A source with what a record never has."""

    number = 2**40
    flag = True
    needed = "x"
    colour = "green"
    text = None

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


@strawberry.type
class Query:
    @strawberry.field
    def thing(self) -> Thing:
        return Thing(number=1)

    @strawberry.field
    def things(self) -> list[Thing]:
        return [Thing(number=number) for number in range(3)]

    @strawberry.field
    async def rough(self) -> Thing | None:
        return Rough()  # type: ignore[return-value]


schema = strawberry.Schema(Query)._schema


async def run(query: str, executor: type, variables: dict[str, Any] | None = None) -> ExecutionResult:
    result = execute(schema, parse(query), variable_values=variables, executor_class=executor)
    return result if isinstance(result, ExecutionResult) else await result


@pytest.mark.parametrize(
    "query",
    [
        "{ thing { computed text number later { text computed number } flag colour colours needed } }",
        "{ things { b: number a: text b: number __typename ... on Thing { colour } ...F later { ...F } } } "
        "fragment F on Thing { flag text }",
        "query ($no: Boolean = false) "
        "{ thing { text @include(if: $no) number @skip(if: $no) later { text @skip(if: $no) } } }",
        "{ rough { number flag } }",
        "{ rough { flag text needed } }",
        "{ rough { needed colour } }",
        "{ rough { colours } thing { flag } }",
        '{ __schema { types { name kind fields { name } } } __type(name: "Colour") { enumValues { name } } }',
    ],
)
async def test_both_ways_agree(query: str) -> None:
    short = await run(query, ShortWayExecutor)
    long = await run(query, StrawberryGraphQLCoreExecutionContext)
    assert repr(short.data) == repr(long.data)  # repr: the order of the fields as well
    assert [(error.message, error.path) for error in short.errors or []] == [
        (error.message, error.path) for error in long.errors or []
    ]
