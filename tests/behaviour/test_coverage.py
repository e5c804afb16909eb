"""What a provider's thread knows: which runs natively, which by which handoff, and which of them were rolled back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph
from tests.support.natives import Natives
from tests.support.words import conversation, fork, run

SEGMENT = """threadId via handoffId nativeTurnId inHistory runCount afterItemPosition throughItemPosition
firstRun { id position } lastRun { id position } handoff { id kind }"""
COVERAGE = f"""query ($id: ID!, $first: Int, $after: String) {{ thread(id: $id) {{ providerThreads {{
  id provider status nativeThreadId coverage(first: $first, after: $after) {{
    totalCount pageInfo {{ hasNextPage hasPreviousPage endCursor }} nodes {{ {SEGMENT} }}
  }}
}} }} }}"""
ACCEPTED = "MATCH (r:Run) WHERE r.threadId = $thread AND r.startedAt IS NOT NULL AND $first <= r.position <= $last "
RUNS = ACCEPTED + "RETURN r.id ORDER BY r.position"


def provider_threads(service: Client, thread: str, **page: Any) -> list[dict[str, Any]]:
    """The provider threads behind a thread, the last used first, each with its coverage."""
    return service.execute(COVERAGE, id=thread, **page)["thread"]["providerThreads"]


def known(service: Client, thread: str, provider: str = "codex", at: int = 0) -> list[tuple[Any, ...]]:
    """What a provider thread knows: thread, first and last position, way; by default the last used of Codex."""
    found = [each for each in provider_threads(service, thread) if each["provider"] == provider]
    return [
        (
            segment["threadId"],
            segment["firstRun"]["position"],
            segment["lastRun"]["position"],
            segment["handoffId"] or segment["via"],
        )
        for segment in found[at]["coverage"]["nodes"]
    ]


def handoff(started: dict[str, Any]) -> str:
    """The one handoff of a start."""
    (found,) = started["plan"]["handoffs"]
    return found["id"]


class Switched:
    """A thread with runs 1 to 5 on Codex, 6 to 8 on Claude, and 9 on Codex again."""

    def __init__(self, service: Client) -> None:
        self.thread = conversation(service, "p1", "p2", "p3", "p4", "p5")
        self.to_claude = handoff(run(service, self.thread, "p6", "claude"))
        for word in ("p7", "p8"):
            run(service, self.thread, word, "claude")
        self.back = handoff(run(service, self.thread, "p9"))
        self.runs = service.run_ids(self.thread)


@pytest.fixture
def switched(service: Client) -> Switched:
    return Switched(service)


class TestOneThread:
    def test_each_provider_knows_its_own_runs_natively_and_the_others_by_a_handoff(
        self, service: Client, switched: Switched
    ) -> None:
        thread = switched.thread

        assert known(service, thread) == [
            (thread, 1, 5, "NATIVE"),
            (thread, 6, 8, switched.back),
            (thread, 9, 9, "NATIVE"),
        ]
        assert known(service, thread, "claude") == [(thread, 1, 5, switched.to_claude), (thread, 6, 8, "NATIVE")]

    def test_a_segment_tells_its_runs_its_turn_and_its_handoff(self, service: Client, switched: Switched) -> None:
        codex, _ = provider_threads(service, switched.thread)
        native, told, _ = codex["coverage"]["nodes"]

        assert native == {
            "threadId": switched.thread,
            "via": "NATIVE",
            "handoffId": None,
            "handoff": None,
            "nativeTurnId": "p5",
            "inHistory": True,
            "runCount": 5,
            "firstRun": {"id": switched.runs[0], "position": 1},
            "lastRun": {"id": switched.runs[4], "position": 5},
            "afterItemPosition": None,
            "throughItemPosition": None,
        }
        assert (told["via"], told["runCount"], told["nativeTurnId"]) == ("HANDOFF", 3, None)
        assert told["handoff"] == {"id": switched.back, "kind": "DELTA_CONTEXT"}

    def test_a_run_that_reached_no_provider_is_known_to_nobody(self, service: Client) -> None:
        thread = conversation(service, "p1")
        service.end("interruptRun", service.start(thread, "never")["run"]["id"])
        run(service, thread, "p2")

        (segment,) = provider_threads(service, thread)[0]["coverage"]["nodes"]

        assert (segment["firstRun"]["position"], segment["lastRun"]["position"]) == (1, 3)
        assert segment["runCount"] == 2

    def test_a_handoff_that_leaves_out_runs_for_its_budget_still_stands_for_them(self, service: Client) -> None:
        thread = service.thread()["id"]
        for number in range(8):
            service.whole_run(thread, f"Step {number}", "word " * 150)
        told = handoff(run(service, thread, "next", "brief-300"))

        assert known(service, thread, "brief-300")[0] == (thread, 1, 8, told)
        assert service.get_handoff(told)["payload"]["leftOut"]

    def test_a_thread_without_a_run_has_nothing_that_knows_it(self, service: Client) -> None:
        assert provider_threads(service, service.thread()["id"]) == []


class TestForks:
    def test_a_native_fork_knows_what_its_origin_knew_in_the_same_ways(
        self, service: Client, graph: Graph, switched: Switched
    ) -> None:
        child = fork(service, switched.thread)
        assert run(service, child, "f1")["plan"]["outcome"] == "NATIVE"

        assert known(service, child) == [
            (switched.thread, 1, 5, "NATIVE"),
            (switched.thread, 6, 8, switched.back),
            (switched.thread, 9, 9, "NATIVE"),
            (child, 1, 1, "NATIVE"),
        ]
        own = "MATCH (:Thread {id: $id})-[:BACKED_BY]->(:ProviderThread)-[:COVERS]->(r:Run) RETURN r.threadId"
        assert graph.values(own, id=child) == [child], "the graph has what it was told itself; the rest is derived"

    def test_a_native_fork_at_an_earlier_turn_knows_no_later_run(self, service: Client, switched: Switched) -> None:
        child = fork(service, switched.thread, point={"runId": switched.runs[2]})
        run(service, child, "f1")

        assert known(service, child) == [(switched.thread, 1, 3, "NATIVE"), (child, 1, 1, "NATIVE")]

    def test_what_its_origin_was_told_later_was_told_to_a_native_fork_by_its_own_handoff(
        self, service: Client, switched: Switched
    ) -> None:
        child = fork(service, switched.thread, point={"runId": switched.runs[6]})
        started = run(service, child, "f1")
        assert started["plan"]["nativeFork"]["lastTurnId"] == "p5"

        assert known(service, child) == [
            (switched.thread, 1, 5, "NATIVE"),
            (switched.thread, 6, 7, handoff(started)),
            (child, 1, 1, "NATIVE"),
        ]

    def test_a_native_fork_of_a_native_fork(self, service: Client, switched: Switched) -> None:
        child = fork(service, switched.thread)
        run(service, child, "f1")
        grandchild = fork(service, child)
        run(service, grandchild, "g1")

        assert known(service, grandchild)[1:] == [
            (switched.thread, 6, 8, switched.back),
            (switched.thread, 9, 9, "NATIVE"),
            (child, 1, 1, "NATIVE"),
            (grandchild, 1, 1, "NATIVE"),
        ]

    def test_a_native_fork_that_took_no_turn_yet_knows_what_it_was_forked_with(
        self, service: Client, switched: Switched
    ) -> None:
        child = fork(service, switched.thread, point={"runId": switched.runs[2]})
        failed = service.start(child, "go on")["run"]["id"]
        native = f"native-{key()}"
        service.started(failed, nativeThreadId=native, failure={"code": "OVERLOADED", "message": "Try later"})

        assert known(service, child) == [(switched.thread, 1, 3, "NATIVE")]
        again = service.start(child, "go on")
        assert again["plan"]["resume"]["nativeThreadId"] == native
        service.started(again["run"]["id"], nativeThreadId=native, nativeTurnId="f1")
        assert known(service, child) == [(switched.thread, 1, 3, "NATIVE"), (child, 2, 2, "NATIVE")]

    def test_a_fork_on_another_provider_was_told_all(self, service: Client, switched: Switched) -> None:
        child = fork(service, switched.thread)
        started = run(service, child, "f1", "opencode")

        told = handoff(started)
        assert known(service, child, "opencode") == [(switched.thread, 1, 9, told), (child, 1, 1, "NATIVE")]

    def test_a_fork_inside_a_run_is_known_through_that_item(self, service: Client) -> None:
        thread = conversation(service, "p1", "p2")
        item = service.items(service.run_ids(thread)[1])[0]
        child = fork(service, thread, point={"turnItemId": item["id"]})
        started = run(service, child, "f1", "claude")

        told, own = provider_threads(service, child)[0]["coverage"]["nodes"]

        assert (told["lastRun"]["position"], told["throughItemPosition"]) == (2, item["position"])
        assert told["handoffId"] == handoff(started)
        assert (own["threadId"], own["throughItemPosition"]) == (child, None)


class TestRollback:
    def test_a_divergent_provider_thread_knows_runs_that_are_not_in_the_history(
        self, service: Client, switched: Switched
    ) -> None:
        service.roll_back(switched.thread, switched.runs[1])

        codex = next(each for each in provider_threads(service, switched.thread) if each["provider"] == "codex")

        assert codex["status"] == "DIVERGENT"
        assert [
            (each["firstRun"]["position"], each["lastRun"]["position"], each["via"], each["inHistory"])
            for each in codex["coverage"]["nodes"]
        ] == [(1, 2, "NATIVE", True), (3, 5, "NATIVE", False), (6, 8, "HANDOFF", False), (9, 9, "NATIVE", False)]

    def test_what_is_forked_from_it_knows_what_was_kept(self, service: Client, switched: Switched) -> None:
        service.roll_back(switched.thread, switched.runs[1])
        run(service, switched.thread, "p10")

        assert known(service, switched.thread) == [
            (switched.thread, 1, 2, "NATIVE"),
            (switched.thread, 10, 10, "NATIVE"),
        ]

    def test_a_fork_of_what_was_rolled_back_still_has_it_in_its_history(
        self, service: Client, switched: Switched
    ) -> None:
        child = fork(service, switched.thread)
        run(service, child, "f1")
        service.roll_back(switched.thread, switched.runs[1])

        (found,) = provider_threads(service, child)

        assert all(each["inHistory"] for each in found["coverage"]["nodes"])


class TestMerges:
    def test_what_was_brought_in_is_known_by_its_handoff_in_its_place(self, service: Client) -> None:
        thread = conversation(service, "p1", "p2")
        child = fork(service, thread)
        for word in ("f1", "f2"):
            run(service, child, word)
        service.merge_back(child)
        merged = handoff(run(service, thread, "p3"))
        run(service, thread, "p4")

        assert known(service, thread) == [
            (thread, 1, 2, "NATIVE"),
            (child, 1, 2, merged),
            (thread, 3, 4, "NATIVE"),
        ]

    def test_a_native_fork_after_the_merge_knows_it_as_well(self, service: Client) -> None:
        thread = conversation(service, "p1")
        child = fork(service, thread)
        run(service, child, "f1")
        service.merge_back(child)
        merged = handoff(run(service, thread, "p2"))
        later = fork(service, thread)
        run(service, later, "l1")

        assert known(service, later) == [
            (thread, 1, 1, "NATIVE"),
            (child, 1, 1, merged),
            (thread, 2, 2, "NATIVE"),
            (later, 1, 1, "NATIVE"),
        ]


class TestPages:
    def test_pages_go_through_all_segments_once(self, service: Client, switched: Switched) -> None:
        codex = provider_threads(service, switched.thread)[0]
        pages = list(paged(service, codex["id"], 2))

        assert [len(page["nodes"]) for page in pages] == [2, 1]
        assert [node for page in pages for node in page["nodes"]] == codex["coverage"]["nodes"]
        assert {page["totalCount"] for page in pages} == {3}

    def test_a_page_goes_on_where_a_segment_has_grown(self, service: Client) -> None:
        thread = conversation(service, "p1", "p2")
        (found,) = provider_threads(service, thread)
        end = page_of(service, found["id"], 5)["pageInfo"]["endCursor"]
        run(service, thread, "p3")

        (rest,) = page_of(service, found["id"], 5, end)["nodes"]

        assert (rest["firstRun"]["position"], rest["lastRun"]["position"]) == (3, 3)

    def test_bad_pages(self, service: Client, switched: Switched) -> None:
        codex, claude = provider_threads(service, switched.thread)
        foreign = page_of(service, claude["id"], 1)["pageInfo"]["endCursor"]

        for first, after, code in ((0, None, "INVALID_INPUT"), (101, None, "LIMIT_EXCEEDED"), (1, foreign, None)):
            with pytest.raises(Refusal) as refused:
                page_of(service, codex["id"], first, after)
            assert refused.value.code == (code or "INVALID_INPUT")


def page_of(service: Client, provider_thread: str, first: int, after: str | None = None) -> dict[str, Any]:
    document = f"""query ($id: ID!, $first: Int, $after: String) {{ node(id: $id) {{ ... on ProviderThread {{
      coverage(first: $first, after: $after) {{
        totalCount pageInfo {{ hasNextPage endCursor }} nodes {{ {SEGMENT} }}
      }}
    }} }} }}"""
    return service.execute(document, id=provider_thread, first=first, after=after)["node"]["coverage"]


def paged(service: Client, provider_thread: str, first: int) -> Iterator[dict[str, Any]]:
    after, more = None, True
    while more:
        page = page_of(service, provider_thread, first, after)
        yield page
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]


class Story:
    """A tree grown at random, with providers that know only what they were told: each run has a mark of its own."""

    def __init__(self, service: Client, graph: Graph, seed: int) -> None:
        self.service, self.graph = service, graph
        self.chance = random.Random(seed)
        self.natives = Natives(key())
        self.threads = [service.thread(title=f"story {seed}")["id"]]
        self.marks: dict[str, int] = {}

    def step(self) -> None:
        thread = self.chance.choice(self.threads)
        match self.chance.choice(["run", "run", "run", "run", "fork", "merge", "roll back"]):
            case "run":
                self.run(thread)
            case "fork" if self.history(thread):
                run = self.chance.choice(self.history(thread))
                with suppress(Refusal):  # of a run that was brought in
                    self.threads.append(fork(self.service, thread, point={"runId": run}))
            case "merge" if len(self.threads) > 1:
                source, target = self.chance.sample(self.threads, 2)
                with suppress(Refusal):  # of what the target has already
                    self.service.merge_back(source, target)
            case "roll back":
                own = [run for run in self.history(thread) if run in self.service.run_ids(thread)]
                if own:
                    self.service.roll_back(thread, self.chance.choice(own))
            case _:
                pass

    def run(self, thread: str) -> None:
        mark = len(self.marks)
        started = self.service.start(thread, f"words mark{mark}", self.chance.choice(["codex", "codex", "claude"]))
        run = started["run"]["id"]
        native, turn = self.natives.take(started["plan"])
        turn.said.append(mark)
        self.service.started(run, nativeThreadId=native, nativeTurnId=turn.id)
        self.service.complete(run)
        self.marks[run] = mark

    def history(self, thread: str) -> list[str]:
        return list(dict.fromkeys(item["runId"] for item in self.service.visible(thread)))

    def runs(self, segment: dict[str, Any]) -> list[str]:
        first, last = segment["firstRun"]["position"], segment["lastRun"]["position"]
        found = self.graph.values(RUNS, thread=segment["threadId"], first=first, last=last)
        assert len(found) == segment["runCount"]
        return found

    def check(self, thread: str) -> None:
        history = self.history(thread)
        behind = provider_threads(self.service, thread, first=100)
        for each in behind:
            segments = each["coverage"]["nodes"]
            turns = self.natives.threads[each["nativeThreadId"]]
            by_way = {
                way: [self.marks[run] for segment in segments if segment["via"] == way for run in self.runs(segment)]
                for way in ("NATIVE", "HANDOFF")
            }
            assert sorted(by_way["NATIVE"]) == sorted(mark for turn in turns for mark in turn.said)
            assert sorted(by_way["HANDOFF"]) == sorted(mark for turn in turns for mark in turn.injected)
            for segment in segments:
                assert {run in history for run in self.runs(segment)} == {segment["inHistory"]}
        for provider in ("codex", "claude"):
            self.check_plan(thread, provider, history, behind)

    def check_plan(self, thread: str, provider: str, history: list[str], behind: list[dict[str, Any]]) -> None:
        """What a resume would tell is the history less what is covered."""
        pending = [t for t in self.service.transfers(thread) if t["type"] == "MERGE_BACK" and t["status"] == "PENDING"]
        if any(t["targetThread"]["id"] == thread for t in pending):
            return
        covered = {
            each["nativeThreadId"]: [run for segment in each["coverage"]["nodes"] for run in self.runs(segment)]
            for each in behind
        }
        for candidate in self.service.explain(thread, provider)["candidates"]:
            if candidate["outcome"] in ("NONE", "DELTA") and candidate["nativeThreadId"] is not None:
                left = [run for run in history if run not in covered[candidate["nativeThreadId"]]]
                tokens = sum(self.graph.value("MATCH (r:Run {id: $id}) RETURN r.tokens", id=run) for run in left)
                assert candidate["costTokens"] == tokens
                assert (candidate["outcome"] == "NONE") == (not left)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_the_providers_were_really_told_and_what_a_plan_leaves_out(
    service: Client, graph: Graph, seed: int
) -> None:
    story = Story(service, graph, seed)

    for _ in range(30):
        story.step()

    for thread in story.threads:
        story.check(thread)
