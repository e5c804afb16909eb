"""Which point a fork is taken from, when a point is refused, and the thread that begins there."""

from collections.abc import Container
from datetime import datetime

from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.history import History
from plait.domain.model import (
    Checkpoint,
    Creator,
    ItemStatus,
    Record,
    Relationship,
    Run,
    RunStatus,
    SourcePoint,
    Thread,
    ThreadStatus,
    TurnItem,
)


class NamedPoint(Record):
    """An explicit point as found in the graph: the run, and the checkpoint or item that named it."""

    run: Run
    checkpoint: Checkpoint | None = None
    item: TurnItem | None = None

    @property
    def source_point(self) -> SourcePoint:
        """The point; an item that is the run's last one is the whole run."""
        partial = self.item is not None and self.item.position < self.run.item_count
        return SourcePoint(
            thread_id=self.run.thread_id,
            run_id=self.run.id,
            position=self.run.position,
            checkpoint_id=self.checkpoint.id if self.checkpoint else None,
            turn_item_id=self.item.id if self.item else None,
            item_position=self.item.position if self.item and partial else None,
        )


def latest_stable_point(source: Thread) -> SourcePoint:
    """The latest stable point of `source`. Raises `Refused` with `NO_STABLE_POINT` in an empty root thread."""
    point = source.latest_stable
    if point is None:
        raise Refused(
            ErrorCode.NO_STABLE_POINT,
            f"Thread {source.id} has no completed run yet: there is nothing to fork from. Complete a run first.",
        )
    return point


def explicit_point(source: Thread, history: History, line: Container[str], named: NamedPoint) -> SourcePoint:
    """The explicit point, when it is stable and in the history of `source`.

    `line` has the ids of the source and its ancestors. A run of another thread that was brought into one of them is no
    state that they were ever in. Raises `Refused` (`RUN_ACTIVE`, `RUN_ROLLED_BACK`, `RUN_NOT_STABLE`) or `InvalidInput`
    when the run is not in the source's history, or was brought into it.
    """
    run, point = named.run, named.source_point
    if run.status.active:
        raise Refused(
            ErrorCode.RUN_ACTIVE,
            f"Run {run.id} is still active. Wait until it ends, or fork from the latest stable point.",
        )
    # A fork that was taken from a run keeps it, whatever becomes of it in the thread it was taken from.
    kept = run.thread_id != source.id and history.holds(point.thread_id, point.mark)
    if run.status is RunStatus.ROLLED_BACK and not kept:
        raise Refused(
            ErrorCode.RUN_ROLLED_BACK,
            f"Run {run.id} was rolled back: it is no point of thread {source.id}. "
            "Take an earlier run, or leave the point out.",
        )
    if not run.stable:
        raise Refused(
            ErrorCode.RUN_NOT_STABLE,
            f"Run {run.id} ended as {run.end.value}. Make an explicit checkpoint on it first, "
            "or fork from the latest stable point.",
        )
    if named.item is not None and named.item.status is not ItemStatus.FINISHED:
        raise Refused(
            ErrorCode.RUN_NOT_STABLE,
            f"Item {named.item.id} never finished ({named.item.status.value}) and can't be a source point.",
        )
    if point.thread_id not in line and history.holds(point.thread_id, point.mark):
        raise InvalidInput(
            f"Run {run.id} was brought into thread {source.id} from thread {run.thread_id}. Fork that thread at it, or "
            "this one at the run that took it in."
        )
    if not history.holds(point.thread_id, point.mark):
        raise InvalidInput(
            f"Run {run.id} is not in the history of thread {source.id}. Fork its own thread {run.thread_id}, or take a "
            "run that the thread's visibleItems show."
        )
    return point


class PointRun(Record):
    """What a new thread takes over from the run of its point."""

    generation: int
    ordinal: int | None
    tokens_before: int
    tokens: int
    provider: str
    native_thread_id: str | None = None
    native_turn_id: str | None = None


class Origin(Record):
    """Where the history of a new thread begins: a point, and the run there."""

    point: SourcePoint
    run: PointRun


def offspring(
    thread_id: str,
    parent: Thread,
    relationship: Relationship,
    origin: Origin | None,
    *,
    title: str | None,
    created_by: Creator,
    created_at: datetime,
) -> Thread:
    """A new thread below `parent`. Without an `origin` it has none of the parent's history."""
    child = Thread(
        id=thread_id,
        title=title,
        status=ThreadStatus.ACTIVE,
        created_by=created_by,
        created_at=created_at,
        updated_at=created_at,
        generation=parent.generation + 1,
        depth=parent.depth + 1,
        parent_thread_id=parent.id,
        relationship_to_parent=relationship,
        root_thread_id=parent.root_thread_id,
        subagent_depth=parent.subagent_depth,
    )
    if origin is None:
        return child
    point, run = origin.point, origin.run
    return child.model_copy(
        update={
            "head_generation": run.generation,
            "origin_thread_id": point.thread_id,
            "origin_run_id": point.run_id,
            "origin_position": point.position,
            "origin_checkpoint_id": point.checkpoint_id,
            "origin_turn_item_id": point.turn_item_id,
            "origin_item_position": point.item_position,
            "origin_ordinal": run.ordinal or 0,
            "origin_tokens": run.tokens_before + run.tokens,
        }
    )
