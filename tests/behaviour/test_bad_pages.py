"""Pages that can't be: sizes, cursors of another list, ways that do not go together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal
from tests.support.refusals import check_sentence

LISTS = {
    "threads": "threads({page}) {{ pageInfo {{ endCursor }} }}",
    "runs": "thread(id: $thread) {{ runs({page}) {{ pageInfo {{ endCursor }} }} }}",
    "runs of another": "thread(id: $other) {{ runs({page}) {{ pageInfo {{ endCursor }} }} }}",
    "visibleItems": "thread(id: $thread) {{ visibleItems({page}) {{ pageInfo {{ endCursor }} }} }}",
    "visibleItems of another": "thread(id: $other) {{ visibleItems({page}) {{ pageInfo {{ endCursor }} }} }}",
    "items": "run(id: $run) {{ items({page}) {{ pageInfo {{ endCursor }} }} }}",
    "lineage": "lineage(threadId: $thread, {page}) {{ pageInfo {{ endCursor }} }}",
    "lineage of another": "lineage(threadId: $other, {page}) {{ pageInfo {{ endCursor }} }}",
    "lineage downwards": "lineage(threadId: $thread, direction: DESCENDANTS, {page}) {{ pageInfo {{ endCursor }} }}",
}


@pytest.fixture(scope="module")
def subjects(service: Client) -> dict[str, str]:
    thread, other = service.thread()["id"], service.thread()["id"]
    run = service.whole_run(thread, "ask")["run"]["id"]
    service.whole_run(other, "ask")
    return {"thread": thread, "other": other, "run": run}


def ask(service: Client, subjects: dict[str, str], name: str, page: str, **more: Any) -> dict[str, Any]:
    types = {"thread": "ID!", "other": "ID!", "run": "ID!", "v": "Int", "c": "String"}
    body = LISTS[name].format(page=page)
    used = {k: v for k, v in (subjects | more).items() if f"${k}" in body}
    head = ", ".join(f"${name}: {types[name]}" for name in used)
    return service.execute(f"query ({head}) {{ {body} }}" if used else f"{{ {body} }}", **used)


@pytest.mark.parametrize("name", [name for name in LISTS if "another" not in name])
def test_sizes(service: Client, subjects: dict[str, str], name: str) -> None:
    sizes = {-1: "INVALID_INPUT", 0: "INVALID_INPUT", 101: "LIMIT_EXCEEDED", 2**31 - 1: "LIMIT_EXCEEDED"}
    sizes |= {2**31: "INVALID_INPUT", 10**18: "INVALID_INPUT"}
    for size, code in sizes.items():
        with pytest.raises(Refusal) as refused:
            ask(service, subjects, name, "first: $v", v=size)
        assert refused.value.code == code, size
        check_sentence(refused.value)
    ask(service, subjects, name, "first: $v", v=100)


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_of_another_list(service: Client, subjects: dict[str, str], name: str) -> None:
    cursors = {}
    for other in LISTS:
        answer: Any = ask(service, subjects, other, "first: 1")
        while "pageInfo" not in answer:
            (answer,) = answer.values()
        cursors[other] = answer["pageInfo"]["endCursor"]
    assert None not in cursors.values()

    for other, cursor in cursors.items():
        if other == name:
            ask(service, subjects, name, "first: 1, after: $c", c=cursor)
            continue
        with pytest.raises(Refusal) as refused:
            ask(service, subjects, name, "first: 1, after: $c", c=cursor)
        assert refused.value.code == "INVALID_INPUT", other
        check_sentence(refused.value)


@pytest.mark.parametrize("name", [name for name in LISTS if "another" not in name])
def test_what_is_no_cursor(service: Client, subjects: dict[str, str], name: str) -> None:
    for cursor in ("", " ", "x", "WzFd", "=" * 400, "A" * 5000, "W10", "é", "bnVsbA", "\0", "WyJ0aHJlYWRzIl0"):
        with pytest.raises(Refusal) as refused:
            ask(service, subjects, name, "after: $c", c=cursor)
        assert refused.value.code == "INVALID_INPUT", cursor
        check_sentence(refused.value)


@pytest.mark.parametrize(
    "page", ["first: 1, last: 1", 'first: 1, before: "x"', 'last: 1, after: "x"', 'after: "x", before: "x"']
)
def test_ways_that_do_not_go_together(service: Client, subjects: dict[str, str], page: str) -> None:
    with pytest.raises(Refusal) as refused:
        ask(service, subjects, "visibleItems", page)

    assert refused.value.code == "INVALID_INPUT"


@pytest.mark.parametrize(("depth", "code"), [(-1, "INVALID_INPUT"), (10_001, "LIMIT_EXCEEDED")])
def test_depths(service: Client, subjects: dict[str, str], depth: int, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        service.lineage(subjects["thread"], maxDepth=depth)

    assert refused.value.code == code


@pytest.mark.parametrize("field", ["transfers", "providerThreads", "checkpoints"])
def test_plain_lists(service: Client, subjects: dict[str, str], field: str) -> None:
    for size, code in ((-1, "INVALID_INPUT"), (0, "INVALID_INPUT"), (251, "LIMIT_EXCEEDED")):
        with pytest.raises(Refusal) as refused:
            service.get_thread(subjects["thread"], f"{field}(first: {size}) {{ id }}")
        assert refused.value.code == code
