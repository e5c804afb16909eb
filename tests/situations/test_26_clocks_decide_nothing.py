"""26. Order and "is it answered?" were decided by comparing ids or times made by different clocks.

Here order is a number given in the write transaction. Two replicas of the service work on one graph; the clock of one
is ten minutes fast, that of the other ten minutes slow, and so are the times inside the ids they make. They take turns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
import uuid_utils

from plait.commands import contracts as c
from plait.commands import execution
from plait.commands.all import Commands
from plait.commands.execution import Toolbox
from plait.domain.model import Executor, ItemKind
from plait.domain.subagents import SubagentLimits
from plait.localdb import Endpoint
from plait.providers.registry import registry
from plait.settings import Settings
from plait.wiring import open_database
from tests.conftest import PROVIDERS
from tests.support.client import Client, key
from tests.support.graph import Graph


@dataclass
class Replica:
    """The commands of one service whose clock is off."""

    commands: Commands
    off: timedelta
    monkeypatch: pytest.MonkeyPatch

    async def __call__(self, name: str, given: c.Record) -> Any:
        """One command, with this replica's clock in its times and in its ids."""

        def uuid7() -> object:
            # The first 48 bits of a UUIDv7 are its milliseconds.
            return UUID(int=uuid_utils.uuid7().int + (int(self.off.total_seconds() * 1000) << 80))

        with self.monkeypatch.context() as patch:
            patch.setattr(execution, "uuid_utils", SimpleNamespace(uuid7=uuid7))
            return await getattr(self.commands, name)(None, given)

    async def whole_run(self, thread: str, message: str, provider: str = "codex", native: str | None = None) -> Any:
        """A run from its start to its completion; gives what `start_run` gave."""
        given = c.StartRun(thread_id=thread, provider=provider, message=message, executor=Executor.CLIENT)
        started = await self("start_run", given)
        resume = started.start.plan.resume
        native = resume.native_thread_id if resume else native or f"native-{key()}"
        run = started.run.id
        accepted = c.ReportRunStarted(run_id=run, native_thread_id=native, native_turn_id=f"turn-{message}")
        await self("report_run_started", accepted)
        answer = c.NewItem(kind=ItemKind.ASSISTANT_MESSAGE, text=f"{message} answered")
        await self("append_turn_items", c.AppendTurnItems(run_id=run, items=(answer,)))
        await self("complete_run", c.EndRun(run_id=run))
        return started


@pytest.fixture
async def replicas(
    service: Client, neo4j_endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Replica, Replica]]:
    """The fast one and the slow one; the shared service has made the schema."""
    settings = Settings(
        neo4j_uri=neo4j_endpoint.uri,
        neo4j_user=neo4j_endpoint.user,
        neo4j_password=neo4j_endpoint.password,
        neo4j_database=neo4j_endpoint.database,
    )
    databases = (open_database(settings), open_database(settings))
    made: list[Replica] = []
    for database, minutes in zip(databases, (10, -10), strict=True):
        database.open()
        off = timedelta(minutes=minutes)
        box = Toolbox(
            database=database,
            providers=registry(PROVIDERS),
            lease=timedelta(days=1),
            subagents=SubagentLimits(5, 50),
            clock=lambda off=off: datetime.now(UTC) + off,
        )
        made.append(Replica(Commands(box), off, monkeypatch))
    yield made[0], made[1]
    for database in databases:
        await database.close()


Replicas = tuple[Replica, Replica]
NUMBERS = range(1, 7)


async def alternating(replicas: Replicas, providers: tuple[str, ...] = ("codex",)) -> tuple[str, list[Any]]:
    """A thread of runs made by the fast and the slow replica in turn."""
    fast, slow = replicas
    thread = (await fast("create_thread", c.CreateThread())).thread.id
    runs: list[Any] = []
    for number in NUMBERS:
        replica = (slow, fast)[number % 2]
        runs.append(await replica.whole_run(thread, f"m{number}", providers[number % len(providers)]))
    return thread, runs


async def test_the_clocks_are_really_off(replicas: Replicas, graph: Graph) -> None:
    thread, runs = await alternating(replicas)

    times = graph.values("MATCH (r:Run {threadId: $id}) WITH r ORDER BY r.position RETURN r.createdAt", id=thread)
    assert times != sorted(times)
    ids = [run.run.id for run in runs]
    assert ids != sorted(ids)


async def test_runs_items_and_events_stand_in_the_order_they_were_written(
    replicas: Replicas, service: Client, graph: Graph
) -> None:
    thread, runs = await alternating(replicas)
    ids = [run.run.id for run in runs]

    listed = service.get_thread(thread, "runs { nodes { id position } }")["runs"]["nodes"]
    assert [(run["id"], run["position"]) for run in listed] == list(zip(ids, NUMBERS, strict=True))
    assert service.texts(thread) == [text for number in NUMBERS for text in (f"m{number}", f"m{number} answered")]
    chain = graph.values(
        "MATCH path = (first:Run {id: $first})-[:NEXT_RUN*]->(last:Run {id: $last}) RETURN [r IN nodes(path) | r.id]",
        first=ids[0],
        last=ids[-1],
    )
    assert chain == [ids]
    events = graph.events(thread)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    each = ["run.planned", "run.started", "items.appended", "run.completed"]
    assert [event["type"] for event in events] == ["thread.created", *each * len(NUMBERS)]


async def test_a_run_is_told_what_its_provider_missed_and_nothing_else(replicas: Replicas, service: Client) -> None:
    """Two providers in turn, so that each start is a delta of just the run before it."""
    _, runs = await alternating(replicas, ("codex", "claude"))

    for number, started in zip(NUMBERS, runs, strict=True):
        injected = started.start.injected or ""
        told = [other for other in NUMBERS if f"m{other} answered" in injected]
        assert told == ([] if number == 1 else [number - 1]), started.start.plan.reason


async def test_the_latest_stable_point_is_the_last_one_written(replicas: Replicas, service: Client) -> None:
    fast, slow = replicas
    thread, runs = await alternating(replicas)

    forks = [await replica("fork_thread", c.ForkThread(source_thread_id=thread)) for replica in (fast, slow)]

    assert [fork.transfer.source_run_id for fork in forks] == [runs[-1].run.id] * 2
    for fork in forks:
        assert len(service.texts(fork.thread.id)) == 2 * len(NUMBERS)


async def test_the_latest_checkpoint_is_the_last_one_made(replicas: Replicas, service: Client) -> None:
    """Two checkpoints on one run: the fast replica made the first, so its time and its id say it is the newer."""
    fast, slow = replicas
    thread, _ = await alternating(replicas)
    for replica, said in ((fast, "outdated summary"), (slow, "current summary")):
        await replica("create_checkpoint", c.CreateCheckpoint(thread_id=thread, label=said, summary=said))

    newest = service.get_thread(thread, "checkpoints(first: 2) { label }")["checkpoints"]
    assert [point["label"] for point in newest] == ["current summary", "outdated summary"]
    told = service.start(thread, "go on", "opencode")["plan"]["injected"]
    assert "current summary" in told
    assert "outdated summary" not in told


async def test_a_run_is_ended_by_its_own_end_whatever_the_times_say(replicas: Replicas, service: Client) -> None:
    """The end comes "before" the start by twenty minutes of the clocks; the thread is free all the same."""
    fast, slow = replicas
    thread = (await fast("create_thread", c.CreateThread())).thread.id
    given = c.StartRun(thread_id=thread, provider="codex", message="first", executor=Executor.CLIENT)
    run = (await fast("start_run", given)).run.id
    await fast("report_run_started", c.ReportRunStarted(run_id=run, native_turn_id="t"))

    ended = (await slow("complete_run", c.EndRun(run_id=run))).run

    assert ended.ended_at < ended.created_at
    assert service.get_thread(thread)["activeRunId"] is None
    await slow.whole_run(thread, "second")
    assert service.texts(thread) == ["first", "second", "second answered"]
