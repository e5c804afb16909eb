"""The HTTP side: what is taken, what is refused and how, and that nothing a client sends is a server error."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from graphql import parse, validate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.api.graphiql import EXAMPLES, graphiql_page
from plait.api.schema import core_schema, print_sdl
from plait.api.services import Limits
from tests.api.conftest import Api, Backend, api_over

JSON = {"content-type": "application/json"}
PROVIDERS = "{ providers { key available capabilities { fork } } }"


def only_error(body: dict[str, object]) -> dict[str, object]:
    assert set(body) == {"errors"}
    errors = body["errors"]
    assert isinstance(errors, list)
    assert len(errors) == 1
    assert set(errors[0]["extensions"]) == {"code", "retryable"}
    return errors[0]


async def test_an_operation(api: Api) -> None:
    assert await api.run(PROVIDERS) == {
        "data": {"providers": [{"key": "codex", "available": True, "capabilities": {"fork": "AT_TURN"}}]}
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"3",
        b'"{ providers { key } }"',
        b"{}",
        b'{"query": null}',
        b'{"query": ""}',
        b'{"query": 7}',
        b'{"query": "{ providers { key } }", "variables": []}',
        b'{"query": "{ providers { key } }", "variables": "{}"}',
        b'{"query": "{ providers { key } }", "operationName": 1}',
        b'[{"query": "{ providers { key } }"}]',
        b'{"query": "\xff\xfe"}',
        b'{"query": "{ providers { key } }", "variables": {"a": "\\ud800"}}',
        b'{"query": "{ providers { key } }", "variables": {"a": NaN}}',
        b"[" * 100_000,
        b'{"variables":' + b'{"a":' * 5_000,
    ],
)
async def test_a_body_that_is_no_request(api: Api, body: bytes) -> None:
    response = await api.http.post("/graphql", content=body, headers=JSON)
    assert response.status_code == 400
    assert only_error(response.json())["extensions"] == {"code": "INVALID_INPUT", "retryable": False}


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
    ],
)
async def test_other_content_types_are_refused(api: Api, kind: str) -> None:
    response = await api.http.post(
        "/graphql", content=b'{"query": "{ providers { key } }"}', headers={"content-type": kind}
    )
    assert response.status_code == 415
    assert only_error(response.json())["extensions"] == {"code": "INVALID_INPUT", "retryable": False}


async def test_no_content_type_is_refused(api: Api) -> None:
    response = await api.http.post("/graphql", content=b'{"query": "{ providers { key } }"}')
    assert response.status_code == 415


async def chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size):
        yield b" " * 1_000


@pytest.mark.parametrize("told", [True, False])
async def test_a_body_over_the_limit(told: bool) -> None:
    async with api_over(Backend(RuntimeError()), Limits(max_body_bytes=10_000)) as api:
        content = b" " * 11_000 if told else chunks(11)
        response = await api.http.post("/graphql", content=content, headers=JSON)
    assert response.status_code == 413
    assert only_error(response.json())["extensions"] == {"code": "LIMIT_EXCEEDED", "retryable": False}


async def test_a_body_in_pieces(api: Api) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b'{"que', b'ry": "{ providers { key } ', b'}"}'):
            yield piece

    response = await api.http.post("/graphql", content=pieces(), headers=JSON)
    assert response.json() == {"data": {"providers": [{"key": "codex"}]}}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_are_refused(api: Api, method: str) -> None:
    response = await api.http.request(method, "/graphql", params={"query": PROVIDERS})
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"
    assert only_error(response.json())["extensions"] == {"code": "INVALID_INPUT", "retryable": False}


async def test_graphiql_in_a_browser(api: Api) -> None:
    response = await api.http.get("/graphql", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "query NewestThreads {" in response.text


def test_graphiql_examples_fit_the_schema() -> None:
    assert validate(core_schema(), parse(EXAMPLES)) == []
    in_page = graphiql_page().decode().replace(r"\$", "$").replace(r"\`", "`")
    assert EXAMPLES in in_page
    assert "<title>Plait GraphiQL</title>" in in_page


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ('query ($a: String = "\\ud800") { __typename }', "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ thread { id } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ threads(first: 99999999999) { totalCount } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { lineageEvents { id } }", "GRAPHQL_VALIDATION_FAILED"),
        ("query ($id: ID!) { thread(id: $id) { id } }", "INVALID_INPUT"),
        ("query A { __typename } query B { __typename }", "INVALID_INPUT"),
        ("fragment F on Query { __typename }", "GRAPHQL_VALIDATION_FAILED"),
    ],
)
async def test_a_document_that_is_refused(api: Api, query: str, code: str) -> None:
    plain = await api.http.post("/graphql", json={"query": query})
    spec = await api.http.post(
        "/graphql", json={"query": query}, headers={"accept": "application/graphql-response+json"}
    )
    assert plain.status_code == 200
    assert spec.status_code == 400
    assert spec.headers["content-type"].startswith("application/graphql-response+json")
    for response in (plain, spec):
        assert "data" not in response.json()
        assert {error["extensions"]["code"] for error in response.json()["errors"]} == {code}
    assert api.backend.calls == []


async def test_an_operation_may_be_named(api: Api) -> None:
    query = "query A { providers { key } } query B { __typename }"
    response = await api.http.post("/graphql", json={"query": query, "operationName": "B"})
    assert response.json() == {"data": {"__typename": "Query"}}
    response = await api.http.post("/graphql", json={"query": query, "operationName": "C"})
    assert only_error(response.json())["extensions"] == {"code": "INVALID_INPUT", "retryable": False}


async def test_the_bare_address_leads_to_graphiql(api: Api) -> None:
    response = await api.http.get("/")
    assert (response.status_code, response.headers["location"]) == (307, "/graphql")


async def test_health(api: Api) -> None:
    assert (await api.http.get("/health/live")).status_code == 200
    assert (await api.http.get("/health/ready")).status_code == 503


async def test_schema_text(api: Api) -> None:
    response = await api.http.get("/schema.graphql")
    assert response.status_code == 200
    assert response.text == print_sdl()


async def test_introspection(api: Api) -> None:
    from graphql import build_client_schema, get_introspection_query

    answer = await api.run(get_introspection_query(input_value_deprecation=True, specified_by_url=True))
    assert set(build_client_schema(answer["data"]).type_map) == set(core_schema().type_map)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "query": anything | st.sampled_from([PROVIDERS, "query ($id: ID!) { node(id: $id) { id } }"]),
        "variables": anything,
    },
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=60) | requests.map(lambda body: json.dumps(body).encode()))
async def test_no_body_is_a_server_error(api: Api, body: bytes) -> None:
    response = await api.http.post("/graphql", content=body, headers=JSON)
    assert response.status_code in (200, 400)
    assert set(response.json()) <= {"data", "errors"}
