"""A run whose executor has fallen silent is interrupted by itself, and only such a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from plait.commands import contracts as c
from plait.commands.all import Commands
from plait.commands.execution import Toolbox
from plait.commands.leases import interrupt_silent_runs
from plait.domain.model import Executor, RunStatus
from plait.domain.subagents import SubagentLimits
from plait.graph.database import Database
from plait.localdb import Endpoint
from plait.providers.registry import registry
from plait.settings import Settings
from plait.wiring import open_database
from tests.conftest import StartPlait
from tests.support.client import Client, Refusal
from tests.support.graph import Graph

SHORT = {"PLAIT_LEASE_SECONDS": "3", "PLAIT_LEASE_SWEEP_SECONDS": "0.1"}
PATIENCE_SECONDS = 60


@pytest.fixture
def impatient(service: Client, neo4j_endpoint: Endpoint, plait_process: StartPlait) -> Iterator[Client]:
    """A service whose runs must be heard of every three seconds. The shared one, on the same graph, sweeps as well."""
    with closing(Client(plait_process(neo4j_endpoint, env=SHORT).wait_ready())) as client:
        yield client


def ended(service: Client, run: str) -> dict[str, object]:
    """The run, once it is no longer active."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        found = service.get_run(run, "status reason startedAt endedAt leaseUntil")
        if found["status"] not in ("STARTING", "RUNNING"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"run {run} is still active")


class TestASilentRun:
    def test_is_interrupted_and_says_why_and_its_thread_is_free(self, impatient: Client, graph: Graph) -> None:
        thread = impatient.thread()["id"]
        run = impatient.running(thread, "Find the bug")["run"]["id"]

        found = ended(impatient, run)

        assert found["status"] == "INTERRUPTED"
        assert found["leaseUntil"] is None
        assert "lease ran out" in str(found["reason"])
        assert impatient.get_thread(thread)["activeRunId"] is None
        assert impatient.texts(thread) == ["Find the bug"]
        assert [event["type"] for event in graph.events(thread)][-1] == "run.interrupted"

    def test_is_no_stable_point_and_the_next_run_goes_on_after_it(self, impatient: Client, service: Client) -> None:
        thread = impatient.thread()["id"]
        ended(impatient, impatient.running(thread, "Find the bug")["run"]["id"])

        service.whole_run(thread, "Go on", "Found it")

        assert service.texts(thread) == ["Find the bug", "Go on", "Found it"]

    def test_is_told_so_when_it_speaks_again_and_what_it_says_is_kept(self, impatient: Client, graph: Graph) -> None:
        thread = impatient.thread()["id"]
        run = impatient.running(thread, "Find the bug")["run"]["id"]
        ended(impatient, run)

        with pytest.raises(Refusal) as refused:
            impatient.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "I was busy"})

        assert refused.value.code == "RUN_NOT_ACTIVE"
        assert "its lease ran out" in refused.value.message
        assert "Start a new run" in refused.value.message
        late = graph.events(thread)[-1]
        assert late["type"] == "report.late"
        assert "I was busy" in late["data"]
        assert impatient.texts(thread) == ["Find the bug"]

    def test_that_no_provider_accepted_leaves_its_context_for_the_next_start(
        self, impatient: Client, service: Client
    ) -> None:
        source = service.thread()["id"]
        service.whole_run(source, "Find the bug")
        fork = service.fork(source)
        thread, transfer = fork["thread"]["id"], fork["transfer"]["id"]
        started = impatient.start(thread, "Mend it", "claude")

        assert ended(impatient, started["run"]["id"])["startedAt"] is None

        again = service.start(thread, "Mend it", "claude")["plan"]
        assert [entry["id"] for entry in again["transfers"]] == [transfer]
        assert [entry["id"] for entry in again["handoffs"]] == [entry["id"] for entry in started["plan"]["handoffs"]]


def test_a_run_that_is_heard_of_goes_on(neo4j_endpoint: Endpoint, plait_process: StartPlait) -> None:
    patient = SHORT | {"PLAIT_LEASE_SECONDS": "8"}
    with closing(Client(plait_process(neo4j_endpoint, env=patient).wait_ready())) as client:
        run = client.running(client.thread()["id"], "Find the bug")["run"]["id"]
        until = time.monotonic() + 10

        while time.monotonic() < until:
            client.end("heartbeatRun", run)
            time.sleep(0.5)

        assert client.get_run(run)["status"] == "RUNNING"
        assert client.complete(run)["run"]["status"] == "COMPLETED"


@pytest.fixture
async def database(service: Client, neo4j_endpoint: Endpoint) -> AsyncIterator[Database]:
    opened = open_database(
        Settings(
            neo4j_uri=neo4j_endpoint.uri,
            neo4j_user=neo4j_endpoint.user,
            neo4j_password=neo4j_endpoint.password,
            neo4j_database=neo4j_endpoint.database,
        )
    )
    opened.open()
    yield opened
    await opened.close()


async def running(commands: Commands) -> tuple[str, str]:
    """A new thread and a run in it that its provider has accepted."""
    thread = (await commands.create_thread(None, c.CreateThread())).thread.id
    given = c.StartRun(thread_id=thread, provider="codex", message="Find the bug", executor=Executor.CLIENT)
    run = (await commands.start_run(None, given)).run.id
    await commands.report_run_started(None, c.ReportRunStarted(run_id=run, native_thread_id=f"native-{run}"))
    return thread, run


def toolbox(database: Database, lease: timedelta, off: timedelta = timedelta()) -> Toolbox:
    return Toolbox(
        database, registry({}), lease, subagents=SubagentLimits(5, 50), clock=lambda: datetime.now(UTC) + off
    )


def fall_silent(graph: Graph, *runs: str) -> None:
    """The leases of the runs have run out."""
    graph.rows("MATCH (r:Run) WHERE r.id IN $ids SET r.leaseUntil = datetime() - duration({seconds: 1})", ids=[*runs])


@pytest.mark.parametrize("minutes", [10, -10])
async def test_clocks_of_services_do_not_count(database: Database, graph: Graph, minutes: int) -> None:
    """Leases are given and judged by the clock of the database, whatever a service takes the time for."""
    box = toolbox(database, timedelta(minutes=5), timedelta(minutes=minutes))
    _, run = await running(Commands(box))

    await interrupt_silent_runs(box)

    assert graph.values(
        "MATCH (r:Run {id: $id}) RETURN r.status = 'running' AND r.leaseUntil > datetime() "
        "AND r.leaseUntil < datetime() + duration({minutes: 6})",
        id=run,
    ) == [True]


async def test_sweeps_at_the_same_moment_interrupt_each_run_once(database: Database, graph: Graph) -> None:
    box = toolbox(database, timedelta(minutes=5))
    runs = [await running(Commands(box)) for _ in range(8)]
    fall_silent(graph, *(run for _, run in runs))

    await asyncio.gather(*(interrupt_silent_runs(box) for _ in range(4)))

    for thread, run in runs:
        types = [event["type"] for event in graph.events(thread)]
        assert types == ["thread.created", "run.planned", "run.started", "run.interrupted"]
        assert graph.values("MATCH (r:Run {id: $id}) RETURN r.status", id=run) == ["interrupted"]


async def test_a_sweep_and_a_completion_at_the_same_moment_end_a_run_once(database: Database, graph: Graph) -> None:
    box = toolbox(database, timedelta(minutes=5))
    commands = Commands(box)
    for _ in range(10):
        thread, run = await running(commands)
        fall_silent(graph, run)

        swept, completed = await asyncio.gather(
            interrupt_silent_runs(box), commands.complete_run(None, c.EndRun(run_id=run)), return_exceptions=True
        )

        assert not isinstance(swept, BaseException)
        (status,) = graph.values("MATCH (r:Run {id: $id}) RETURN r.status", id=run)
        ends = [event["type"] for event in graph.events(thread)][3:]
        if isinstance(completed, BaseException):
            assert getattr(completed, "code", None) == "RUN_NOT_ACTIVE", completed
            assert status == RunStatus.INTERRUPTED.value
            assert ends == ["run.interrupted", "report.late"]
        else:
            assert status == RunStatus.COMPLETED.value
            assert ends == ["run.completed"]
