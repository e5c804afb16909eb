"""Documents: costly shapes are refused at once, good ones are kept within bounds."""

from __future__ import annotations

import time

import pytest
from graphql import get_introspection_query

from plait.api import documents
from plait.api.documents import DocumentRefused, Documents
from plait.api.schema import core_schema
from tests.api.conftest import Api


def fragments(count: int, spreads: int) -> str:
    """Fragments that each spread the next so often: spreads ** count fields, in a few characters."""
    chain = "".join(f"fragment f{i} on Query{{{f'...f{i + 1} ' * spreads}}}" for i in range(count))
    return "{...f0}" + chain + f"fragment f{count} on Query{{__typename}}"


COSTLY = {
    "exploding fragments": fragments(60, 2),
    "exploding fragments below fields": "{...f0}"
    + "".join(
        f"fragment f{i} on Query{{a: node(id: 1) {'{'}...f{i + 1}{'}'} b: node(id: 1) {'{'}...f{i + 1}{'}'}}}"
        for i in range(40)
    )
    + "fragment f40 on Query{__typename}",
    "fields": "{" + "__typename " * 501 + "}",
    "aliases": "{" + " ".join(f"a{i}: providers {{ key }}" for i in range(101)) + "}",
    "depth": "{ thread(id: 1) " + "{ parent " * 20 + "{ id }" + "}" * 20 + " }",
    "inline fragments": "{" + "... { " * 150 + "__typename" + "}" * 151,
    "open braces": "{a" * 3_000,
    "open brackets": "{ threads(first: " + "[" * 3_000,
    "tokens": "{ threads(first: [" + "1 " * 6_000 + "]) }",
    "comments": "# a\n" * 2_000 + "{ __typename }",
    "length": "{ __typename } #" + "a" * 2_000_000,
    "fragments that nobody uses": "{ __typename }"
    + "".join(f"fragment f{i} on Query {{ {'__typename ' * 50} }}" for i in range(20)),
}


@pytest.mark.parametrize("query", COSTLY.values(), ids=COSTLY.keys())
async def test_a_costly_shape_is_refused_at_once(api: Api, query: str) -> None:
    begin = time.perf_counter()
    assert await api.codes(query) == ["LIMIT_EXCEEDED"]
    assert time.perf_counter() - begin < 0.5
    assert api.backend.calls == []


async def test_a_fragment_within_itself_is_refused(api: Api) -> None:
    query = "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }"
    assert set(await api.codes(query)) == {"GRAPHQL_VALIDATION_FAILED"}


async def test_an_unknown_fragment_is_refused(api: Api) -> None:
    assert await api.codes("{ ...nothing }") == ["GRAPHQL_VALIDATION_FAILED"]


async def test_errors_of_one_document_are_few(api: Api) -> None:
    assert len(await api.codes("{" + " ".join(f"nothing{i}" for i in range(90)) + "}")) <= documents.MAX_ERRORS + 1


async def test_introspection_as_tools_send_it(api: Api) -> None:
    query = get_introspection_query(
        descriptions=True,
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )
    assert "errors" not in await api.run(query)


def test_documents_are_kept() -> None:
    kept = Documents(core_schema())
    assert kept.prepare("{ __typename }") is kept.prepare("{ __typename }")


def test_refused_documents_are_not_kept() -> None:
    kept = Documents(core_schema())
    for _ in range(2):
        with pytest.raises(DocumentRefused):
            kept.prepare("{ nothing }")


def test_kept_documents_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "CACHED_DOCUMENTS", 3)
    monkeypatch.setattr(documents, "CACHED_CHARACTERS", 400)
    kept = Documents(core_schema())
    first = kept.prepare("query a { __typename }")
    for name in "bc":
        kept.prepare(f"query {name} {{ __typename }}")
    assert kept.prepare("query a { __typename }") is first  # used again, so newest
    kept.prepare("query d { __typename }")
    assert kept.prepare("query a { __typename }") is first
    long = "{ __typename } #" + "x" * 80
    for number in range(10):
        kept.prepare(long + str(number))
    assert kept.prepare("query a { __typename }") is not first
