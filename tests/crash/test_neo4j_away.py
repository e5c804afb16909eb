"""Neo4j goes away under the service: everybody is told so, nobody waits for ever, and all is well when it is back.

No time is asserted: a call that hung would run into the test client's limit of 60 s.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from plait.localdb import Endpoint, LocalNeo4j
from tests.conftest import StartPlait
from tests.crash.attempts import Attempt, Undisturbed, prepare
from tests.crash.bench import Bench
from tests.support.bolt_proxy import BoltProxy
from tests.support.client import Client, Refusal, key
from tests.support.commands import CASES
from tests.support.graph import Graph
from tests.support.neo4j import wipe
from tests.support.queries import Query, every_query
from tests.support.together import together
from tests.support.trees import consecutive

WITHOUT_STORE = {"providers"}
"""Queries that are answered from what the process itself knows."""

QUICK = {"PLAIT_NEO4J_RETRY_SECONDS": "1"}
IMPATIENT = QUICK | {"PLAIT_NEO4J_TRANSACTION_TIMEOUT_SECONDS": "5"}

WRITERS = 3
FORKS_BEFORE_THE_KILL = 8
FORKS_AFTER_THE_KILL = 5


@dataclass
class Everything:
    """Every query there is, every command there is, and what each command must come to."""

    queries: list[Query]
    attempts: list[Attempt]
    right: dict[str, Undisturbed]

    def send(self, client: Client) -> tuple[list[Any], list[Any]]:
        """What each query and each command is answered, or the refusal it meets; all are sent at once."""
        calls: list[Callable[[], Any]] = [
            *(lambda query=query: query.send(client) for query in self.queries),
            *(lambda attempt=attempt: attempt.send(client) for attempt in self.attempts),
        ]
        met = together(len(calls), lambda number: calls[number]())
        return met[: len(self.queries)], met[len(self.queries) :]


@pytest.fixture
def everything(bench: Bench, right: dict[str, Undisturbed]) -> Everything:
    return Everything(every_query(bench.client), prepare(bench, CASES), right)


def test_while_neo4j_refuses_everybody_is_told_so_and_all_works_when_it_is_back(
    bench: Bench, everything: Everything
) -> None:
    bench.proxy.refuse()

    assert_told(everything, bench.client)
    assert health(bench.client) == (503, 200)

    bench.proxy.let_in()
    assert_works(bench, everything)
    assert health(bench.client) == (200, 200)
    assert "Traceback" not in bench.process.output


def test_while_neo4j_is_silent_everybody_is_told_so_and_all_works_when_it_speaks_again(
    bench: Bench, everything: Everything, plait_process: StartPlait
) -> None:
    process = plait_process(bench.proxy.endpoint, env=IMPATIENT)
    with closing(Client(process.url)) as client:
        # So that there are connections that fall silent while they are in use.
        together(len(everything.queries), lambda number: everything.queries[number].send(client))
        bench.proxy.fall_silent()

        assert_told(everything, client)
        assert health(client) == (503, 200)

        bench.proxy.speak()
        assert health(client) == (200, 200)
    assert_works(bench, everything)
    assert "Traceback" not in process.output


def assert_told(everything: Everything, client: Client) -> None:
    """Every query and every mutation says that the store is away, and that it may be tried again."""
    queries, commands = everything.send(client)
    for query, met in zip(everything.queries, queries, strict=True):
        if query.name not in WITHOUT_STORE:
            assert_unavailable(met, query.name)
    for attempt, met in zip(everything.attempts, commands, strict=True):
        assert_unavailable(met, attempt.case.name)


def assert_unavailable(met: Any, name: str) -> None:
    assert isinstance(met, Refusal), name
    assert (met.code, met.retryable) == ("STORAGE_UNAVAILABLE", True), name


def assert_works(bench: Bench, everything: Everything) -> None:
    """Every query is answered, and every command, sent again, comes to what it must."""
    queries, commands = everything.send(bench.client)
    assert not [met for met in queries if isinstance(met, Refusal)]
    forest = bench.forest()
    for attempt, answer in zip(everything.attempts, commands, strict=True):
        right = everything.right[attempt.case.name]
        assert attempt.plain(forest, answer) == right.answer, attempt.case
        assert attempt.lines(forest) == right.after, attempt.case


def health(client: Client) -> tuple[int, int]:
    """How `/health/ready` and `/health/live` are answered."""
    ready, live = (httpx.get(f"{client.url}/health/{what}", timeout=60) for what in ("ready", "live"))
    return ready.status_code, live.status_code


def test_a_service_started_while_neo4j_is_away_is_ready_when_it_comes(
    plait_process: StartPlait, neo4j_endpoint: Endpoint
) -> None:
    with BoltProxy(neo4j_endpoint) as proxy:
        proxy.refuse()
        service = plait_process(proxy.endpoint, ready=False, env=QUICK)
        url = service.wait_answering()
        client = Client(url)

        assert health(client) == (503, 200)
        with pytest.raises(Refusal) as refused:
            client.thread(title="Too early")
        assert (refused.value.code, refused.value.retryable) == ("STORAGE_UNAVAILABLE", True)
        assert "Plait waits for Neo4j" in service.output
        assert "Plait is ready" not in service.output

        proxy.let_in()
        service.wait_ready()

        assert "Plait is ready" in service.output
        assert client.thread(title="In time")["title"] == "In time"
        client.close()
        assert service.terminate() == 0
        assert "Traceback" not in service.output


def test_a_killed_neo4j_loses_nothing_that_was_confirmed_and_doubles_nothing(
    plait_process: StartPlait, own_neo4j: LocalNeo4j
) -> None:
    """Clients that try again, with the same `clientMutationId`, until they are answered."""
    wipe(own_neo4j.endpoint, schema=True)
    service = plait_process(own_neo4j.endpoint, env=QUICK)
    clients = [Client(service.url) for _ in range(WRITERS)]
    root = clients[0].thread(title="Root")["id"]
    clients[0].whole_run(root, "Find the bug", native=(f"native-{key()}", f"turn-{key()}"))
    killed = threading.Event()
    seen_away: set[str] = set()

    def write(number: int) -> dict[str, str]:
        """Forks, by the key of each: some before the kill and some after it."""
        made: dict[str, str] = {}
        after = 0
        while after < FORKS_AFTER_THE_KILL:
            name = key()
            made[name] = insist(lambda name=name: clients[number].fork(root, clientMutationId=name), seen_away)
            after += killed.is_set()
            if number == 0 and len(made) == FORKS_BEFORE_THE_KILL:
                assert own_neo4j.pid is not None
                os.kill(own_neo4j.pid, signal.SIGKILL)
                killed.set()
        return made

    writers = together(WRITERS, write)

    made = {name: fork for writer in writers for name, fork in writer.items()}
    assert seen_away == {"STORAGE_UNAVAILABLE"}
    with closing(Graph(own_neo4j.endpoint)) as graph:
        forks = graph.values("MATCH (:Thread {id: $root})-[:FORK]->(fork) RETURN fork.id", root=root)
        numbers = graph.values("MATCH (e:Event {rootThreadId: $root}) RETURN e.seq", root=root)
    assert sorted(forks) == sorted(made.values())
    assert consecutive(numbers)
    assert {name: clients[0].fork(root, clientMutationId=name)["thread"]["id"] for name in made} == made
    for client in clients:
        client.close()
    assert "Traceback" not in service.output


def insist(call: Callable[[], dict[str, Any]], seen: set[str]) -> str:
    """The id of the thread that `call` makes, asked until it is told; `seen` gets the codes of refusals on the way."""
    while True:
        try:
            return call()["thread"]["id"]
        except Refusal as refusal:
            if not refusal.retryable:
                raise
            seen.add(refusal.code)
