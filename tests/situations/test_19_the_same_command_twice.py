"""19. The same command arrived twice (a lost reply, two tabs, a reconnect) and made two forks, two runs.

Here `clientMutationId` names a command: it is done once. Without it, two starts at once still make one run.
"""

from __future__ import annotations

from tests.support.client import Client, key
from tests.support.graph import Graph
from tests.support.together import answers, refusals, together


def test_a_fork_sent_again_is_the_first_fork(service: Client, graph: Graph) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "one")
    name = key()
    first = service.fork(source, clientMutationId=name, title="mine")

    with graph.growth() as written:
        again = [service.fork(source, clientMutationId=name, title="mine") for _ in range(3)]

    assert again == [first] * 3
    assert written == {}


def test_a_fork_sent_by_two_tabs_at_once_is_one_fork(service: Client, graph: Graph) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "one")
    for _ in range(5):
        name = key()
        with graph.growth() as written:
            made = together(8, lambda _, name=name: service.fork(source, clientMutationId=name))
        assert len({fork["thread"]["id"] for fork in answers(made)}) == 1
        assert (len(made), written["Thread"], written["-FORK->"]) == (8, 1, 1)


def test_a_start_sent_again_after_a_lost_reply_is_the_first_run(service: Client) -> None:
    thread = service.thread()["id"]
    name = key()
    first = service.start(thread, "hello", clientMutationId=name)

    assert service.start(thread, "hello", clientMutationId=name) == first

    service.started(first["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="t1")
    service.complete(first["run"]["id"])
    assert service.start(thread, "hello", clientMutationId=name) == first
    assert service.get_thread(thread)["runCount"] == 1


def test_two_starts_at_once_without_a_name_make_one_run(service: Client, graph: Graph) -> None:
    for _ in range(5):
        thread = service.thread()["id"]
        made = together(2, lambda number, thread=thread: service.start(thread, f"from tab {number}"))

        (won,) = answers(made)
        assert [refusal.code for refusal in refusals(made)] == ["THREAD_BUSY"]
        assert graph.values("MATCH (:Thread {id: $id})-[:HAS_RUN]->(r) RETURN r.id", id=thread) == [won["run"]["id"]]


def test_a_busy_thread_says_by_which_run_and_may_be_asked_again(service: Client) -> None:
    thread = service.thread()["id"]
    run = service.start(thread, "first")["run"]["id"]

    (refused,) = refusals(together(1, lambda _: service.start(thread, "second")))

    assert (refused.code, refused.retryable) == ("THREAD_BUSY", True)
    assert run in refused.message
    service.end("interruptRun", run)
    assert service.start(thread, "second")["run"]["status"] == "STARTING"
