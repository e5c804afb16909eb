"""The records of the graph, as read and written. Field names are those of the graph in snake case."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from plait.domain.history import WHOLE_RUN, Mark


class Record(BaseModel):
    """A frozen record; its keys are camel case in the graph and in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class Creator(StrEnum):
    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class ThreadStatus(StrEnum):
    ACTIVE = "active"
    ARCHIVED = "archived"


class Relationship(StrEnum):
    FORK = "fork"
    SUBAGENT = "subagent"


class RunStatus(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    ROLLED_BACK = "rolled_back"

    @property
    def active(self) -> bool:
        """Whether the run may still change: its executor has not reported an end."""
        return self in (RunStatus.STARTING, RunStatus.RUNNING)


class Executor(StrEnum):
    SERVICE = "service"
    CLIENT = "client"


class ItemKind(StrEnum):
    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    COMMAND = "command"
    FILE_CHANGE = "file_change"
    PLAN = "plan"
    SUBAGENT = "subagent"
    COMPACTION = "compaction"
    ERROR = "error"
    OTHER = "other"


class ItemStatus(StrEnum):
    STREAMING = "streaming"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class CheckpointKind(StrEnum):
    AUTOMATIC = "automatic"
    EXPLICIT = "explicit"


class ProviderThreadStatus(StrEnum):
    ACTIVE = "active"
    DIVERGENT = "divergent"
    LOST = "lost"


class TransferType(StrEnum):
    FORK = "fork"
    PROVIDER_HANDOFF = "provider_handoff"
    MERGE_BACK = "merge_back"
    SUBAGENT_SPAWN = "subagent_spawn"
    SUBAGENT_RESULT = "subagent_result"


class TransferStatus(StrEnum):
    PENDING = "pending"
    RESOLVED_NATIVE = "resolved_native"
    RESOLVED_PORTABLE = "resolved_portable"
    CONSUMED = "consumed"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class Strategy(StrEnum):
    NATIVE_FORK = "native_fork"
    PORTABLE_CONTEXT = "portable_context"
    DELTA_CONTEXT = "delta_context"
    CHECKPOINT_CONTEXT = "checkpoint_context"


class SubagentContext(StrEnum):
    """What a subagent is told of the conversation that spawned it."""

    NONE = "none"
    INHERIT = "inherit"


class ResultStatus(StrEnum):
    """How the work of a subagent ended. `UNKNOWN`: its executor was lost, so nobody knows."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class NodeStatus(StrEnum):
    """Where the work of a native child stands, as far as is known."""

    RUNNING = "running"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    FAILED = "failed"
    COMPLETED = "completed"


class HandoffKind(StrEnum):
    PORTABLE_CONTEXT = "portable_context"
    DELTA_CONTEXT = "delta_context"
    CHECKPOINT_CONTEXT = "checkpoint_context"


class SourcePoint(Record):
    """An exact state: a thread and, within it, a run, checkpoint or turn item; inclusive.

    `position` is the run's number in its thread; `item_position` the last item that counts (none: the whole run).
    The provider refs are filled where known; they are the provider's own ids.
    """

    thread_id: str
    run_id: str
    position: int
    checkpoint_id: str | None = None
    turn_item_id: str | None = None
    item_position: int | None = None
    provider_thread_ref: str | None = None
    provider_turn_ref: str | None = None

    @property
    def mark(self) -> Mark:
        return Mark(self.position, WHOLE_RUN if self.item_position is None else self.item_position)


class Thread(Record):
    """The canonical conversation. `origin_*` is the point it was forked from; `head_*` the last run of its history.

    `accepted_*` count all runs that a provider ever accepted in it, those rolled back since as well. `spawned_by_*` is
    the run of the parent that spawned it as a subagent; `subagent_depth` counts the spawns above it.
    """

    id: str
    title: str | None = None
    status: ThreadStatus
    created_by: Creator
    created_at: datetime
    updated_at: datetime
    generation: int
    depth: int
    parent_thread_id: str | None = None
    relationship_to_parent: Relationship | None = None
    root_thread_id: str
    provider: str | None = None
    run_count: int = 0
    checkpoint_count: int = 0
    active_run_id: str | None = None
    head_run_id: str | None = None
    head_position: int = 0
    head_generation: int = 0
    head_ordinal: int = 0
    head_tokens: int = 0
    accepted_runs: int = 0
    accepted_tokens: int = 0
    stable_run_id: str | None = None
    stable_position: int | None = None
    stable_checkpoint_id: str | None = None
    origin_thread_id: str | None = None
    origin_run_id: str | None = None
    origin_position: int | None = None
    origin_checkpoint_id: str | None = None
    origin_turn_item_id: str | None = None
    origin_item_position: int | None = None
    origin_ordinal: int = 0
    origin_tokens: int = 0
    spawned_by_run_id: str | None = None
    spawned_by_position: int | None = None
    subagent_depth: int = 0
    event_count: int = 0
    latest_event_at: datetime | None = None

    @property
    def origin(self) -> SourcePoint | None:
        """The point this thread was forked from, in the thread that owns it."""
        if self.origin_thread_id is None or self.origin_run_id is None or self.origin_position is None:
            return None
        return SourcePoint(
            thread_id=self.origin_thread_id,
            run_id=self.origin_run_id,
            position=self.origin_position,
            checkpoint_id=self.origin_checkpoint_id,
            turn_item_id=self.origin_turn_item_id,
            item_position=self.origin_item_position,
        )

    @property
    def spawned_by(self) -> SourcePoint | None:
        """The run that spawned this thread as a subagent, whatever that thread was told of its history."""
        if self.spawned_by_run_id is None or self.spawned_by_position is None or self.parent_thread_id is None:
            return None
        return SourcePoint(
            thread_id=self.parent_thread_id, run_id=self.spawned_by_run_id, position=self.spawned_by_position
        )

    @property
    def latest_stable(self) -> SourcePoint | None:
        """The latest completed, checkpointed run; without one, the point the thread itself came from."""
        if self.stable_run_id is None or self.stable_position is None:
            return self.origin
        return SourcePoint(
            thread_id=self.id,
            run_id=self.stable_run_id,
            position=self.stable_position,
            checkpoint_id=self.stable_checkpoint_id,
        )


class Run(Record):
    """One message and all the work it set off, on one provider.

    `position` is its number in the thread, given in the write transaction; `ordinal` counts accepted runs only.
    `tokens` counts its items, `tokens_before` those of the accepted runs before it in its thread, rolled back or not.
    `started_at` is when the provider accepted the turn: a run without it is in no history. `transfer_ids` and
    `handoff_ids` are what its plan consumes. `joint_*` stand where the history before it is not that of the run before
    it in the thread: where it goes on from, and as JSON what was brought in from other threads. `ended_as` is how it
    had ended before it was rolled back. `taken_late`: a provider took its turn when it had been given up.
    `subagent_count` is how many subagents it spawned.
    """

    id: str
    thread_id: str
    position: int
    generation: int
    provider: str
    model: str | None = None
    executor: Executor
    status: RunStatus
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    lease_until: datetime | None = None
    reason: str | None = None
    stable: bool = False
    provider_thread_id: str | None = None
    native_thread_id: str | None = None
    native_turn_id: str | None = None
    turn_ordinal: int | None = None
    ordinal: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    item_count: int = 0
    tokens: int = 0
    tokens_before: int = 0
    transfer_ids: tuple[str, ...] = ()
    handoff_ids: tuple[str, ...] = ()
    plan: str | None = None
    ended_as: RunStatus | None = None
    rolled_back_at: datetime | None = None
    taken_late: bool | None = None
    subagent_count: int = 0
    joint_previous: int | None = None
    joint_previous_ordinal: int | None = None
    joint_previous_tokens: int | None = None
    joint_adds: str | None = None
    joint_leaves: str | None = None

    @property
    def end(self) -> RunStatus:
        """How it ended, whether or not it was rolled back since."""
        return self.ended_as or self.status


class TurnItem(Record):
    """One message, tool call, command, … of a run. `data` is the JSON the executor gave, as text."""

    id: str
    run_id: str
    thread_id: str
    position: int
    kind: ItemKind
    status: ItemStatus
    text: str | None = None
    data: str | None = None
    tokens: int = 0
    created_at: datetime


class Checkpoint(Record):
    """A named stable state: made by itself when a run completes, or explicitly.

    `position` is that of its run; `number` counts the thread's checkpoints, given in the write transaction.
    """

    id: str
    thread_id: str
    run_id: str
    position: int
    number: int = 0
    generation: int
    kind: CheckpointKind
    label: str | None = None
    summary: str | None = None
    workspace_vcs: str | None = None
    workspace_commit: str | None = None
    created_at: datetime


class ProviderThread(Record):
    """The provider's own handle behind a thread. Its coverage is the history of `tip_*`, its last accepted run.

    Why a point is enough: at every start the provider was told exactly the history at that point, so what it knows
    after its last run is that run's history, and nothing else. `turns` counts the runs it accepted, `ended_turns`
    those that ended. `diverged_at` is the position of the first run given up whose turn it took all the same. A native
    fork that took no turn yet has its tip where it was forked, which may be in another thread (`tip_thread_id`).
    """

    id: str
    thread_id: str
    provider: str
    native_thread_id: str | None = None
    status: ProviderThreadStatus
    tip_run_id: str
    tip_position: int
    tip_thread_id: str | None = None
    turns: int
    ended_turns: int
    diverged_at: int | None = None
    created_at: datetime

    @property
    def tip(self) -> SourcePoint:
        """The point whose history it knows."""
        return SourcePoint(
            thread_id=self.tip_thread_id or self.thread_id, run_id=self.tip_run_id, position=self.tip_position
        )


class ExecutionNode(Record):
    """A native child, as its provider tells of it. `native_id` is the provider's own id of it.

    `native_parent_id` is that of the child that started it; none: the run itself did. `promoted_thread_id` is the
    thread that was made of it.
    """

    id: str
    run_id: str
    thread_id: str
    position: int
    provider: str
    native_id: str
    native_parent_id: str | None = None
    title: str | None = None
    task: str | None = None
    status: NodeStatus
    result: str | None = None
    promoted_thread_id: str | None = None
    created_at: datetime
    updated_at: datetime


class Transfer(Record):
    """The durable record that connects source and target of a context transfer (`ContextTransfer`).

    `seq` is that of the event that made it: the order of transfers in their tree. `result_*` is what a subagent gives
    back: how its run ended, and its answer, or why there is none.
    """

    id: str
    type: TransferType
    status: TransferStatus
    source_thread_id: str
    target_thread_id: str
    source_point_thread_id: str
    source_run_id: str
    source_position: int
    source_checkpoint_id: str | None = None
    source_turn_item_id: str | None = None
    source_item_position: int | None = None
    source_native_thread_id: str | None = None
    source_native_turn_id: str | None = None
    base_thread_id: str | None = None
    base_run_id: str | None = None
    base_position: int | None = None
    source_provider: str | None = None
    target_provider: str | None = None
    strategy: Strategy | None = None
    handoff_id: str | None = None
    native_thread_id: str | None = None
    created_by: Creator
    created_at: datetime
    resolved_at: datetime | None = None
    consumed_at: datetime | None = None
    consumed_by_run_id: str | None = None
    superseded_by_id: str | None = None
    failure_code: str | None = None
    failure_message: str | None = None
    result_status: ResultStatus | None = None
    result_text: str | None = None
    seq: int | None = None

    @property
    def source_point(self) -> SourcePoint:
        return SourcePoint(
            thread_id=self.source_point_thread_id,
            run_id=self.source_run_id,
            position=self.source_position,
            checkpoint_id=self.source_checkpoint_id,
            turn_item_id=self.source_turn_item_id,
            item_position=self.source_item_position,
            provider_thread_ref=self.source_native_thread_id,
            provider_turn_ref=self.source_native_turn_id,
        )

    @property
    def base_point(self) -> SourcePoint | None:
        if self.base_thread_id is None or self.base_run_id is None or self.base_position is None:
            return None
        return SourcePoint(thread_id=self.base_thread_id, run_id=self.base_run_id, position=self.base_position)


NO_SEGMENTS = "[]"
"""The segments of a handoff that stands for no runs, as text."""


class Handoff(Record):
    """The materialised context of a transfer, as sent (`ContextHandoff`).

    `payload` and `segments` (the history it stands for) are JSON, as text. `revision_of_id` names the handoff that a
    person has changed into this one; `superseded_by_id` is on the other.
    """

    id: str
    transfer_id: str
    target_thread_id: str
    provider: str
    kind: HandoffKind
    text: str
    hash: str
    tokens: int
    budget_tokens: int
    segments: str
    payload: str
    revision_of_id: str | None = None
    superseded_by_id: str | None = None
    created_at: datetime

    @property
    def is_message(self) -> bool:
        """Whether it is the task of a subagent that was told nothing else: the message itself, so it is sent once."""
        return self.kind is HandoffKind.PORTABLE_CONTEXT and self.segments == NO_SEGMENTS


class Event(Record):
    """One change of a lineage tree. `seq` counts from 1 within the tree, without a gap."""

    id: str
    root_thread_id: str
    seq: Annotated[int, Field(ge=1)]
    type: str
    thread_id: str
    run_id: str | None = None
    transfer_id: str | None = None
    data: str | None = None
    at: datetime
