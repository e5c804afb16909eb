"""The service's commands on the real Neo4j, driven step by step, and the records they leave."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import orjson

from plait.commands import contracts as c
from plait.commands.all import Commands
from plait.commands.execution import Toolbox
from plait.domain.errors import PlaitError
from plait.domain.history import WHOLE_RUN
from plait.domain.model import Executor, ItemKind
from plait.domain.subagents import SubagentLimits
from plait.graph.database import Database
from tests.model.lineage import History, Told, beyond, seen
from tests.model.pure import PROVIDERS, PureStart

T = TypeVar("T")

_RECORDS = """
UNWIND $threads AS id
MATCH (t:Thread {id: id})
CALL (t) {
  OPTIONAL MATCH (f:ContextTransfer)-[:INTO]->(t)
  WITH f WHERE f IS NOT NULL
  OPTIONAL MATCH (f)-[:CONSUMED_BY]->(r:Run)
  MATCH (point:Run {id: f.sourceRunId})
  WITH f, r, point ORDER BY f.seq, f.id
  WHERE f.supersededById IS NULL
  RETURN collect({
    id: f.id, type: f.type, status: f.status, source: f.sourceThreadId, consumedBy: r.id,
    point: point.position, owner: point.threadId, item: f.sourceItemPosition,
    handoffs: COUNT { (f)-[:MATERIALIZED_AS]->() }
  }) AS transfers
}
CALL (t) {
  MATCH (t)-[:HAS_RUN]->(r:Run)
  OPTIONAL MATCH (before:Run)-[:NEXT_RUN]->(r)
  RETURN collect({id: r.id, position: r.position, before: before.position}) AS runs
}
RETURN collect({
  id: t.id, active: t.activeRunId, head: t.headPosition, transfers: transfers, runs: runs, origin: t.originThreadId,
  originPosition: t.originPosition, originItem: t.originItemPosition
}) AS threads
"""


class ServiceBackend:
    """Every command goes through the service's own transaction; every record is read back from the graph."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._database = database
        box = Toolbox(database, PROVIDERS, lease=timedelta(days=1), subagents=SubagentLimits(5, 50))
        self._commands = Commands(box)
        self._threads: list[str] = []
        self._thread_of: dict[str, str] = {}

    def create_thread(self) -> str:
        name = self._do(self._commands.create_thread(None, c.CreateThread())).thread.id
        self._threads.append(name)
        return name

    def fork(self, source: str, run: str | None, item: tuple[str, int] | None) -> str:
        point = c.PointInput(run_id=run)
        if item is not None:
            point = c.PointInput(turn_item_id=self._item_id(*item))
        try:
            name = self._do(
                self._commands.fork_thread(None, c.ForkThread(source_thread_id=source, point=point))
            ).thread.id
        except PlaitError as refusal:
            return refusal.code.value
        self._threads.append(name)
        return name

    def start(self, thread: str, provider: str) -> PureStart | str:
        given = c.StartRun(thread_id=thread, provider=provider, message="go on", executor=Executor.CLIENT)
        try:
            return self._started(self._do(self._commands.start_run(None, given)))
        except PlaitError as refusal:
            return refusal.code.value

    def accept(self, run: str, native: str | None, turn: str | None) -> str | None:
        given = c.ReportRunStarted(run_id=run, native_thread_id=native, native_turn_id=turn)
        return self._code(self._commands.report_run_started(None, given))

    def report_failure(self, run: str) -> PureStart | str:
        failure = c.StartFailure(code="NATIVE_FAILED", message="the native way failed")
        given = c.ReportRunStarted(run_id=run, failure=failure)
        try:
            answer = self._do(self._commands.report_run_started(None, given))
        except PlaitError as refusal:
            return refusal.code.value
        if not answer.run.status.active:
            return PureStart("failed", None, None, (), None)
        return self._started(answer)

    def append(self, run: str) -> str | None:
        item = c.NewItem(kind=ItemKind.ASSISTANT_MESSAGE, text="an answer")
        return self._code(self._commands.append_turn_items(None, c.AppendTurnItems(run_id=run, items=(item,))))

    def end(self, run: str, state: str) -> str | None:
        ways = {
            "completed": self._commands.complete_run,
            "failed": self._commands.fail_run,
            "interrupted": self._commands.interrupt_run,
        }
        return self._code(ways[state](None, c.EndRun(run_id=run)))

    def checkpoint(self, thread: str, run: str) -> str | None:
        given = c.CreateCheckpoint(thread_id=thread, run_id=run, label="kept")
        return self._code(self._commands.create_checkpoint(None, given))

    def cancel(self, thread: str) -> str | None:
        row = self._query(
            "MATCH (f:ContextTransfer)-[:INTO]->(:Thread {id: $id}) WHERE f.type <> 'merge_back' "
            "RETURN f.id AS id ORDER BY f.createdAt DESC",
            id=thread,
        )
        if not row:
            return None
        return self._code(self._commands.cancel_transfer(None, c.CancelTransfer(transfer_id=row[0]["id"])))

    def roll_back(self, thread: str, run: str) -> str | None:
        return self._code(self._commands.rollback_thread(None, c.RollbackThread(thread_id=thread, to_run_id=run)))

    def merge(self, source: str, target: str) -> str | None:
        given = c.MergeBack(source_thread_id=source, target_thread_id=target)
        return self._code(self._commands.merge_back(None, given))

    def cancel_merge(self, source: str, target: str) -> str | None:
        rows = self._query(
            "MATCH (f:ContextTransfer {type: 'merge_back', sourceThreadId: $source})-[:INTO]->(:Thread {id: $target}) "
            "WHERE f.supersededById IS NULL AND NOT f.status IN ['consumed', 'superseded'] RETURN f.id AS id",
            source=source,
            target=target,
        )
        return self._code(self._commands.cancel_transfer(None, c.CancelTransfer(transfer_id=rows[0]["id"])))

    def records(self) -> dict[str, Any]:
        rows: list[Any] = self._query(_RECORDS, threads=self._threads)[0]["threads"]
        threads = {row["id"]: row for row in rows}
        return {
            "transfers": {name: row["transfers"] for name, row in threads.items()},
            "histories": {name: self._history(threads, name, None, None) for name in threads},
            "active": {name: row["active"] for name, row in threads.items()},
        }

    def _history(self, threads: dict[str, Any], name: str, through: int | None, item: int | None) -> History:
        """A thread's history, walked run by run along the graph's own edges, with what its runs took in."""
        row = threads[name]
        runs = {run["position"]: run for run in row["runs"]}
        at = row["head"] if through is None else through
        if not at:
            if row["origin"] is None:
                return ()
            return self._history(threads, row["origin"], row["originPosition"], row["originItem"])
        run = runs[at]
        history = self._history(threads, name, run["before"] or 0, None)
        for transfer in row["transfers"]:
            if transfer["type"] == "merge_back" and transfer["consumedBy"] == run["id"]:
                source = self._history(threads, transfer["owner"], transfer["point"], transfer["item"])
                part = beyond(source, seen(history))
                history += tuple(told for told in part if self._thread_of_run(threads, told.run) != name)
        return (*history, Told(run["id"], item))

    def _thread_of_run(self, threads: dict[str, Any], run: str) -> str:
        return next(name for name, row in threads.items() if any(own["id"] == run for own in row["runs"]))

    def _started(self, answer: c.StartResult) -> PureStart:
        assert answer.start is not None
        plan = answer.start.plan
        handed: list[Told] = []
        for handoff in answer.start.handoffs:
            handed.extend(self._expand(orjson.loads(handoff.segments)))
        return PureStart(
            outcome=plan.outcome.value,
            resume=plan.resume.native_thread_id if plan.resume else None,
            fork=(plan.native_fork.native_thread_id, plan.native_fork.last_turn_id) if plan.native_fork else None,
            handed=tuple(handed),
            run=answer.run.id,
        )

    def _expand(self, segments: list[dict[str, Any]]) -> list[Told]:
        """The runs a handoff says it stands for, found in the graph."""
        told: list[Told] = []
        for segment in segments:
            (after, after_item), (through, through_item) = segment["after"], segment["through"]
            rows = self._query(
                "MATCH (r:Run {threadId: $thread}) WHERE r.startedAt IS NOT NULL "
                "AND r.position >= $first AND r.position <= $through RETURN r.id AS id, r.position AS at ORDER BY at",
                thread=segment["threadId"],
                first=after + 1 if after_item == WHOLE_RUN else after,
                through=through,
            )
            told.extend(
                Told(
                    row["id"],
                    through_item if row["at"] == through and through_item != WHOLE_RUN else None,
                    after_item if row["at"] == after else 0,
                )
                for row in rows
            )
        return told

    def _item_id(self, run: str, position: int) -> str:
        query = "MATCH (i:TurnItem {runId: $run, position: $position}) RETURN i.id AS id"
        return self._query(query, run=run, position=position)[0]["id"]

    def _code(self, command: Coroutine[Any, Any, object]) -> str | None:
        try:
            self._do(command)
        except PlaitError as refusal:
            return refusal.code.value
        return None

    def _do(self, command: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(command)

    def _query(self, text: str, **parameters: Any) -> list[dict[str, Any]]:
        async def read() -> list[dict[str, Any]]:
            async with self._database.session("READ") as session:
                return await (await session.run(text, parameters)).data()  # type: ignore[arg-type]

        return self._do(read())
