"""Commands of one tree take its locks in one order: they wait for each other, and no deadlock makes one start over."""

from __future__ import annotations

from tests.crash.bench import Bench
from tests.support.together import refusals, together


def test_forks_of_a_root_and_of_its_fork_at_once_meet_no_deadlock(bench: Bench) -> None:
    root = bench.client.thread()["id"]
    bench.client.whole_run(root, "Find the bug")
    child = bench.client.fork(root)["thread"]["id"]
    before = bench.process.output.count("DeadlockDetected")

    def work(number: int) -> None:
        for _ in range(40):
            bench.client.fork(child if number % 2 else root)

    assert not refusals(together(6, work))

    assert bench.process.output.count("DeadlockDetected") == before


def test_runs_in_forks_and_forks_of_their_root_at_once_meet_no_deadlock(bench: Bench) -> None:
    root = bench.client.thread()["id"]
    bench.client.whole_run(root, "Find the bug")
    before = bench.process.output.count("DeadlockDetected")

    def work(number: int) -> None:
        for _ in range(10):
            fork = bench.client.fork(root)["thread"]["id"]
            if number % 2:
                bench.client.whole_run(fork, "Mend it", provider="claude")

    assert not refusals(together(6, work))

    assert bench.process.output.count("DeadlockDetected") == before
