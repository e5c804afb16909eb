"""Bringing back what a fork did: exactly what the target has not, each run once, with its next message."""

from __future__ import annotations

import re

import pytest

from plait.localdb import Endpoint
from tests.conftest import StartPlait
from tests.support.client import TRANSFER, Client, Refusal
from tests.support.graph import Graph
from tests.support.words import conversation, fork, native_of, run, told, words


@pytest.fixture
def root(service: Client) -> str:
    """A thread with two runs."""
    return conversation(service, "p1", "p2", title="the parent")


@pytest.fixture
def tried(service: Client, root: str) -> str:
    """A fork of it with two runs of its own."""
    thread = fork(service, root, title="the attempt")
    for word in ("f1", "f2"):
        run(service, thread, word)
    return thread


class TestOneMerge:
    def test_waits_with_its_points_and_shows_in_the_lineage_at_once(
        self, service: Client, graph: Graph, root: str, tried: str
    ) -> None:
        transfer = service.merge_back(tried)

        assert (transfer["type"], transfer["status"], transfer["createdBy"]) == ("MERGE_BACK", "PENDING", "USER")
        assert (transfer["sourceThread"]["id"], transfer["targetThread"]["id"]) == (tried, root)
        assert transfer["sourcePoint"]["runId"] == service.run_ids(tried)[-1]
        assert transfer["basePoint"] == {"threadId": root, "runId": service.run_ids(root)[-1]}
        edges = service.lineage(root)["edges"]
        assert [
            (edge["kind"], edge["sourceThreadId"], edge["targetThreadId"])
            for edge in edges
            if edge["transferId"] == transfer["id"]
        ] == [("MERGE_BACK", tried, root)]

    def test_builds_nothing_before_the_next_start(self, graph: Graph, service: Client, root: str, tried: str) -> None:
        with graph.growth() as written:
            service.merge_back(tried)

        edges = {"-FROM->": 1, "-SINCE->": 1, "-INTO->": 1, "-MERGE_BACK->": 1}
        assert written == {"ContextTransfer": 1, "Event": 1, "CommandReceipt": 1} | edges

    def test_is_told_exactly_with_the_next_message(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)

        started = run(service, root, "p3")

        assert (started["plan"]["outcome"], told(started["plan"])) == ("DELTA", ["f1", "f2"])
        assert words(service, root) == ["p1", "p2", "f1", "f2", "p3"]
        after = service.transfer(transfer["id"])
        assert (after["status"], after["consumedByRun"]["id"]) == ("CONSUMED", started["run"]["id"])
        assert after["resolution"]["strategy"] == "DELTA_CONTEXT"
        assert words(service, tried) == ["p1", "p2", "f1", "f2"], "nothing flows the other way"

    def test_is_told_by_a_marked_block_that_names_where_it_comes_from(
        self, service: Client, root: str, tried: str
    ) -> None:
        run(service, root, "p3")
        service.merge_back(tried)

        injected = service.start(root, "Use it")["plan"]["injected"]

        assert "another branch of this conversation, which is now brought back here" in injected
        assert "the attempt" in injected
        assert "This conversation has 1 run that the other had not seen" in injected

    def test_is_part_of_the_history_from_then_on(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")

        assert service.explain(root, "codex")["outcome"] == "NONE", "the provider's thread knows it"
        assert told(service.start(root, "Again", "claude")["plan"]) == ["p1", "p2", "f1", "f2", "p3"]

    def test_a_fork_of_the_target_has_it(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")

        later = fork(service, root)

        assert words(service, later) == ["p1", "p2", "f1", "f2", "p3"]
        assert service.explain(later, "codex")["outcome"] == "NATIVE"
        assert told(service.start(later, "Go", "claude")["plan"]) == ["p1", "p2", "f1", "f2", "p3"]

    def test_crosses_to_another_provider(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)

        started = run(service, root, "p3", "claude")

        assert (started["plan"]["outcome"], told(started["plan"])) == ("PORTABLE", ["p1", "p2", "f1", "f2"])
        kinds = [service.transfer(transfer["id"])["type"] for transfer in started["plan"]["transfers"]]
        assert kinds == ["PROVIDER_HANDOFF", "MERGE_BACK"]
        assert told(service.explain(root, "codex")) == []
        assert service.explain(root, "codex")["outcome"] == "DELTA"

    def test_goes_on_when_the_start_fails(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)
        first = service.start(root, "Use it")
        service.end("failRun", first["run"]["id"])

        second = run(service, root, "p3")

        assert [handoff["id"] for handoff in second["plan"]["handoffs"]] == [
            handoff["id"] for handoff in first["plan"]["handoffs"]
        ], "nothing is built twice"
        assert service.transfer(transfer["id"])["status"] == "CONSUMED"
        assert words(service, root) == ["p1", "p2", "f1", "f2", "p3"]

    def test_another_provider_is_told_which_runs_another_branch_did(
        self, service: Client, root: str, tried: str
    ) -> None:
        service.merge_back(tried)
        run(service, root, "p3")

        injected = service.start(root, "Again", "claude")["plan"]["injected"]

        runs = re.findall(r"run (\d) of 5 \(codex, completed(, in another branch)?\)", injected)
        assert runs == [("1", ""), ("2", ""), ("3", ", in another branch"), ("4", ", in another branch"), ("5", "")]

    def test_its_first_request_is_not_called_the_goal(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)

        injected = service.start(root, "Use it")["plan"]["injected"]

        assert "the first request of this part" in injected
        assert "goal" not in injected

    def test_that_failed_can_be_called_off(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)
        with pytest.raises(Refusal, match="UNSUPPORTED_TRANSFER"):
            service.start(root, "Use it", "acp", strategy="NATIVE_FORK")

        assert service.cancel(transfer["id"])["status"] == "SUPERSEDED"

        assert told(run(service, root, "p3")["plan"]) == []


class TestAgain:
    def test_only_what_is_new(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")
        run(service, tried, "f3")

        again = service.merge_back(tried)
        started = run(service, root, "p4")

        assert again["basePoint"] == {"threadId": tried, "runId": service.run_ids(tried)[1]}
        assert told(started["plan"]) == ["f3"]
        assert words(service, root) == ["p1", "p2", "f1", "f2", "p3", "f3", "p4"]

    def test_nothing_new(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")

        with pytest.raises(Refusal, match="NOTHING_TO_MERGE"):
            service.merge_back(tried)

    def test_an_unused_fork_has_nothing(self, service: Client, root: str) -> None:
        unused = fork(service, root)
        with pytest.raises(Refusal, match=r"NOTHING_TO_MERGE.*Go on in it first\."):
            service.merge_back(unused)
        working = service.running(unused, "work")["run"]["id"]
        with pytest.raises(Refusal, match=f"NOTHING_TO_MERGE.*Its run {working} counts once it is completed."):
            service.merge_back(unused)

    def test_twice_at_one_point_is_one_merge(self, service: Client, tried: str) -> None:
        assert service.merge_back(tried)["id"] == service.merge_back(tried)["id"]

    def test_one_that_waits_is_superseded_by_a_later_one(
        self, service: Client, graph: Graph, root: str, tried: str
    ) -> None:
        first = service.merge_back(tried)
        run(service, tried, "f3")
        second = service.merge_back(tried)

        found = service.transfer(first["id"])
        assert (found["status"], found["supersededBy"]["id"]) == ("SUPERSEDED", second["id"])
        assert graph.values("MATCH (:Thread {id: $id})-[e:MERGE_BACK]->() RETURN e.transferId", id=tried) == [
            second["id"]
        ]
        assert told(run(service, root, "p3")["plan"]) == ["f1", "f2", "f3"]

    def test_what_the_source_does_after_it_is_left_for_the_next(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, tried, "f3")

        assert told(run(service, root, "p3")["plan"]) == ["f1", "f2"]
        service.merge_back(tried)
        assert told(run(service, root, "p4")["plan"]) == ["f3"]


class TestAcrossTheTree:
    def test_from_a_fork_of_a_fork_to_the_grandparent(self, service: Client, root: str, tried: str) -> None:
        deep = fork(service, tried)
        run(service, deep, "d1")

        service.merge_back(deep, root)

        assert told(run(service, root, "p3")["plan"]) == ["f1", "f2", "d1"]

    def test_between_siblings(self, service: Client, root: str, tried: str) -> None:
        sibling = fork(service, root)
        run(service, sibling, "s1")

        service.merge_back(tried, sibling)

        assert told(run(service, sibling, "s2")["plan"]) == ["f1", "f2"]
        assert words(service, sibling) == ["p1", "p2", "s1", "f1", "f2", "s2"]

    def test_two_forks_with_one_message(self, service: Client, root: str, tried: str) -> None:
        other = fork(service, root)
        run(service, other, "o1")
        transfers = [service.merge_back(tried)["id"], service.merge_back(other)["id"]]

        started = run(service, root, "p3")

        assert told(started["plan"]) == ["f1", "f2", "o1"]
        assert [transfer["id"] for transfer in started["plan"]["transfers"]] == transfers
        assert len(started["plan"]["handoffs"]) == 2
        assert {service.transfer(transfer)["status"] for transfer in transfers} == {"CONSUMED"}

    def test_what_two_of_them_have_is_told_once(self, service: Client, root: str, tried: str) -> None:
        deep = fork(service, tried)
        run(service, deep, "d1")
        service.merge_back(tried)
        service.merge_back(deep, root)

        assert told(run(service, root, "p3")["plan"]) == ["f1", "f2", "d1"]
        assert words(service, root) == ["p1", "p2", "f1", "f2", "d1", "p3"]

    def test_the_parents_progress_into_the_fork(self, service: Client, root: str, tried: str) -> None:
        run(service, root, "p3")

        service.merge_back(root, tried)

        assert told(run(service, tried, "f3")["plan"]) == ["p3"]
        service.merge_back(tried)
        assert told(run(service, root, "p4")["plan"]) == ["f1", "f2", "f3"]
        assert words(service, root) == ["p1", "p2", "p3", "f1", "f2", "f3", "p4"]

    def test_what_the_source_had_merged_is_carried(self, service: Client, root: str, tried: str) -> None:
        other = fork(service, root)
        run(service, other, "o1")
        service.merge_back(other, tried)
        run(service, tried, "f3")

        service.merge_back(tried)

        assert told(run(service, root, "p3")["plan"]) == ["f1", "f2", "o1", "f3"]

    def test_into_an_unused_fork(self, service: Client, root: str, tried: str) -> None:
        unused = fork(service, root)
        service.merge_back(tried, unused)

        started = run(service, unused, "u1", "claude")

        assert told(started["plan"]) == ["p1", "p2", "f1", "f2"]
        assert [service.transfer(each["id"])["type"] for each in started["plan"]["transfers"]] == [
            "FORK",
            "MERGE_BACK",
        ]

    def test_into_an_unused_fork_the_source_is_forked_natively(self, service: Client, root: str, tried: str) -> None:
        unused = fork(service, root)
        merge = service.merge_back(tried, unused)

        started = service.start(unused, "Go on")

        plan = started["plan"]
        assert (plan["outcome"], plan["injected"]) == ("NATIVE", None)
        assert plan["nativeFork"]["nativeThreadId"] == native_of(service, tried)
        service.started(started["run"]["id"], nativeThreadId=f"native-{unused}", nativeTurnId="u1")
        assert service.transfer(merge["id"])["status"] == "CONSUMED"
        assert service.transfer(merge["id"])["resolution"]["strategy"] == "NATIVE_FORK"
        assert words(service, unused) == ["p1", "p2", "f1", "f2"]

    def test_a_fork_at_an_item_is_given_the_rest_of_the_run(self, service: Client, root: str) -> None:
        last = service.run_ids(root)[-1]
        message = service.items(last)[0]["id"]
        early = fork(service, root, point={"turnItemId": message})
        run(service, early, "e1")

        service.merge_back(root, early)

        assert told(run(service, early, "e2")["plan"]) == ["p2"]
        assert words(service, early) == ["p1", "e1", "p2", "e2"]


class TestRollbacks:
    def test_of_the_source_before_the_start(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)

        service.roll_back(tried, service.run_ids(tried)[0])

        assert service.transfer(transfer["id"])["status"] == "SUPERSEDED"
        assert told(run(service, root, "p3")["plan"]) == []
        service.merge_back(tried)
        assert told(run(service, root, "p4")["plan"]) == ["f1"]

    def test_of_the_source_while_a_run_starts_with_it(self, service: Client, root: str, tried: str) -> None:
        """The merge came first: what the provider is being told can't be taken back."""
        transfer = service.merge_back(tried)
        started = service.start(root, "Use it")

        service.roll_back(tried, service.run_ids(tried)[0])
        service.started(started["run"]["id"], nativeTurnId="p3")

        assert service.transfer(transfer["id"])["status"] == "CONSUMED"
        assert words(service, root) == ["p1", "p2", "f1", "f2"]

    def test_of_the_source_while_a_run_starts_that_then_fails(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)
        started = service.start(root, "Use it")

        service.roll_back(tried, service.run_ids(tried)[0])
        service.end("failRun", started["run"]["id"])

        assert told(run(service, root, "p3")["plan"]) == []
        assert service.transfer(transfer["id"])["status"] == "SUPERSEDED"

    def test_of_the_run_that_took_it(self, service: Client, root: str, tried: str) -> None:
        transfer = service.merge_back(tried)
        run(service, root, "p3")

        service.roll_back(root, service.run_ids(root)[1])

        assert words(service, root) == ["p1", "p2"]
        assert service.transfer(transfer["id"])["status"] == "CONSUMED", "the record stays"
        # The source's own native thread knows just that.
        plan = run(service, root, "p4")["plan"]
        assert (plan["outcome"], plan["injected"]) == ("NATIVE", None)
        assert plan["nativeFork"]["nativeThreadId"] == native_of(service, tried)
        assert words(service, root) == ["p1", "p2", "f1", "f2", "p4"]

    def test_of_the_run_that_took_it_is_told_to_another_provider(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")

        service.roll_back(root, service.run_ids(root)[1])

        assert told(run(service, root, "p4", "claude")["plan"]) == ["p1", "p2", "f1", "f2"]

    def test_of_the_run_that_took_it_and_then_of_the_source(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")
        service.roll_back(tried, service.run_ids(tried)[0])

        service.roll_back(root, service.run_ids(root)[1])

        assert told(run(service, root, "p4")["plan"]) == []

    def test_what_the_target_took_back_does_not_come_back(self, service: Client, root: str) -> None:
        run(service, root, "p3")
        later = fork(service, root)
        run(service, later, "f1")
        service.roll_back(root, service.run_ids(root)[1])

        service.merge_back(later)
        started = run(service, root, "p4")

        assert told(started["plan"]) == ["f1"]
        assert "1 run of this conversation that it took back" in started["plan"]["injected"].replace("1 Run", "1 run")
        assert words(service, root) == ["p1", "p2", "f1", "p4"]

    def test_after_the_forks_point_was_rolled_back(self, service: Client, root: str, tried: str) -> None:
        """The fork was taken at p2; its parent goes back to p1 and on."""
        service.roll_back(root, service.run_ids(root)[0])
        run(service, root, "p3")

        service.merge_back(tried)

        assert told(run(service, root, "p4")["plan"]) == ["f1", "f2"]
        assert words(service, root) == ["p1", "p3", "f1", "f2", "p4"]

    def test_of_the_run_that_took_a_later_merge_as_well(self, service: Client, root: str, tried: str) -> None:
        """Both wait anew: the later one may be taken back by its source, and the earlier one still holds."""
        service.merge_back(tried)
        run(service, root, "p3")
        run(service, tried, "f3")
        service.merge_back(tried)
        run(service, root, "p4")

        service.roll_back(root, service.run_ids(root)[1])
        service.roll_back(tried, service.run_ids(tried)[1])

        assert told(run(service, root, "p5", "claude")["plan"]) == ["p1", "p2", "f1", "f2"]

    def test_what_waits_anew_is_counted_from_what_both_have_now(self, service: Client, root: str, tried: str) -> None:
        service.merge_back(tried)
        run(service, root, "p3")
        run(service, tried, "f3")
        service.merge_back(tried)
        run(service, root, "p4")
        fork_point = service.run_ids(root)[1]

        service.roll_back(root, fork_point)

        waiting = service.get_thread(root, f"transfers(status: PENDING) {{ {TRANSFER} }}")["transfers"]
        assert [transfer["basePoint"]["runId"] for transfer in waiting] == [fork_point, fork_point]

    def test_a_merge_that_another_one_held_waits_anew_with_it(self, service: Client, root: str, tried: str) -> None:
        deep = fork(service, tried)
        run(service, deep, "d1")
        service.merge_back(deep, root)
        service.merge_back(tried)
        run(service, root, "p3")
        service.roll_back(root, service.run_ids(root)[1])
        service.roll_back(deep, service.run_ids(tried)[-1])

        assert told(run(service, root, "p4", "claude")["plan"]) == ["p1", "p2", "f1", "f2"]

    def test_what_a_parent_left_out_of_a_merge_its_forks_are_not_brought_either(self, service: Client) -> None:
        """They stand on what was told without it: brought later, it would come after what stands on it."""
        parent = service.thread()["id"]
        for word in ("p0", "p1", "p2"):
            run(service, parent, word)
        source = fork(service, parent)
        run(service, source, "s1")
        service.roll_back(parent, service.run_ids(parent)[1])
        service.merge_back(source, parent)
        run(service, parent, "p3")
        later = fork(service, parent)

        assert words(service, later) == ["p0", "p1", "s1", "p3"]
        with pytest.raises(Refusal, match="NOTHING_TO_MERGE"):
            service.merge_back(source, later)
        sibling = fork(service, parent, point={"runId": service.run_ids(parent)[0]})
        service.merge_back(parent, sibling)
        run(service, sibling, "x1")
        with pytest.raises(Refusal, match="NOTHING_TO_MERGE"):
            service.merge_back(source, sibling)


class TestPoints:
    def test_a_run_that_was_brought_in_is_forked_in_its_own_thread(
        self, service: Client, root: str, tried: str
    ) -> None:
        service.merge_back(tried)
        run(service, root, "p3")
        brought = service.run_ids(tried)[0]

        with pytest.raises(Refusal, match=f"INVALID_INPUT.*brought into thread {root} from thread {tried}"):
            service.fork(root, point={"runId": brought})
        assert words(service, fork(service, tried, point={"runId": brought})) == ["p1", "p2", "f1"]

    def test_a_merge_from_an_ancestor_that_the_forks_point_passed_over(self, service: Client, root: str) -> None:
        parent = fork(service, root)
        child = fork(service, parent, point={"runId": service.run_ids(root)[0]})
        run(service, parent, "f1")
        service.merge_back(parent, child)

        assert told(run(service, child, "c1", "claude")["plan"]) == ["p1", "p2", "f1"]

    def test_a_run_that_a_history_holds_in_pieces_is_told_whole_and_counted_once(
        self, service: Client, root: str
    ) -> None:
        last = service.run_ids(root)[-1]
        early = fork(service, root, point={"turnItemId": service.items(last)[0]["id"]})
        run(service, early, "e1")
        service.merge_back(root, early)
        run(service, early, "e2")

        plan = service.start(early, "Go on", "claude")["plan"]

        assert told(plan) == ["p1", "p2", "e1", "e2"]
        assert plan["injected"].count("go on") == 4
        first = fork(service, root, point={"runId": service.run_ids(root)[0]})
        alone = service.execute(
            """query ($base: ID!, $head: ID!) { compareThreads(base: $base, head: $head) {
              headOnly { totalCount runs { id } }
            } }""",
            base=first,
            head=early,
        )["compareThreads"]["headOnly"]
        assert (alone["totalCount"], len(alone["runs"])) == (3, 3)


class TestRefusals:
    def test_threads_that_share_nothing(self, service: Client, tried: str) -> None:
        other = service.thread()["id"]
        run(service, other, "o1")

        with pytest.raises(Refusal, match="NO_COMMON_ANCESTOR"):
            service.merge_back(tried, other)

    def test_a_root_has_no_parent(self, service: Client, root: str) -> None:
        with pytest.raises(Refusal, match="INVALID_INPUT") as refused:
            service.merge_back(root)
        assert "name the targetThreadId" in refused.value.message

    def test_a_thread_into_itself(self, service: Client, root: str) -> None:
        with pytest.raises(Refusal, match="INVALID_INPUT"):
            service.merge_back(root, root)

    @pytest.mark.parametrize("which", ["source", "target"])
    def test_an_unknown_thread(self, service: Client, tried: str, which: str) -> None:
        unknown = "thr_00000000-0000-7000-8000-000000000000"
        with pytest.raises(Refusal, match=f"NOT_FOUND: There is no thread {unknown}"):
            service.merge_back(*((unknown, tried) if which == "source" else (tried, unknown)))

    def test_a_start_that_no_way_leads_to(self, service: Client, root: str, tried: str) -> None:
        """The merge failed with the start, and the next start makes it anew."""
        transfer = service.merge_back(tried)
        with pytest.raises(Refusal, match="UNSUPPORTED_TRANSFER"):
            service.start(root, "Use it", "acp", strategy="NATIVE_FORK")
        assert service.transfer(transfer["id"])["status"] == "FAILED"

        started = run(service, root, "p3")

        assert told(started["plan"]) == ["f1", "f2"]
        anew = service.transfer(transfer["id"])["supersededBy"]["id"]
        assert service.transfer(anew)["status"] == "CONSUMED"


def test_where_all_fits_all_is_told(service: Client, root: str) -> None:
    """However many merges wait, nothing is left out while there is room."""
    for number in range(60):
        run(service, root, f"q{number}")
    for number in range(8):
        other = fork(service, root)
        run(service, other, f"m{number}")
        service.merge_back(other)

    plan = service.start(root, "Go on", "claude")["plan"]

    assert told(plan) == ["p1", "p2", *(f"q{n}" for n in range(60)), *(f"m{n}" for n in range(8))]
    assert sum(handoff["tokens"] for handoff in plan["handoffs"]) <= 24_000


def test_a_provider_with_room_for_one_handoff_is_told_its_own_history_and_the_merge_waits(
    neo4j_endpoint: Endpoint, plait_process: StartPlait, service: Client, root: str, tried: str
) -> None:
    providers = {"PLAIT_PROVIDERS": '{"brief": {"driver": "brief", "handoffTokens": 250}}'}
    brief = Client(plait_process(neo4j_endpoint, env=providers).url)
    merge = service.merge_back(tried)

    plan = brief.start(root, "Go on", "brief")["plan"]

    assert (plan["outcome"], len(plan["handoffs"])) == ("PORTABLE", 1)
    assert service.transfer(merge["id"])["status"] == "PENDING"
    brief.close()


def test_many_merges_share_one_budget(service: Client, root: str) -> None:
    """Each is told, none alone takes the room of the others, and together they stay within the provider's budget."""
    for number in range(5):
        other = fork(service, root)
        service.whole_run(other, "go on", f"<m{number}> " + "word " * 20_000)
        service.merge_back(other)

    plan = run(service, root, "p3")["plan"]

    assert told(plan) == [f"m{number}" for number in range(5)]
    handoffs = plan["handoffs"]
    assert len(handoffs) == 5
    assert sum(handoff["tokens"] for handoff in handoffs) <= 24_000
    assert max(handoff["tokens"] for handoff in handoffs) < 6_000
