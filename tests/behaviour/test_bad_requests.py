"""Requests that are no requests, and documents that do not run: a code, a sentence, nothing written."""

from __future__ import annotations

import httpx
import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph
from tests.support.refusals import check_sentence

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"query": "mutation { createThread(input: {}) { thread { id } } }"', 400),
        (b"null", 400),
        (b"7", 400),
        (b'"query"', 400),
        (b"[]", 400),
        (b'[{"query": "{ __typename }"}]', 400),
        (b"{}", 400),
        (b'{"query": ""}', 400),
        (b'{"query": 1}', 400),
        (b'{"query": "{ __typename }", "variables": []}', 400),
        (b'{"query": "{ __typename }", "operationName": 1}', 400),
        (b'{"query": "{ __typename }\xff"}', 400),
        (b"\xff\xfe", 400),
        (b'{"query": "\\ud800"}', 400),
        (b"query { __typename }", 400),
    ],
)
def test_a_body_that_is_no_request(service: Client, graph: Graph, body: bytes, status: int) -> None:
    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.post(body)

    assert (refused.value.code, refused.value.status) == ("INVALID_INPUT", status)
    check_sentence(refused.value)
    assert written == {}


@pytest.mark.parametrize("kind", ["text/plain", "application/graphql", "multipart/form-data; boundary=x", ""])
def test_a_content_type_that_is_not_json(service: Client, graph: Graph, kind: str) -> None:
    body = {"query": "mutation { createThread(input: {}) { thread { id } } }"}

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.post(body, **{"content-type": kind})

    assert (refused.value.code, refused.value.status) == ("INVALID_INPUT", 415)
    assert written == {}


def test_a_mutation_by_get(service: Client, graph: Graph) -> None:
    query = "mutation { createThread(input: {}) { thread { id } } }"

    with graph.growth() as written:
        response = httpx.get(f"{service.url}/graphql", params={"query": query})

    assert response.status_code == 405
    assert response.json()["errors"][0]["extensions"]["code"] == "INVALID_INPUT"
    assert written == {}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("mutation { createThread { thread { id } } }", "GRAPHQL_VALIDATION_FAILED"),
        ("mutation { createThread(input: { titel: 1 }) { thread { id } } }", "GRAPHQL_VALIDATION_FAILED"),
        ("query a { __typename } query b { __typename }", "INVALID_INPUT"),
        ("{ " + "a: __typename " * 600 + "}", "LIMIT_EXCEEDED"),
        ("{ thread(id: 1) { " + "parent { " * 30 + "id" + " }" * 30 + " } }", "LIMIT_EXCEEDED"),
    ],
)
def test_a_document_that_does_not_run(service: Client, graph: Graph, query: str, code: str) -> None:
    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.execute(query)

    assert refused.value.code == code
    check_sentence(refused.value)
    assert written == {}


def test_all_of_one_request_that_can_be_answered_is(service: Client) -> None:
    """A field that is refused is null and has its error; the others still come."""
    thread = service.thread(title="here")["id"]
    query = f'{{ a: thread(id: "{thread}") {{ title }} b: thread(id: "thr_{UNKNOWN}") {{ title }} }}'

    answer = httpx.post(f"{service.url}/graphql", json={"query": query}).json()

    assert answer["data"] == {"a": {"title": "here"}, "b": None}
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [(["b"], "NOT_FOUND")]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("thread(id: $id) { id }", "thr"),
        ("run(id: $id) { id }", "run"),
        ("checkpoint(id: $id) { id }", "cpt"),
        ("transfer(id: $id) { id }", "trf"),
        ("handoff(id: $id) { id }", "hnd"),
        ("lineage(threadId: $id) { totalCount }", "thr"),
        ('explainStart(threadId: $id, provider: "codex") { outcome }', "thr"),
    ],
)
def test_an_id_of_another_type(service: Client, query: str, wanted: str) -> None:
    for prefix in {"thr", "run", "itm", "cpt", "pvt", "exe", "trf", "hnd", "rcp", "evt", "xyz"} - {wanted}:
        with pytest.raises(Refusal) as refused:
            service.execute(f"query ($id: ID!) {{ {query} }}", id=f"{prefix}_{UNKNOWN}")
        assert refused.value.code == "INVALID_INPUT", prefix
        check_sentence(refused.value)


@pytest.mark.parametrize("prefix", ["rcp", "evt", "xyz"])
def test_what_is_no_node(service: Client, prefix: str) -> None:
    with pytest.raises(Refusal) as refused:
        service.execute("query ($id: ID!) { node(id: $id) { id } }", id=f"{prefix}_{UNKNOWN}")

    assert refused.value.code == "INVALID_INPUT"
    check_sentence(refused.value)
