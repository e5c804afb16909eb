"""Forks: at which points they can be taken, what they then show, and where their native refs lead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal, key


def says(text: str) -> dict[str, Any]:
    return {"kind": "ASSISTANT_MESSAGE", "text": text}


@pytest.fixture
def source(service: Client) -> dict[str, Any]:
    """Three completed runs on Codex, each of four items."""
    thread = service.thread(title="source")["id"]
    runs = [
        service.whole_run(thread, f"ask {n}", f"end {n}", items=(says(f"first {n}"), says(f"second {n}")))
        for n in (1, 2, 3)
    ]
    return {"id": thread, "runs": runs, "texts": service.texts(thread)}


def point_of(run: dict[str, Any]) -> tuple[str, str, str]:
    return run["run"]["id"], run["nativeThreadId"], run["nativeTurnId"]


def refs(forked: dict[str, Any]) -> tuple[str, str, str]:
    point = forked["transfer"]["sourcePoint"]
    return point["runId"], point["providerThreadRef"], point["providerTurnRef"]


class TestPoints:
    def test_latest_stable_is_the_default(self, service: Client, source: dict[str, Any]) -> None:
        forked = service.fork(source["id"], title="a tangent")

        assert refs(forked) == point_of(source["runs"][2])
        assert forked["transfer"]["sourcePoint"]["checkpointId"] == source["runs"][2]["checkpoint"]["id"]
        assert service.texts(forked["thread"]["id"]) == source["texts"]
        assert all(item["inherited"] for item in service.visible(forked["thread"]["id"]))

    def test_the_new_thread_knows_its_place_and_has_no_provider_yet(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        forked = service.fork(source["id"], title="a tangent")

        fork = dict(forked["thread"])
        assert fork.pop("id").startswith("thr_")
        assert fork == {
            "title": "a tangent",
            "status": "ACTIVE",
            "depth": 1,
            "parentThreadId": source["id"],
            "relationshipToParent": "FORK",
            "rootThreadId": source["id"],
            "provider": None,
            "createdBy": "USER",
            "runCount": 0,
            "activeRunId": None,
        }
        transfer = forked["transfer"]
        assert (transfer["type"], transfer["status"], transfer["resolution"]) == ("FORK", "PENDING", None)
        assert (transfer["sourceProvider"], transfer["targetProvider"]) == ("codex", None)
        assert transfer["sourceThread"] == {"id": source["id"]}
        assert transfer["targetThread"] == {"id": forked["thread"]["id"]}

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_at_a_run(self, service: Client, source: dict[str, Any], number: int) -> None:
        run = source["runs"][number]

        forked = service.fork(source["id"], point={"runId": run["run"]["id"]})

        assert refs(forked) == point_of(run)
        assert service.texts(forked["thread"]["id"]) == source["texts"][: 4 * (number + 1)]

    def test_at_an_automatic_checkpoint(self, service: Client, source: dict[str, Any]) -> None:
        checkpoint = source["runs"][0]["checkpoint"]["id"]

        forked = service.fork(source["id"], point={"checkpointId": checkpoint})

        assert refs(forked) == point_of(source["runs"][0])
        assert forked["transfer"]["sourcePoint"]["checkpointId"] == checkpoint
        assert service.texts(forked["thread"]["id"]) == source["texts"][:4]

    def test_at_an_explicit_checkpoint(self, service: Client, source: dict[str, Any]) -> None:
        checkpoint = service.checkpoint(source["id"], "here", runId=source["runs"][1]["run"]["id"])["id"]

        forked = service.fork(source["id"], point={"checkpointId": checkpoint})

        assert refs(forked) == point_of(source["runs"][1])
        assert service.texts(forked["thread"]["id"]) == source["texts"][:8]

    @pytest.mark.parametrize("item", range(4, 8))
    def test_at_an_item_inclusive(self, service: Client, source: dict[str, Any], item: int) -> None:
        at = service.visible(source["id"])[item]["id"]

        forked = service.fork(source["id"], point={"turnItemId": at})

        assert forked["transfer"]["sourcePoint"]["turnItemId"] == at
        assert service.texts(forked["thread"]["id"]) == source["texts"][: item + 1]

    def test_a_run_in_the_middle_of_which_was_forked_starts_natively_at_the_turn_before_with_the_rest_told(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        at = service.visible(source["id"])[5]["id"]
        fork = service.fork(source["id"], point={"turnItemId": at})["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["outcome"] == "NATIVE"
        assert plan["nativeFork"]["lastTurnId"] == source["runs"][0]["nativeTurnId"]
        told = [text for text in source["texts"] if text in plan["injected"]]
        assert told == source["texts"][4:6]

    def test_the_last_item_of_a_run_is_the_whole_run(self, service: Client, source: dict[str, Any]) -> None:
        at = service.visible(source["id"])[7]["id"]
        fork = service.fork(source["id"], point={"turnItemId": at})["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["nativeFork"]["lastTurnId"] == source["runs"][1]["nativeTurnId"]
        assert plan["injected"] is None

    def test_the_very_first_item_leaves_nothing_to_fork_natively(self, service: Client, source: dict[str, Any]) -> None:
        at = service.visible(source["id"])[0]["id"]
        fork = service.fork(source["id"], point={"turnItemId": at})["thread"]["id"]

        plan = service.start(fork, "go on", "codex")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert [text for text in source["texts"] if text in plan["injected"]] == ["ask 1"]

    def test_a_summary_of_the_whole_run_does_not_cross_when_only_its_beginning_does(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        service.checkpoint(source["id"], "the end", runId=source["runs"][1]["run"]["id"], summary="what came of it all")
        middle, last = (service.visible(source["id"])[place]["id"] for place in (5, 7))

        for at, crosses in ((middle, False), (last, True)):
            fork = service.fork(source["id"], point={"turnItemId": at})["thread"]["id"]
            told = service.start(fork, "go on", "claude")["plan"]["injected"]
            assert ("what came of it all" in told) is crosses

    def test_what_lies_behind_the_cut_takes_no_room_from_what_lies_before_it(self, service: Client) -> None:
        """The rest of the run would fill the whole budget; the history up to the cut is told in full."""
        thread = service.thread()["id"]
        for number in range(4):
            service.whole_run(thread, f"ask {number}", f"answer {number}")
        run = service.running(thread, "ask last")["run"]["id"]
        kept, _ = service.append(run, says("kept"), says("word " * 40_000))
        service.complete(run)
        fork = service.fork(thread, point={"turnItemId": kept["id"]})["thread"]["id"]

        (handoff,) = service.start(fork, "go on", "claude")["plan"]["handoffs"]

        assert [text for text in service.texts(fork) if text not in handoff["text"]] == []
        assert [entry for entry in handoff["payload"]["leftOut"] if entry["reason"] == "budget"] == []

    def test_later_runs_of_the_source_do_not_show_in_the_fork(self, service: Client, source: dict[str, Any]) -> None:
        fork = service.fork(source["id"])["thread"]["id"]

        service.whole_run(source["id"], "ask 4")

        assert service.texts(fork) == source["texts"]


class TestForksOfForks:
    def test_a_fork_of_a_fork_has_both_histories(self, service: Client, source: dict[str, Any]) -> None:
        fork = service.fork(source["id"], point={"runId": source["runs"][1]["run"]["id"]})["thread"]["id"]
        own = service.whole_run(fork, "own", "own end")

        forked = service.fork(fork)

        assert refs(forked) == point_of(own)
        assert forked["thread"]["depth"] == 2
        assert forked["thread"]["parentThreadId"] == fork
        assert forked["thread"]["rootThreadId"] == source["id"]
        assert service.texts(forked["thread"]["id"]) == [*source["texts"][:8], "own", "own end"]

    def test_a_fork_of_an_unused_fork_to_depth_five(self, service: Client, source: dict[str, Any]) -> None:
        thread = source["id"]
        for depth in range(1, 6):
            forked = service.fork(thread)

            assert forked["thread"]["depth"] == depth
            assert forked["thread"]["parentThreadId"] == thread
            assert forked["transfer"]["sourceThread"]["id"] == thread
            assert forked["transfer"]["sourcePoint"]["threadId"] == source["id"]
            assert refs(forked) == point_of(source["runs"][2])
            thread = forked["thread"]["id"]
            assert service.texts(thread) == source["texts"]

        first = service.running(thread, "at last", "codex")
        assert first["plan"]["outcome"] == "NATIVE"
        assert first["plan"]["nativeFork"]["lastTurnId"] == source["runs"][2]["nativeTurnId"]
        assert first["plan"]["injected"] is None
        assert service.texts(thread) == [*source["texts"], "at last"]

    def test_an_unused_fork_in_the_middle_of_a_run_is_forked_at_that_same_item(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        at = service.visible(source["id"])[5]["id"]
        fork = service.fork(source["id"], point={"turnItemId": at})["thread"]["id"]

        below = service.fork(fork)

        assert below["transfer"]["sourcePoint"]["turnItemId"] == at
        assert service.texts(below["thread"]["id"]) == source["texts"][:6]

    def test_23_a_turn_inherited_from_the_grandparent_leads_to_the_grandparents_native_turn(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        """Situation 23: no id made here ever reaches a provider as a native one."""
        child = service.fork(source["id"])["thread"]["id"]
        service.whole_run(child, "child", "child end")
        grandchild = service.fork(child)["thread"]["id"]
        service.whole_run(grandchild, "grandchild", "grandchild end")
        inherited = source["runs"][0]

        forked = service.fork(grandchild, point={"runId": inherited["run"]["id"]})
        plan = service.start(forked["thread"]["id"], "go", "codex")["plan"]

        assert refs(forked) == point_of(inherited)
        assert forked["transfer"]["sourcePoint"]["threadId"] == source["id"]
        assert forked["thread"]["parentThreadId"] == grandchild
        assert service.texts(forked["thread"]["id"]) == source["texts"][:4]
        assert plan["nativeFork"] == {
            "nativeThreadId": inherited["nativeThreadId"],
            "lastTurnId": inherited["nativeTurnId"],
            "laterTerminalTurns": 2,
            "runId": inherited["run"]["id"],
        }
        assert plan["injected"] is None

    @pytest.mark.parametrize("named", ["run", "checkpoint", "turnItem"])
    def test_every_kind_of_inherited_point_belongs_to_the_ancestor_that_owns_it(
        self, service: Client, source: dict[str, Any], named: str
    ) -> None:
        child = service.fork(source["id"])["thread"]["id"]
        run = source["runs"][1]
        point = {
            "run": run["run"]["id"],
            "checkpoint": run["checkpoint"]["id"],
            "turnItem": service.visible(child)[6]["id"],
        }

        forked = service.fork(child, point={f"{named}Id": point[named]})

        assert refs(forked) == point_of(run)
        assert forked["transfer"]["sourcePoint"]["threadId"] == source["id"]
        assert service.texts(forked["thread"]["id"]) == source["texts"][: 7 if named == "turnItem" else 8]


def code_of(service: Client, thread: str, **point: str) -> str:
    with pytest.raises(Refusal) as refused:
        service.fork(thread, **({"point": point} if point else {}))
    assert len(refused.value.message) > 20
    assert refused.value.retryable is False
    return refused.value.code


class TestRefusals:
    def test_an_empty_root_has_no_stable_point(self, service: Client) -> None:
        assert code_of(service, service.thread()["id"]) == "NO_STABLE_POINT"

    def test_a_root_whose_runs_all_failed_has_none_either(self, service: Client) -> None:
        thread = service.thread()["id"]
        service.end("failRun", service.running(thread, "ask")["run"]["id"])

        assert code_of(service, thread) == "NO_STABLE_POINT"

    @pytest.mark.parametrize("accepted", [False, True])
    def test_an_active_run(self, service: Client, accepted: bool) -> None:
        thread = service.thread()["id"]
        run = service.start(thread, "ask")["run"]["id"]
        if accepted:
            service.started(run)

        assert code_of(service, thread, runId=run) == "RUN_ACTIVE"

    @pytest.mark.parametrize("how", ["failRun", "interruptRun"])
    def test_a_run_that_did_not_complete_until_it_has_an_explicit_checkpoint(self, service: Client, how: str) -> None:
        thread = service.thread()["id"]
        service.whole_run(thread, "ask 1", "answer 1")
        run = service.running(thread, "ask 2")["run"]["id"]
        (item,) = service.append(run, says("as far as it got"))
        service.end(how, run)
        assert code_of(service, thread, runId=run) == "RUN_NOT_STABLE"
        assert code_of(service, thread, turnItemId=item["id"]) == "RUN_NOT_STABLE"

        checkpoint = service.checkpoint(thread, "as it is", runId=run)["id"]

        for point in ({"runId": run}, {"checkpointId": checkpoint}, {"turnItemId": item["id"]}):
            fork = service.fork(thread, point=point)["thread"]["id"]
            assert service.texts(fork) == ["ask 1", "answer 1", "ask 2", "as far as it got"]

    def test_latest_stable_stays_the_latest_completed_run(self, service: Client) -> None:
        """A run that failed and has a checkpoint may be named; it does not become the default."""
        thread = service.thread()["id"]
        completed = service.whole_run(thread, "ask 1")["run"]["id"]
        failed = service.running(thread, "ask 2")["run"]["id"]
        service.end("failRun", failed)
        service.checkpoint(thread, "as it is", runId=failed)

        assert service.fork(thread)["transfer"]["sourcePoint"]["runId"] == completed

    def test_a_run_that_never_reached_a_provider(self, service: Client) -> None:
        thread = service.thread()["id"]
        service.whole_run(thread, "ask 1")
        run = service.start(thread, "ask 2")["run"]["id"]
        service.end("failRun", run)

        assert code_of(service, thread, runId=run) == "RUN_NOT_STABLE"
        with pytest.raises(Refusal) as refused:
            service.checkpoint(thread, "no", runId=run)
        assert refused.value.code == "RUN_NOT_STARTED"

    def test_an_item_that_never_finished(self, service: Client) -> None:
        thread = service.thread()["id"]
        run = service.running(thread, "ask")["run"]["id"]
        done, half = service.append(run, says("done"), says("half") | {"streaming": True})
        service.end("interruptRun", run)
        service.checkpoint(thread, "as it is")

        assert code_of(service, thread, turnItemId=half["id"]) == "RUN_NOT_STABLE"
        assert service.texts(service.fork(thread, point={"turnItemId": done["id"]})["thread"]["id"]) == ["ask", "done"]

    def test_a_run_of_another_thread(self, service: Client, source: dict[str, Any]) -> None:
        other = service.thread()["id"]
        service.whole_run(other, "ask")

        assert code_of(service, other, runId=source["runs"][0]["run"]["id"]) == "INVALID_INPUT"
        assert code_of(service, other, checkpointId=source["runs"][0]["checkpoint"]["id"]) == "INVALID_INPUT"
        assert code_of(service, other, turnItemId=service.visible(source["id"])[0]["id"]) == "INVALID_INPUT"

    def test_what_the_parent_did_after_the_fork_and_what_the_fork_did_itself(
        self, service: Client, source: dict[str, Any]
    ) -> None:
        fork = service.fork(source["id"], point={"runId": source["runs"][0]["run"]["id"]})["thread"]["id"]
        own = service.whole_run(fork, "own")["run"]["id"]

        assert code_of(service, fork, runId=source["runs"][1]["run"]["id"]) == "INVALID_INPUT"
        assert code_of(service, source["id"], runId=own) == "INVALID_INPUT"

    def test_the_rest_of_a_run_that_was_cut(self, service: Client, source: dict[str, Any]) -> None:
        items = [item["id"] for item in service.visible(source["id"])]
        fork = service.fork(source["id"], point={"turnItemId": items[5]})["thread"]["id"]

        assert code_of(service, fork, turnItemId=items[6]) == "INVALID_INPUT"
        assert code_of(service, fork, runId=source["runs"][1]["run"]["id"]) == "INVALID_INPUT"
        assert service.fork(fork, point={"turnItemId": items[4]})["thread"]["depth"] == 2

    def test_two_points_at_once(self, service: Client, source: dict[str, Any]) -> None:
        run, checkpoint = source["runs"][0]["run"]["id"], source["runs"][0]["checkpoint"]["id"]

        assert code_of(service, source["id"], runId=run, checkpointId=checkpoint) == "INVALID_INPUT"

    def test_points_of_nothing(self, service: Client, source: dict[str, Any]) -> None:
        missing = "00000000-0000-7000-8000-000000000000"

        assert code_of(service, source["id"], runId=f"run_{missing}") == "NOT_FOUND"
        assert code_of(service, source["id"], checkpointId=f"cpt_{missing}") == "NOT_FOUND"
        assert code_of(service, source["id"], turnItemId=f"itm_{missing}") == "NOT_FOUND"
        assert code_of(service, f"thr_{missing}") == "NOT_FOUND"

    def test_a_refused_fork_writes_nothing_and_its_name_may_be_used_again(self, service: Client) -> None:
        thread, name = service.thread()["id"], key()
        with pytest.raises(Refusal) as refused:
            service.fork(thread, clientMutationId=name)
        assert refused.value.code == "NO_STABLE_POINT"

        service.whole_run(thread, "ask")

        assert service.fork(thread, clientMutationId=name)["thread"]["parentThreadId"] == thread
