"""Going back: the head of a thread moves to an earlier run. Nothing is deleted, and no one else loses anything."""

from __future__ import annotations

import pytest

from tests.support.client import Client, Refusal
from tests.support.graph import Graph


def talk(service: Client, *providers: str) -> tuple[str, list[str]]:
    """A thread with one completed run on each provider, and the runs."""
    thread = service.thread(title="A talk")["id"]
    runs = [
        service.whole_run(thread, f"ask {number}", f"answer {number}", provider)["run"]["id"]
        for number, provider in enumerate(providers, 1)
    ]
    return thread, runs


def told(number: int) -> list[str]:
    return [f"ask {number}", f"answer {number}"]


def statuses(service: Client, thread: str) -> list[str]:
    return [
        run["status"] for run in service.get_thread(thread, "runs(first: 50) { nodes { status } }")["runs"]["nodes"]
    ]


class TestTheHistory:
    def test_later_runs_leave_it_and_stay_on_record(self, service: Client, graph: Graph) -> None:
        thread, runs = talk(service, "codex", "codex", "codex")

        answer = service.roll_back(thread, runs[0])

        assert answer["rolledBackRuns"] == 2
        assert service.texts(thread) == told(1)
        assert statuses(service, thread) == ["COMPLETED", "ROLLED_BACK", "ROLLED_BACK"]
        assert [item["text"] for item in service.items(runs[2])] == told(3)
        assert service.get_thread(thread, "latestStablePoint { runId }")["latestStablePoint"]["runId"] == runs[0]
        assert graph.values("MATCH (r:Run {id: $id}) RETURN r.endedAs", id=runs[2]) == ["completed"]

    def test_the_next_run_goes_on_from_the_run_that_stayed(self, service: Client, graph: Graph) -> None:
        thread, runs = talk(service, "codex", "codex", "codex")
        service.roll_back(thread, runs[0])

        new = service.whole_run(thread, "ask 4", "answer 4")["run"]["id"]

        assert service.texts(thread) == told(1) + told(4)
        assert graph.values("MATCH (a:Run)-[:NEXT_RUN]->(b:Run {id: $id}) RETURN a.id", id=new) == [runs[0]]

    def test_back_again_to_an_earlier_run_and_on(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex", "codex")
        service.roll_back(thread, runs[1])
        service.whole_run(thread, "ask 4", "answer 4")

        service.roll_back(thread, runs[0])
        service.whole_run(thread, "ask 5", "answer 5")
        service.whole_run(thread, "ask 6", "answer 6")

        assert service.texts(thread) == told(1) + told(5) + told(6)

    def test_pages_of_it_meet_across_the_joint(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex", "codex")
        service.roll_back(thread, runs[0])
        service.whole_run(thread, "ask 4", "answer 4")
        document = """query ($id: ID!, $before: String) { thread(id: $id) { visibleItems(last: 1, before: $before) {
          totalCount nodes { text } pageInfo { hasPreviousPage startCursor }
        } } }"""

        found: list[str] = []
        before, more = None, True
        while more:
            page = service.execute(document, id=thread, before=before)["thread"]["visibleItems"]
            assert page["totalCount"] == 4
            found = [item["text"] for item in page["nodes"]] + found
            before, more = page["pageInfo"]["startCursor"], page["pageInfo"]["hasPreviousPage"]

        assert found == told(1) + told(4)

    def test_a_fork_goes_back_to_the_point_it_was_forked_from(self, service: Client) -> None:
        thread, runs = talk(service, "codex")
        fork = service.fork(thread)["thread"]["id"]
        service.whole_run(fork, "ask 2", "answer 2")

        service.roll_back(fork, runs[0])

        assert service.texts(fork) == told(1)
        assert service.get_thread(fork, "provider latestStablePoint { runId threadId }") == {
            "provider": None,
            "latestStablePoint": {"runId": runs[0], "threadId": thread},
        }


class TestWhoSawIt:
    def test_a_provider_that_saw_the_later_runs_is_forked_at_the_run_that_stayed(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        first = service.get_run(runs[0])

        service.roll_back(thread, runs[0])
        started = service.start(thread, "ask 3", "codex")

        assert service.provider_threads(thread)[0]["status"] == "DIVERGENT"
        plan = started["plan"]
        assert plan["outcome"] == "NATIVE"
        assert plan["nativeFork"]["lastTurnId"] == first["nativeTurnId"]
        assert plan["injected"] is None
        assert [transfer["type"] for transfer in plan["transfers"]] == ["PROVIDER_HANDOFF"]
        assert service.transfer(plan["transfers"][0]["id"])["createdBy"] == "SYSTEM"

    def test_a_provider_that_did_not_see_them_goes_on(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "claude")

        service.roll_back(thread, runs[0])
        plan = service.start(thread, "ask 3", "codex")["plan"]

        assert (plan["outcome"], plan["injected"]) == ("NONE", None)

    def test_a_provider_that_cannot_fork_is_told_the_history_and_no_more(self, service: Client) -> None:
        thread, runs = talk(service, "acp", "acp")

        service.roll_back(thread, runs[0])
        plan = service.start(thread, "ask 3", "acp")["plan"]

        assert plan["outcome"] == "PORTABLE"
        assert "ask 1" in plan["injected"]
        assert "ask 2" not in plan["injected"]


class TestForks:
    def test_a_fork_of_a_run_that_was_rolled_back_keeps_it(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        fork = service.fork(thread)

        service.roll_back(thread, runs[0])

        assert service.texts(fork["thread"]["id"]) == told(1) + told(2)
        assert service.transfer(fork["transfer"]["id"])["status"] == "PENDING"
        native = service.start(fork["thread"]["id"], "ask 3", "codex")["plan"]
        assert native["nativeFork"]["lastTurnId"] == service.get_run(runs[1])["nativeTurnId"]

    def test_and_tells_it_to_another_provider_as_it_ended(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        fork = service.fork(thread)["thread"]["id"]

        service.roll_back(thread, runs[0])
        plan = service.start(fork, "ask 3", "claude")["plan"]

        assert "answer 2" in plan["injected"]
        assert "rolled" not in plan["injected"]

    def test_and_can_be_forked_there_while_the_thread_cannot(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        fork = service.fork(thread)["thread"]["id"]
        service.roll_back(thread, runs[0])

        again = service.fork(fork, point={"runId": runs[1]})

        assert service.texts(again["thread"]["id"]) == told(1) + told(2)
        with pytest.raises(Refusal) as refused:
            service.fork(thread, point={"runId": runs[1]})
        assert refused.value.code == "RUN_ROLLED_BACK"

    def test_a_fork_is_taken_at_the_latest_run_that_stayed(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        service.roll_back(thread, runs[0])

        assert service.fork(thread)["transfer"]["sourcePoint"]["runId"] == runs[0]


class TestTransfers:
    def test_what_a_rolled_back_run_had_consumed_waits_anew_from_the_same_point(self, service: Client) -> None:
        thread, _ = talk(service, "codex")
        fork = service.fork(thread)
        target = fork["thread"]["id"]
        service.whole_run(target, "ask 2", "answer 2", "claude")

        service.roll_back(target, fork["transfer"]["sourcePoint"]["runId"])

        consumed, anew = sorted(service.transfers(target), key=lambda transfer: transfer["status"])
        assert (consumed["id"], consumed["status"]) == (fork["transfer"]["id"], "CONSUMED")
        assert (anew["status"], anew["type"]) == ("PENDING", "FORK")
        assert anew["sourcePoint"]["runId"] == consumed["sourcePoint"]["runId"]
        plan = service.start(target, "ask 3", "claude")["plan"]
        assert [transfer["id"] for transfer in plan["transfers"]] == [anew["id"]]
        assert "answer 1" in plan["injected"]
        assert "answer 2" not in plan["injected"]

    def test_a_transfer_from_a_run_that_was_rolled_back_is_superseded(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        plan = service.start(thread, "ask 3", "claude")
        service.end("interruptRun", plan["run"]["id"])
        waiting = plan["plan"]["transfers"][0]["id"]

        service.roll_back(thread, runs[0])

        assert service.transfer(waiting)["status"] == "SUPERSEDED"


class TestRefusals:
    def refusal(self, service: Client, thread: str, **point: str) -> Refusal:
        with pytest.raises(Refusal) as refused:
            service.mutate("rollbackThread", "thread { id }", threadId=thread, **point)
        return refused.value

    def test_a_busy_thread(self, service: Client) -> None:
        thread, runs = talk(service, "codex")
        service.running(thread, "ask 2")

        refused = self.refusal(service, thread, toRunId=runs[0])

        assert (refused.code, refused.retryable) == ("THREAD_BUSY", True)

    @pytest.mark.parametrize("points", [{}, {"toRunId": "run", "toCheckpointId": "checkpoint"}], ids=["none", "both"])
    def test_no_point_and_two_points(self, service: Client, points: dict[str, str]) -> None:
        thread, runs = talk(service, "codex")
        checkpoint = service.checkpoint(thread)["id"]
        given = {name: {"run": runs[0], "checkpoint": checkpoint}[value] for name, value in points.items()}

        assert self.refusal(service, thread, **given).code == "INVALID_INPUT"

    def test_runs_that_are_no_place_to_go_back_to(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")
        other, others = talk(service, "codex")
        service.roll_back(thread, runs[0])
        unstarted = service.start(thread, "ask 3")["run"]["id"]
        service.end("interruptRun", unstarted)

        codes = {
            "of another thread": self.refusal(service, thread, toRunId=others[0]).code,
            "rolled back": self.refusal(service, thread, toRunId=runs[1]).code,
            "never started": self.refusal(service, thread, toRunId=unstarted).code,
            "unknown": self.refusal(service, other, toRunId=runs[0][:-4] + "0000").code,
        }

        assert codes == {
            "of another thread": "INVALID_INPUT",
            "rolled back": "RUN_ROLLED_BACK",
            "never started": "RUN_NOT_STARTED",
            "unknown": "NOT_FOUND",
        }

    def test_to_the_latest_run_changes_nothing(self, service: Client) -> None:
        thread, runs = talk(service, "codex", "codex")

        assert service.roll_back(thread, runs[1])["rolledBackRuns"] == 0
        assert service.texts(thread) == told(1) + told(2)
        assert service.start(thread, "ask 3")["plan"]["outcome"] == "NONE"

    def test_a_report_from_a_run_that_was_rolled_back_is_kept_for_audit(self, service: Client, graph: Graph) -> None:
        thread, runs = talk(service, "codex", "codex")
        service.roll_back(thread, runs[0])

        with pytest.raises(Refusal) as refused:
            service.append(runs[1], {"kind": "ASSISTANT_MESSAGE", "text": "late"})

        assert refused.value.code == "RUN_NOT_ACTIVE"
        assert graph.events(thread)[-1]["type"] == "report.late"
