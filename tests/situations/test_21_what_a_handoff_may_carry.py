"""21. A handoff carried a megabyte of tool output, binary or half an emoji, and the provider refused the turn for ever.

Here: budgets, valid text, and a refusal that names the item.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from plait.domain.tokens import count_tokens
from tests.support.client import Client, Refusal

MEGABYTE = 1024 * 1024
FAMILY = "👩‍👩‍👧‍👦"


def output(text: str) -> dict[str, Any]:
    return {"kind": "TOOL_CALL", "data": {"callId": "c1", "name": "read_file", "input": "{}", "output": text}}


@pytest.mark.parametrize("provider", ["claude", "brief-300"])
@pytest.mark.parametrize(
    "noise",
    [
        pytest.param("0123456789abcdef" * (MEGABYTE // 17), id="a megabyte of output"),
        pytest.param("".join(map(chr, range(256))) * 1500, id="binary"),
        pytest.param(FAMILY * (MEGABYTE // 26), id="emoji"),
        pytest.param("e\u0301" * (MEGABYTE // 4), id="combining marks"),
    ],
)
def test_any_output_fits_the_budget_and_is_valid_text(service: Client, noise: str, provider: str) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "what we want", "understood", items=(output(noise),))

    (handoff,) = service.running(thread, "go on", provider)["plan"]["handoffs"]

    assert count_tokens(handoff["text"]) == handoff["tokens"] <= handoff["budgetTokens"]
    assert not [c for c in handoff["text"] if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert "what we want" in handoff["text"]


def test_an_emoji_is_never_cut_into_halves(service: Client) -> None:
    """Every cut falls between code points, so the text has no replacement character that the content had not."""
    thread = service.thread()["id"]
    service.whole_run(thread, "ask", "x" + "🙂" * 30_000)
    for provider in ("brief-300", "brief-900", "claude"):
        start = service.start(thread, "go on", provider)
        text = start["plan"]["injected"]
        assert text.encode("utf-16", "surrogatepass").decode("utf-16") == text
        assert "\ufffd" not in text
        assert "🙂" in text
        service.end("interruptRun", start["run"]["id"])


@pytest.mark.parametrize(
    ("bad", "what", "code"),
    [
        ({"text": "x" * (MEGABYTE + 1)}, "items[1].text", "LIMIT_EXCEEDED"),
        ({"data": {"output": "x" * (MEGABYTE + 1)}}, "items[1].data", "LIMIT_EXCEEDED"),
        ({"data": {"n": 2**64}}, "an integer of more than 64 bits", "INVALID_INPUT"),
        ({"id": "itm_1", "text": "x"}, "items[1].id", "INVALID_INPUT"),
    ],
)
def test_what_is_refused_is_named_and_the_run_goes_on(
    service: Client, bad: dict[str, Any], what: str, code: str
) -> None:
    run = service.running(service.thread()["id"], "go")["run"]["id"]
    good = {"kind": "ASSISTANT_MESSAGE", "text": "good"}

    with pytest.raises(Refusal) as refused:
        service.append(run, good, {"kind": "TOOL_CALL"} | bad)

    assert refused.value.code == code
    assert what in refused.value.message
    assert [item["kind"] for item in service.items(run)] == ["USER_MESSAGE"]
    service.append(run, good)
    assert service.complete(run)["run"]["status"] == "COMPLETED"


def test_half_an_emoji_is_refused_at_the_door(service: Client) -> None:
    run = service.running(service.thread()["id"], "go")["run"]["id"]
    body = {
        "query": "mutation ($input: AppendTurnItemsInput!) { appendTurnItems(input: $input) { items { id } } }",
        "variables": {"input": {"runId": run, "items": [{"kind": "OTHER", "text": "half \ud83d of one"}]}},
    }

    with pytest.raises(Refusal) as refused:
        service.post(json.dumps(body).encode())

    assert refused.value.code == "INVALID_INPUT"
    assert len(service.items(run)) == 1
