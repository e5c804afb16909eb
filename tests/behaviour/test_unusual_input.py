"""Unusual and right input: it comes back as it was stored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal

MEGABYTE = 1024 * 1024

TEXTS = (
    "שלום, مرحبا: right to left \u202e and forced",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G: combining",
    "e\u0301 is not \u00e9",
    "👩‍👩‍👧‍👦 🇨🇭 🏳️‍🌈 \U0001f600",
    "\ufeff\u200b\u2028\u2029\u00a0 invisible",
    "tabs\tand\r\nline ends\n",
    "\ufffe\uffff noncharacters",
    "\x01\x1b[31m control \x7f",
)


@pytest.mark.parametrize("text", TEXTS)
def test_comes_back_as_it_was_stored(service: Client, text: str) -> None:
    thread = service.thread(title=text)["id"]
    run = service.running(thread, text)["run"]["id"]
    service.append(run, {"kind": "OTHER", "text": text, "data": {text: text}})
    service.end("failRun", run, reason=text)
    point = service.checkpoint(thread, text, summary=text)

    assert service.get_thread(thread)["title"] == text
    message, item = service.items(run)
    assert (message["text"], item["text"], item["data"]) == (text, text, {text: text})
    assert service.get_run(run)["reason"] == text
    assert (point["label"], point["summary"]) == (text, text)


def test_a_nul_in_a_text_and_in_data_is_kept(service: Client) -> None:
    run = service.running(service.thread()["id"], "a\0b")["run"]["id"]
    service.append(run, {"kind": "OTHER", "text": "\0", "data": {"a\0b": "\0"}})

    message, item = service.items(run)
    assert (message["text"], item["text"], item["data"]) == ("a\0b", "\0", {"a\0b": "\0"})


def test_an_empty_text_and_no_text_are_told_apart(service: Client) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]
    service.append(run, {"kind": "OTHER", "text": ""}, {"kind": "OTHER"}, {"kind": "OTHER", "text": None})

    assert [item["text"] for item in service.items(run)[1:]] == ["", None, None]


@pytest.mark.parametrize(
    "data",
    [
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**64 - 1,
        1.5,
        1e300,
        True,
        "",
        [],
        {},
        [None],
        {"": {"a": [1, [2, {}]]}},
        "null",
    ],
)
def test_any_json_is_kept_exactly(service: Client, data: Any) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]
    service.append(run, {"kind": "OTHER", "data": data})

    stored = service.items(run)[1]["data"]
    assert (stored, type(stored)) == (data, type(data))


def test_the_largest_text_there_may_be(service: Client) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]
    text = "é" * (MEGABYTE // 2)
    service.append(run, {"kind": "OTHER", "text": text})

    assert service.items(run)[1]["text"] == text
    with pytest.raises(Refusal) as refused:
        service.append(run, {"kind": "OTHER", "text": text + "é"})
    assert refused.value.code == "LIMIT_EXCEEDED"
