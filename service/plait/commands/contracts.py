"""Inputs and answers of the commands."""

from typing import Annotated

from pydantic import Field, JsonValue

from plait.domain.model import (
    Checkpoint,
    Creator,
    ExecutionNode,
    Executor,
    Handoff,
    ItemKind,
    NodeStatus,
    Record,
    Run,
    Strategy,
    SubagentContext,
    Thread,
    Transfer,
    TurnItem,
)
from plait.domain.planning import StartPlan


class CreateThread(Record):
    id: str | None = None
    title: str | None = None
    created_by: Creator = Creator.USER


class PointInput(Record):
    """At most one of the three; none of them: the latest stable point."""

    run_id: str | None = None
    checkpoint_id: str | None = None
    turn_item_id: str | None = None


class ForkThread(Record):
    id: str | None = None
    source_thread_id: str
    point: PointInput = PointInput()
    title: str | None = None
    created_by: Creator = Creator.USER


class StartRun(Record):
    id: str | None = None
    thread_id: str
    provider: str
    model: str | None = None
    message: str
    executor: Executor
    strategy: Strategy | None = None


class StartFailure(Record):
    code: str
    message: str


class ReportRunStarted(Record):
    run_id: str
    native_thread_id: str | None = None
    native_turn_id: str | None = None
    failure: StartFailure | None = None


class NewItem(Record):
    id: str | None = None
    kind: ItemKind
    text: str | None = None
    data: JsonValue = None
    streaming: bool = False


class AppendTurnItems(Record):
    run_id: str
    items: Annotated[tuple[NewItem, ...], Field(min_length=1)]


class Usage(Record):
    """Tokens the provider counted for the run."""

    input_tokens: int
    output_tokens: int


class EndRun(Record):
    run_id: str
    reason: str | None = None
    usage: Usage | None = None


class HeartbeatRun(Record):
    run_id: str


class Workspace(Record):
    vcs: str
    commit: str


class CreateCheckpoint(Record):
    thread_id: str
    run_id: str | None = None
    label: str
    summary: str | None = None
    workspace: Workspace | None = None


class RollbackThread(Record):
    """Exactly one of the two points."""

    thread_id: str
    to_run_id: str | None = None
    to_checkpoint_id: str | None = None


class MergeBack(Record):
    """`target_thread_id`: none is the source's parent."""

    source_thread_id: str
    target_thread_id: str | None = None
    archive_source: bool = False
    created_by: Creator = Creator.USER


class SpawnSubagent(Record):
    """`id` and `run_id` are those of the new thread and its run."""

    id: str | None = None
    run_id: str | None = None
    parent_run_id: str
    task: str
    provider: str
    model: str | None = None
    context: SubagentContext
    title: str | None = None
    executor: Executor


class CompleteSubagent(Record):
    """`result`: none is the last answer of the run."""

    run_id: str
    result: str | None = None
    to_running_run: bool = True


class CancelSubagent(Record):
    run_id: str
    reason: str | None = None


class RecordNativeSubagent(Record):
    run_id: str
    native_id: str
    native_parent_id: str | None = None
    title: str | None = None
    task: str | None = None
    status: NodeStatus
    result: str | None = None
    promote: bool = False


class CancelTransfer(Record):
    transfer_id: str


class HandoffThread(Record):
    thread_id: str
    provider: str


class PrepareTransfer(Record):
    transfer_id: str
    provider: str


class ReviseHandoff(Record):
    handoff_id: str
    text: str


class ArchiveThread(Record):
    thread_id: str


class ThreadResult(Record):
    thread: Thread


class RollbackResult(Record):
    thread: Thread
    rolled_back_runs: int


class ArchiveResult(Record):
    """`archived_threads` counts those that were not archived before."""

    thread: Thread
    archived_threads: int


class ForkResult(Record):
    thread: Thread
    transfer: Transfer


class PlannedStart(Record):
    """A plan with the records it made or will use. `injected` is the text to put before the message."""

    plan: StartPlan
    transfers: tuple[Transfer, ...] = ()
    handoffs: tuple[Handoff, ...] = ()

    @property
    def injected(self) -> str | None:
        return "\n\n".join(handoff.text for handoff in self.handoffs if not handoff.is_message) or None


class StartResult(Record):
    """`start` is none when the report ended the run and no new plan was looked for."""

    run: Run
    start: PlannedStart | None = None


class SpawnResult(Record):
    thread: Thread
    transfer: Transfer
    started: StartResult


class SubagentResult(Record):
    """`handoff` is what the run that works is told of the result; none where it waits for the next message."""

    run: Run
    transfer: Transfer
    handoff: Handoff | None = None
    cancelled_runs: int = 0


class ObservedResult(Record):
    node: ExecutionNode


class ItemsResult(Record):
    items: tuple[TurnItem, ...]


class RunResult(Record):
    run: Run
    checkpoint: Checkpoint | None = None


class CheckpointResult(Record):
    checkpoint: Checkpoint


class TransferResult(Record):
    transfer: Transfer


class PreparedResult(Record):
    """`handoff` is none where the provider forks natively and needs none."""

    transfer: Transfer
    handoff: Handoff | None = None


class HandoffResult(Record):
    handoff: Handoff
