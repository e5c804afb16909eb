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


ENUMS = {"executor", "kind", "strategy", "provider", "createdBy"}


@ONE_OF_EACH
def test_every_id_of_every_mutation(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    for path in filter(is_id, places(ready.given)):
        good = ready.given
        for name in path:
            good = good[name]
        prefix = str(good).partition("_")[0]
        bad = {
            f"{prefix}_{UNKNOWN}": {"NOT_FOUND"} if path[-1] != "id" else set(),
            f"{'run' if prefix != 'run' else 'thr'}_{UNKNOWN}": {"INVALID_INPUT"},
            f"xyz_{UNKNOWN}": {"INVALID_INPUT"},
            "": {"INVALID_INPUT"},
            " ": {"INVALID_INPUT"},
            f"{good} ": {"INVALID_INPUT"},
            f"{good}\n": {"INVALID_INPUT"},
            f"{good}\0": {"INVALID_INPUT"},
            str(good).upper(): {"INVALID_INPUT"},
            "\u202e" + str(good): {"INVALID_INPUT"},
            "\uff11" + str(good): {"INVALID_INPUT"},
            "x" * MEGABYTE: {"INVALID_INPUT"},
        }
        for value, codes in bad.items():
            if not codes:
                continue
            with graph.growth() as written, pytest.raises(Refusal) as refused:
                case.send(service, Ready(ready.root, changed(ready.given, path, value)), None)
            assert refused.value.code in codes, (path, value[:60])
            check_sentence(refused.value)
            assert written == {}
    case.send(service, ready, None)


@ONE_OF_EACH
def test_a_text_of_ten_megabytes_anywhere(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    for path in places(ready.given):
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            case.send(service, Ready(ready.root, changed(ready.given, path, "x" * 10 * MEGABYTE)), None)
        assert (refused.value.code, refused.value.status) == ("LIMIT_EXCEEDED", 413)
        check_sentence(refused.value)
        assert written == {}
    case.send(service, ready, None)


@ONE_OF_EACH
def test_a_text_over_its_own_limit_names_the_field(service: Client, graph: Graph, case: Case) -> None:
    ready = case.prepare(service, key())
    for path in places(ready.given):
        if is_id(path) or path[-1] in ENUMS:
            continue
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            case.send(service, Ready(ready.root, changed(ready.given, path, "x" * (MEGABYTE + 1))), None)
        assert refused.value.code == "LIMIT_EXCEEDED"
        assert str(path[-1]) in refused.value.message
        check_sentence(refused.value)
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
    for given in variants:
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            case.send(service, Ready(ready.root, given), None)
        assert refused.value.code == "INVALID_INPUT"
        check_sentence(refused.value)
        assert written == {}
    case.send(service, ready, None)


@pytest.mark.parametrize("text", ["\\ud83d", "\\u{d83d}", "\\ude00\\ud83d"])
def test_half_of_a_surrogate_pair_written_in_a_document(service: Client, graph: Graph, text: str) -> None:
    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.execute(f'mutation {{ createThread(input: {{ title: "{text}" }}) {{ thread {{ id }} }} }}')

    assert refused.value.code == "GRAPHQL_PARSE_FAILED"
    check_sentence(refused.value)
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

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        case.send(service, Ready(ready.root, ready.given | given), None)

    assert refused.value.code == code
    check_sentence(refused.value)
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
        with graph.growth() as written, pytest.raises(Refusal) as refused:
            service.post(body.encode())
        assert refused.value.code == code
        check_sentence(refused.value)
        assert written == {}
