"""The schema: exported, described throughout, and with the names that clients rely on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    get_named_type,
    is_specified_scalar_type,
)

from plait.api.codes import AnyCode, TransportCode
from plait.api.schema import core_schema, print_sdl
from plait.domain.errors import ErrorCode

EXPORTED = Path(__file__).parents[2] / "schema.graphql"

FIXED = {
    "Query": "thread threads run checkpoint transfer handoff node lineage explainStart providers",
    "Thread": "id title status createdBy createdAt updatedAt depth parentThreadId relationshipToParent rootThreadId "
    "parent root provider runs visibleItems transfers providerThreads checkpoints latestStablePoint activeRun "
    "originPoint",
    "Run": "id threadId thread position provider model executor status createdAt startedAt endedAt leaseUntil reason "
    "stable nativeThreadId nativeTurnId usage items message checkpoints plan",
    "RunUsage": "inputTokens outputTokens",
    "VisibleItem": "id kind text data status position run inherited",
    "ContextTransfer": "id type status sourceThread targetThread sourcePoint basePoint sourceProvider targetProvider "
    "resolution handoff createdBy createdAt consumedAt consumedByRun supersededBy failure",
    "TransferResolution": "strategy handoffId nativeThreadId",
    "TransferFailure": "code message",
    "SourcePoint": "threadId runId checkpointId turnItemId providerThreadRef providerTurnRef",
    "ContextHandoff": "id kind transferId transfer provider text hash tokens budgetTokens payload createdAt",
    "StartPlan": "outcome strategy reason transfers handoffs resume nativeFork injected candidates",
    "NativeResume": "nativeThreadId",
    "NativeFork": "nativeThreadId lastTurnId laterTerminalTurns",
    "StartCandidate": "outcome strategy nativeThreadId nativeTurnId costTokens taken reason",
    "Lineage": "nodes edges pageInfo totalCount truncated",
    "LineageNode": "thread depth",
    "LineageEdge": "id kind sourceThreadId targetThreadId transferId createdAt",
    "PageInfo": "hasNextPage hasPreviousPage startCursor endCursor",
    "ThreadConnection": "edges nodes pageInfo totalCount",
    "ThreadEdge": "node cursor",
    "Provider": "key capabilities available",
    "CreateThreadPayload": "thread",
    "ForkThreadPayload": "thread transfer",
    "StartRunPayload": "run plan",
    "ReportRunStartedPayload": "run plan",
    "AppendTurnItemsPayload": "items",
    "CompleteRunPayload": "run checkpoint",
    "FailRunPayload": "run",
    "InterruptRunPayload": "run",
    "HeartbeatRunPayload": "run",
    "CreateCheckpointPayload": "checkpoint",
    "CancelTransferPayload": "transfer",
}


def test_exported_schema_is_fresh() -> None:
    assert EXPORTED.read_text() == print_sdl(), "stale: run `plait export-schema > schema.graphql`"


def own_types() -> Iterator[object]:
    for name, type in core_schema().type_map.items():
        if not name.startswith("__") and not is_specified_scalar_type(type):
            yield type


def undescribed() -> Iterator[str]:
    for type in own_types():
        assert isinstance(
            type,
            GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType | GraphQLEnumType | GraphQLScalarType,
        )
        if not type.description:
            yield type.name
        if isinstance(type, GraphQLEnumType):
            yield from (f"{type.name}.{name}" for name, value in type.values.items() if not value.description)
        elif not isinstance(type, GraphQLScalarType):
            for name, field in type.fields.items():
                if not field.description:
                    yield f"{type.name}.{name}"
                for argument, details in getattr(field, "args", {}).items():
                    if not details.description:
                        yield f"{type.name}.{name}({argument})"


def test_everything_is_described() -> None:
    assert list(undescribed()) == []


@pytest.mark.parametrize("name", FIXED)
def test_fixed_names(name: str) -> None:
    type = core_schema().type_map[name]
    assert isinstance(type, GraphQLObjectType)
    assert set(FIXED[name].split()) <= set(type.fields)


def test_every_mutation_takes_one_input_and_gives_a_payload() -> None:
    mutation = core_schema().mutation_type
    assert mutation is not None
    for name, field in mutation.fields.items():
        stem = name[0].upper() + name[1:]
        assert {argument: str(details.type) for argument, details in field.args.items()} == {"input": f"{stem}Input!"}
        assert str(field.type) == f"{stem}Payload"
        given, payload = get_named_type(field.args["input"].type), get_named_type(field.type)
        assert isinstance(given, GraphQLInputObjectType)
        assert isinstance(payload, GraphQLObjectType)
        assert str(given.fields["clientMutationId"].type) == "String"
        assert str(payload.fields["clientMutationId"].type) == "String"


def test_enum_values_are_upper_case() -> None:
    for type in own_types():
        if isinstance(type, GraphQLEnumType):
            assert all(re.fullmatch(r"[A-Z][A-Z_]*", value) for value in type.values), type.name


def test_every_code_is_in_the_schema() -> None:
    assert {code.value for code in AnyCode} == {code.value for code in (*ErrorCode, *TransportCode)}


def test_optional_arguments_have_no_null_default() -> None:
    assert "= null" not in print_sdl()
