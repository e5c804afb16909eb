"""Bad input to every mutation: a code, a sentence, no stack, nothing written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.commands import CASES, Case, Ready
from tests.support.graph import Graph
from tests.support.refusals import check_sentence

MEGABYTE = 1024 * 1024
UNKNOWN = "00000000-0000-7000-8000-000000000000"

ONE_OF_EACH = pytest.mark.parametrize(
    "case", {case.mutation: case for case in CASES if not case.refused}.values(), ids=str
)


def places(given: dict[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the strings of an input are."""
    for name, value in given.items() if isinstance(given, dict) else enumerate(given):
        if isinstance(value, dict | list):
            yield from places(value, (*path, name))
        elif isinstance(value, str):
            yield (*path, name)


def changed(given: Any, path: tuple[str | int, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(given))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return copy


def is_id(path: tuple[str | int, ...]) -> bool:
    return str(path[-1]) == "id" or (str(path[-1]).endswith("Id") and not str(path[-1]).startswith("native"))


ENUMS = {"executor", "kind", "strategy", "provider", "createdBy", "context", "status"}


def refused(service: Client, case: Case, ready: Ready, given: dict[str, Any]) -> Refusal:
    """The refusal of a changed input."""
    with pytest.raises(Refusal) as met:
        case.send(service, Ready(ready.root, given), None)
    check_sentence(met.value)
    return met.value


@ONE_OF_EACH
def test_every_id_of_every_mutation(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    with graph.growth() as written:
        for path in filter(is_id, places(ready.given)):
            good = ready.given
            for name in path:
                good = good[name]
            prefix = str(good).partition("_")[0]
            other = "run" if prefix != "run" else "thr"
            strange = ("", " ", f"{good} ", f"{good}\n", f"{good}\0", f"\u202e{good}", f"\uff11{good}", "x" * MEGABYTE)
            for value in (f"{other}_{UNKNOWN}", f"xyz_{UNKNOWN}", str(good).upper(), *strange):
                refusal = refused(service, case, ready, changed(ready.given, path, value))
                assert refusal.code == "INVALID_INPUT", (path, value[:60])
            if path[-1] != "id":
                refusal = refused(service, case, ready, changed(ready.given, path, f"{prefix}_{UNKNOWN}"))
                assert refusal.code == "NOT_FOUND", path
    assert written == {}
    case.send(service, ready, None)


@ONE_OF_EACH
def test_a_text_of_ten_megabytes_anywhere(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    with graph.growth() as written:
        for path in places(ready.given):
            refusal = refused(service, case, ready, changed(ready.given, path, "x" * 10 * MEGABYTE))
            assert (refusal.code, refusal.status) == ("LIMIT_EXCEEDED", 413)
    assert written == {}
    case.send(service, ready, None)


@ONE_OF_EACH
def test_a_text_over_its_own_limit_names_the_field(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    texts = [path for path in places(ready.given) if not is_id(path) and path[-1] not in ENUMS]
    with graph.growth() as written:
        for path in texts:
            refusal = refused(service, case, ready, changed(ready.given, path, "x" * (MEGABYTE + 1)))
            assert refusal.code == "LIMIT_EXCEEDED"
            assert str(path[-1]) in refusal.message
    assert written == {}
    case.send(service, ready, None)


@ONE_OF_EACH
def test_half_of_a_surrogate_pair_anywhere_even_in_keys_and_names(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    half = "\ud83d"
    variants = [changed(ready.given, path, f"a{half}b") for path in places(ready.given)]
    variants.append(ready.given | {"clientMutationId": f"name {half}"})
    variants.append(ready.given | {half: 1})
    if case.mutation == "appendTurnItems":
        run = ready.given["runId"]
        for data in ({"a": half}, {half: "a"}, [[half]], half):
            variants.append({"runId": run, "items": [{"kind": "OTHER", "data": data}]})
    with graph.growth() as written:
        for given in variants:
            assert refused(service, case, ready, given).code == "INVALID_INPUT"
    assert written == {}
    case.send(service, ready, None)


@pytest.mark.parametrize("text", ["\\ud83d", "\\u{d83d}", "\\ude00\\ud83d"])
def test_half_of_a_surrogate_pair_written_in_a_document(service: Client, graph: Graph, text: str) -> None:
    with graph.growth() as written, pytest.raises(Refusal) as met:
        service.execute(f'mutation {{ createThread(input: {{ title: "{text}" }}) {{ thread {{ id }} }} }}')

    assert met.value.code == "GRAPHQL_PARSE_FAILED"
    check_sentence(met.value)
    assert written == {}


@pytest.mark.parametrize(
    ("mutation", "given", "code"),
    [
        ("createThread", {"title": "a\0b"}, "INVALID_INPUT"),
        ("createThread", {"title": "x" * 501}, "LIMIT_EXCEEDED"),
        ("startRun", {"message": ""}, "INVALID_INPUT"),
        ("startRun", {"message": " \n\t "}, "INVALID_INPUT"),
        ("startRun", {"provider": "nobody"}, "PROVIDER_UNKNOWN"),
        ("startRun", {"provider": ""}, "INVALID_INPUT"),
        ("startRun", {"provider": "Codex"}, "INVALID_INPUT"),
        ("startRun", {"executor": "SERVICE"}, "PROVIDER_UNAVAILABLE"),
        ("startRun", {"executor": "client"}, "INVALID_INPUT"),
        ("startRun", {"model": ""}, "INVALID_INPUT"),
        ("startRun", {"model": "a\0b"}, "INVALID_INPUT"),
        ("startRun", {"strategy": "MAGIC"}, "INVALID_INPUT"),
        ("startRun", {"nothing": 1}, "INVALID_INPUT"),
        ("startRun", {"message": 5}, "INVALID_INPUT"),
        ("startRun", {"message": None}, "INVALID_INPUT"),
        ("reportRunStarted", {"nativeThreadId": ""}, "INVALID_INPUT"),
        ("reportRunStarted", {"nativeTurnId": "a\0b"}, "INVALID_INPUT"),
        ("reportRunStarted", {"failure": {"code": "", "message": "It failed."}}, "INVALID_INPUT"),
        ("appendTurnItems", {"items": []}, "INVALID_INPUT"),
        ("appendTurnItems", {"items": [{"kind": "OTHER"}] * 251}, "LIMIT_EXCEEDED"),
        ("appendTurnItems", {"items": [{"kind": "SONG"}]}, "INVALID_INPUT"),
        ("appendTurnItems", {"items": [{"kind": "OTHER", "id": f"itm_{UNKNOWN}"}] * 2}, "INVALID_INPUT"),
        ("appendTurnItems", {"items": [{"kind": "OTHER", "data": {"n": 2**64}}]}, "INVALID_INPUT"),
        ("completeRun", {"usage": {"inputTokens": -1, "outputTokens": 0}}, "INVALID_INPUT"),
        ("completeRun", {"usage": {"inputTokens": 2**40, "outputTokens": 0}}, "INVALID_INPUT"),
        ("createCheckpoint", {"label": ""}, "INVALID_INPUT"),
        ("createCheckpoint", {"label": "x" * 201}, "LIMIT_EXCEEDED"),
        ("createCheckpoint", {"workspace": {"vcs": "", "commit": "a"}}, "INVALID_INPUT"),
    ],
)
def test_values_that_can_never_be_right(
    service: Client, graph: Graph, mutation: str, given: dict[str, Any], code: str
) -> None:
    case = next(case for case in CASES if case.mutation == mutation and not case.refused)
    ready = case.prepare(service, key())

    with graph.growth() as written:
        refusal = refused(service, case, ready, ready.given | given)

    assert refusal.code == code
    assert written == {}
    case.send(service, ready, None)


def test_data_nested_without_end(service: Client, graph: Graph) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]
    for depth, code in ((150, "LIMIT_EXCEEDED"), (5_000, "INVALID_INPUT")):
        nested = "[" * depth + "]" * depth
        body = json.dumps(
            {
                "query": "mutation ($i: AppendTurnItemsInput!) { appendTurnItems(input: $i) { items { id } } }",
                "variables": {"i": {"runId": run, "items": [{"kind": "OTHER", "data": "NESTED"}]}},
            }
        ).replace('"NESTED"', nested)
        with graph.growth() as written, pytest.raises(Refusal) as met:
            service.post(body.encode())
        assert met.value.code == code
        check_sentence(met.value)
        assert written == {}
