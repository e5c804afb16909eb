"""Subagents: how deep and how many a run may spawn, and what one gives back when a run of it ends."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import orjson

from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.forking import Origin, offspring
from plait.domain.model import (
    Creator,
    ItemKind,
    ItemStatus,
    Relationship,
    ResultStatus,
    Run,
    RunStatus,
    SourcePoint,
    Thread,
    Transfer,
    TransferStatus,
    TransferType,
    TurnItem,
)
from plait.domain.tokens import count_tokens
from plait.domain.transfers import pending_transfer


class SubagentLimits(NamedTuple):
    """How many spawns may lie above a subagent, itself counted, and how many a run may have."""

    depth: int
    children: int


def child_thread(
    thread_id: str, parent: Thread, spawner: Run, origin: Origin | None, *, title: str | None, created_at: datetime
) -> Thread:
    """The thread of a subagent. Without an `origin` it has nothing of its parent's history."""
    child = offspring(
        thread_id,
        parent,
        Relationship.SUBAGENT,
        origin,
        title=title,
        created_by=Creator.AGENT,
        created_at=created_at,
    )
    return child.model_copy(
        update={
            "spawned_by_run_id": spawner.id,
            "spawned_by_position": spawner.position,
            "subagent_depth": parent.subagent_depth + 1,
        }
    )


def require_room(parent: Thread, spawner: Run, limits: SubagentLimits) -> None:
    """Raises `Refused` with `LIMIT_EXCEEDED` when the run may spawn no more."""
    if parent.subagent_depth >= limits.depth:
        raise Refused(
            ErrorCode.LIMIT_EXCEEDED,
            f"Thread {parent.id} is {parent.subagent_depth} subagents deep, and {limits.depth} is the most: it spawns "
            "none. Do the task in this run.",
        )
    if spawner.subagent_count >= limits.children:
        raise Refused(
            ErrorCode.LIMIT_EXCEEDED,
            f"Run {spawner.id} has spawned {spawner.subagent_count} subagents, and {limits.children} is the most for "
            "one run. Start another run for more.",
        )


class Ending(NamedTuple):
    """How a run of a subagent ended, and the answer that was given for one that did its task, if any."""

    status: ResultStatus
    answer: str | None = None


_STATUS = {
    RunStatus.COMPLETED: ResultStatus.COMPLETED,
    RunStatus.FAILED: ResultStatus.FAILED,
    RunStatus.INTERRUPTED: ResultStatus.CANCELLED,
}


def ending_of(run: Run) -> Ending:
    """What the end of a run means where nobody says more of it."""
    return Ending(_STATUS[run.end])


def result_transfer(
    transfer_id: str, child: Thread, run: Run, spawner: SourcePoint, ending: Ending, created_at: datetime
) -> Transfer:
    """What a run of a subagent gives back to the thread that spawned it: one transfer a run.

    Its base point is the run that spawned the subagent.
    """
    point = SourcePoint(thread_id=child.id, run_id=run.id, position=run.position)
    text = ending.answer if ending.status is ResultStatus.COMPLETED else run.reason
    return pending_transfer(
        transfer_id,
        TransferType.SUBAGENT_RESULT,
        point,
        spawner.thread_id,
        base=spawner,
        created_by=Creator.AGENT,
        created_at=created_at,
    ).model_copy(update={"result_status": ending.status, "result_text": text})


def result_item(item_id: str, result: Transfer, run: Run, created_at: datetime) -> TurnItem:
    """The result as an item of the run that takes it, so that it is in the history from there on."""
    ids = {"threadId": result.source_thread_id, "runId": result.source_run_id, "transferId": result.id}
    # What it says counts; the ids beside it are for programs.
    tokens = count_tokens(result.result_text or "")
    return _item(item_id, run, ids | _said(result), created_at).model_copy(update={"tokens": tokens})


def told_item(result: Transfer, run: Run) -> TurnItem:
    """The result as it is told: how the work ended, and what it came to; no ids, which mean nothing to an agent."""
    return _item(run.id, run, _said(result), run.created_at)


def _said(result: Transfer) -> dict[str, str | None]:
    status = result.result_status.value if result.result_status else None
    return {"status": status, "result": result.result_text or ""}


def _item(item_id: str, run: Run, data: Mapping[str, str | None], created_at: datetime) -> TurnItem:
    return TurnItem(
        id=item_id,
        run_id=run.id,
        thread_id=run.thread_id,
        position=1,
        kind=ItemKind.SUBAGENT,
        status=ItemStatus.FINISHED,
        data=orjson.dumps(data).decode(),
        created_at=created_at,
    )


def spawner_of(thread: Thread) -> SourcePoint:
    """The run that spawned a subagent. Raises `InvalidInput` where the thread is none."""
    if thread.spawned_by is None:
        raise InvalidInput(f"Thread {thread.id} is no subagent: no run spawned it.")
    return thread.spawned_by


def may_take(spawner: Run, result: Transfer) -> bool:
    """Whether the run that spawned a subagent can take its result now: that waits, and it works."""
    return spawner.status is RunStatus.RUNNING and result.status is TransferStatus.PENDING
