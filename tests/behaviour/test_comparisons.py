"""What threads share and what each has alone, held against their histories as people see them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.client import Client, Refusal

COMPARE = """query ($base: ID!, $head: ID!, $first: Int) { compareThreads(base: $base, head: $head, first: $first) {
  mergeBase { threadId runId turnItemId }
  baseOnly { totalCount tokens runs { id } } headOnly { totalCount tokens runs { id } }
} }"""
MERGE_BASE = "query ($ids: [ID!]!) { mergeBase(threadIds: $ids) { threadId runId turnItemId providerTurnRef } }"


def compare(service: Client, base: str, head: str, first: int | None = None) -> dict[str, Any]:
    return service.execute(COMPARE, base=base, head=head, first=first)["compareThreads"]


def merge_base(service: Client, *threads: str) -> dict[str, Any] | None:
    return service.execute(MERGE_BASE, ids=list(threads))["mergeBase"]


def run(service: Client, thread: str, message: str = "ask") -> str:
    return service.whole_run(thread, message)["run"]["id"]


def runs_of(service: Client, thread: str) -> list[str]:
    """The runs of a thread's history, by what people see of it."""
    return list(dict.fromkeys(item["runId"] for item in service.visible(thread)))


def test_a_fork_and_its_source_share_the_point_it_was_taken_from(service: Client) -> None:
    thread = service.thread()["id"]
    first, second = run(service, thread), run(service, thread)
    fork = service.fork(thread, point={"runId": first})["thread"]["id"]
    alone = run(service, fork)

    found = compare(service, thread, fork)

    assert found["mergeBase"] == {"threadId": thread, "runId": first, "turnItemId": None}
    assert [entry["id"] for entry in found["baseOnly"]["runs"]] == [second]
    assert [entry["id"] for entry in found["headOnly"]["runs"]] == [alone]
    assert merge_base(service, thread, fork) == {
        "threadId": thread,
        "runId": first,
        "turnItemId": None,
        "providerTurnRef": service.get_run(first)["nativeTurnId"],
    }


def test_an_unused_fork_has_nothing_alone(service: Client) -> None:
    thread = service.thread()["id"]
    last = run(service, thread)
    fork = service.fork(thread)["thread"]["id"]

    found = compare(service, thread, fork)

    assert found["mergeBase"]["runId"] == last
    assert found["baseOnly"] == found["headOnly"] == {"totalCount": 0, "tokens": 0, "runs": []}


def test_a_fork_at_an_item_shares_the_run_up_to_that_item(service: Client) -> None:
    thread = service.thread()["id"]
    first = run(service, thread)
    item = service.items(first)[0]["id"]
    fork = service.fork(thread, point={"turnItemId": item})["thread"]["id"]

    found = compare(service, thread, fork)

    assert found["mergeBase"] == {"threadId": thread, "runId": first, "turnItemId": item}
    assert found["baseOnly"]["totalCount"] == 1
    assert found["headOnly"]["totalCount"] == 0


def test_runs_that_were_rolled_back_are_shared_no_more(service: Client) -> None:
    thread = service.thread()["id"]
    first, second = run(service, thread), run(service, thread)
    fork = service.fork(thread)["thread"]["id"]
    service.roll_back(thread, first)
    third = run(service, thread)

    found = compare(service, thread, fork)

    assert found["mergeBase"]["runId"] == first
    assert [entry["id"] for entry in found["baseOnly"]["runs"]] == [third]
    assert [entry["id"] for entry in found["headOnly"]["runs"]] == [second]


def test_a_run_that_reached_no_provider_is_no_base(service: Client) -> None:
    thread = service.thread()["id"]
    first = run(service, thread)
    given_up = service.start(thread, "never")["run"]["id"]
    service.end("interruptRun", given_up)
    second = run(service, thread)
    service.roll_back(thread, first)
    fork = service.fork(thread)["thread"]["id"]
    run(service, thread)

    assert merge_base(service, thread, fork) is not None
    assert merge_base(service, thread, fork)["runId"] == first  # type: ignore[index]
    assert second not in runs_of(service, fork)


def test_trees_apart_share_nothing(service: Client) -> None:
    one, other = service.thread()["id"], service.thread()["id"]
    run(service, one)
    run(service, other)

    assert merge_base(service, one, other) is None
    found = compare(service, one, other)
    assert found["mergeBase"] is None
    assert found["baseOnly"]["totalCount"] == found["headOnly"]["totalCount"] == 1


def test_any_threads_of_a_grown_tree_are_compared_as_their_histories_are(service: Client) -> None:
    chance = random.Random(7)
    threads = [service.thread()["id"]]
    run(service, threads[0])
    for step in range(40):
        thread = chance.choice(threads)
        match chance.choice(["run", "run", "fork", "fork", "roll back"]):
            case "run":
                run(service, thread, f"ask {step}")
            case "fork":
                point = chance.choice(runs_of(service, thread))
                threads.append(service.fork(thread, point={"runId": point})["thread"]["id"])
            case _:
                own = [r for r in runs_of(service, thread) if r in service.run_ids(thread)]
                if own:
                    service.roll_back(thread, chance.choice(own))
    histories = {thread: runs_of(service, thread) for thread in threads}

    for _ in range(60):
        base, head = chance.sample(threads, 2)
        found = compare(service, base, head, first=100)
        shared = [r for r in histories[base] if r in histories[head]]
        assert found["mergeBase"]["runId"] == shared[-1]
        for side, ours, theirs in (("baseOnly", base, head), ("headOnly", head, base)):
            alone = [r for r in histories[ours] if r not in histories[theirs]]
            assert [entry["id"] for entry in found[side]["runs"]] == alone
            assert found[side]["totalCount"] == len(alone)
    for _ in range(20):
        some = chance.sample(threads, min(4, len(threads)))
        shared = [r for r in histories[some[0]] if all(r in histories[other] for other in some)]
        assert merge_base(service, *some)["runId"] == shared[-1]  # type: ignore[index]


def test_the_tokens_alone_are_those_of_the_runs(service: Client) -> None:
    thread = service.thread()["id"]
    run(service, thread)
    fork = service.fork(thread)["thread"]["id"]
    for words in ("some words", "and a few more words"):
        run(service, fork, words)
    tokens = sum(
        item["tokens"]
        for r in service.run_ids(fork)
        for item in service.get_run(r, "items(first: 10) { nodes { tokens } }")["items"]["nodes"]
    )

    assert compare(service, thread, fork)["headOnly"]["tokens"] == tokens


def test_no_more_runs_are_given_than_asked_for(service: Client) -> None:
    thread = service.thread()["id"]
    run(service, thread)
    fork = service.fork(thread)["thread"]["id"]
    made = [run(service, fork) for _ in range(3)]

    found = compare(service, thread, fork, first=2)["headOnly"]

    assert [entry["id"] for entry in found["runs"]] == made[:2]
    assert found["totalCount"] == 3


UNKNOWN = "thr_00000000-0000-7000-8000-000000000000"


def test_bad_questions(service: Client) -> None:
    thread = service.thread()["id"]

    def code(document: str, **variables: Any) -> str:
        with pytest.raises(Refusal) as refused:
            service.execute(document, **variables)
        return refused.value.code

    assert code(MERGE_BASE, ids=[thread, UNKNOWN]) == "NOT_FOUND"
    assert code(MERGE_BASE, ids=[thread]) == "INVALID_INPUT"
    assert code(MERGE_BASE, ids=[thread] * 11) == "INVALID_INPUT"
    assert code(COMPARE, base=thread, head=UNKNOWN) == "NOT_FOUND"
    assert code(COMPARE, base="thread", head=thread) == "INVALID_INPUT"
    assert code(COMPARE, base=thread, head=thread, first=101) == "LIMIT_EXCEEDED"


def test_threads_without_a_run_share_nothing(service: Client) -> None:
    thread = service.thread()["id"]

    assert merge_base(service, thread, thread) is None
    assert compare(service, thread, thread)["mergeBase"] is None
