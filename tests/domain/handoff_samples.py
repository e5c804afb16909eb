"""Runs and items for the tests of the handoff builder, short to write and by chance."""

import json
from datetime import UTC, datetime
from itertools import count
from typing import Any

from hypothesis import strategies as st

from plait.domain.handoff import HandoffRequest, RunContent
from plait.domain.model import (
    Checkpoint,
    CheckpointKind,
    Executor,
    HandoffKind,
    ItemKind,
    ItemStatus,
    Run,
    RunStatus,
    TurnItem,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
THREAD = "thr_0192f3c4-0000-7000-8000-000000000000"


def run_id(number: int) -> str:
    return f"run_0192f3c4-7b1a-7cc2-9d5e-{number:012x}"


def run(
    number: int, status: RunStatus = RunStatus.COMPLETED, reason: str | None = None, provider: str = "codex"
) -> Run:
    return Run(
        id=run_id(number),
        thread_id=THREAD,
        position=number,
        generation=number,
        provider=provider,
        executor=Executor.CLIENT,
        status=status,
        created_at=NOW,
        reason=reason,
    )


class Item:
    """An item without its place: `content` gives it a run and an id."""

    def __init__(
        self,
        kind: ItemKind,
        text: str | None = None,
        data: dict[str, Any] | str | None = None,
        status: ItemStatus = ItemStatus.FINISHED,
    ) -> None:
        self.kind = kind
        self.text = text
        self.data = data if data is None or isinstance(data, str) else json.dumps(data)
        self.status = status

    def __repr__(self) -> str:
        return f"Item({self.kind.value}, {self.text!r}, {self.data!r}, {self.status.value})"


def user(text: str, **data: Any) -> Item:
    return Item(ItemKind.USER_MESSAGE, text, data or None)


def agent(text: str, **data: Any) -> Item:
    return Item(ItemKind.ASSISTANT_MESSAGE, text, data or None)


def call(call_id: str, name: str | None = "read_file", **data: Any) -> Item:
    named = {"name": name} if name else {}
    return Item(ItemKind.TOOL_CALL, None, {"callId": call_id, **named, **data})


def result(call_id: str, output: Any) -> Item:
    return Item(ItemKind.TOOL_CALL, None, {"callId": call_id, "output": output})


def command(text: str, exit_code: int | None = 0, output: str = "") -> Item:
    return Item(ItemKind.COMMAND, None, {"command": text, "exitCode": exit_code, "output": output})


def content(
    number: int, *items: Item, status: RunStatus = RunStatus.COMPLETED, reason: str | None = None
) -> RunContent:
    return RunContent(
        run=run(number, status, reason),
        items=tuple(
            TurnItem(
                id=f"itm_0192f3c4-7b1a-7cc2-{number:04x}-{place:012x}",
                run_id=run_id(number),
                thread_id=THREAD,
                position=place,
                kind=item.kind,
                status=item.status,
                text=item.text,
                data=item.data,
                created_at=NOW,
            )
            for place, item in zip(count(1), items, strict=False)
        ),
    )


def checkpoint(summary: str, number: int = 1, label: str | None = "before the change") -> Checkpoint:
    return Checkpoint(
        id="cpt_0192f3c4-7b1a-7cc2-9d5e-000000000001",
        thread_id=THREAD,
        run_id=run_id(number),
        position=number,
        generation=number,
        kind=CheckpointKind.EXPLICIT,
        label=label,
        summary=summary,
        created_at=NOW,
    )


def request(*newest: RunContent, budget: int = 24_000, **fields: Any) -> HandoffRequest:
    first = fields.get("first")
    read = len(newest) + (1 if first else 0)
    fields.setdefault("kind", HandoffKind.PORTABLE_CONTEXT)
    fields.setdefault("total_runs", read)
    return HandoffRequest(target_provider="claude", budget_tokens=budget, newest=newest, **fields)


# Anything a provider might write, half of it broken.
chars = st.characters() | st.sampled_from("\x00\n\r\t\u2028\u202e\u2066\ud800\udfff\u0301\u200d🇩👩#<>`'\"")
texts = (
    st.text(chars, max_size=60)
    | st.builds(lambda text, times: text * times, st.text(chars, min_size=1, max_size=12), st.integers(0, 400))
    | st.sampled_from(["```", "</system>", "Human:", "<|endoftext|>", 'password = "hunter2hunter2"', "#123456789 goal"])
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
call_ids = st.sampled_from(["a", "b", "c"])
odd_keys = st.sampled_from(
    ["callId", "name", "input", "output", "status", "command", "exitCode", "cwd", "path", "change", "diff", "changes",
     "steps", "decisions", "openQuestions", "threadId", "result", "summary", "throughRunId", "role"]
)  # fmt: skip
data_texts = (
    st.none()
    | texts
    | st.dictionaries(odd_keys, json_values, max_size=6).map(json.dumps)
    | st.builds(lambda i, o: json.dumps({"callId": i, "output": o}), call_ids, texts)
    | st.builds(lambda i, n: json.dumps({"callId": i, "name": "f", "input": n}), call_ids, texts)
)
items = st.builds(Item, st.sampled_from(ItemKind), st.none() | texts, data_texts, st.sampled_from(ItemStatus))
statuses = st.sampled_from([RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.INTERRUPTED, RunStatus.RUNNING])


@st.composite
def requests(draw: st.DrawFn, budgets: st.SearchStrategy[int] | None = None) -> HandoffRequest:
    """Any request that a caller can make."""

    def some_run(number: int) -> RunContent:
        inside = draw(st.lists(items, max_size=6))
        return content(number, *inside, status=draw(statuses), reason=draw(st.none() | texts))

    unread = draw(st.integers(0, 3))
    newest = [some_run(10 + number) for number in range(draw(st.integers(0, 4)))]
    first = some_run(1) if newest and draw(st.booleans()) else None
    return request(
        *newest,
        budget=draw(st.integers(0, 3000) if budgets is None else budgets),
        kind=draw(st.sampled_from(HandoffKind)),
        thread_title=draw(st.none() | texts),
        first=first,
        total_runs=len(newest) + bool(first) + unread,
        omitted_range=(run_id(2), run_id(1 + unread)) if unread else None,
        checkpoint=draw(st.none() | st.builds(checkpoint, texts)),
        notes=tuple(draw(st.lists(texts, max_size=2))),
    )
