"""The input types of the mutations and of the filters, as clients send them."""

import strawberry

from plait.api.scalars import Json
from plait.domain.model import Creator, Executor, ItemKind, NodeStatus, Strategy, SubagentContext, ThreadStatus

_KEY = "Names this request: the same one again gives the first answer and does nothing twice. 1 to 200 characters."


@strawberry.input(description="What every mutation takes.")
class Keyed:
    client_mutation_id: str | None = strawberry.field(description=_KEY)


@strawberry.input(description="A new root thread.")
class CreateThreadInput(Keyed):
    id: strawberry.ID | None = strawberry.field(description="Its id, to choose it yourself: thr_….")
    title: str | None = strawberry.field(description="Its title, 500 characters at most.")
    created_by: Creator = strawberry.field(default=Creator.USER, description="Who asks for it.")


@strawberry.input(
    description="A point within a thread's history: at most one of the three; none of them is the latest stable point."
)
class PointInput:
    run_id: strawberry.ID | None = strawberry.field(description="Through this run.")
    checkpoint_id: strawberry.ID | None = strawberry.field(description="This checkpoint.")
    turn_item_id: strawberry.ID | None = strawberry.field(description="Through this item of a run.")


@strawberry.input(description="A fork of a thread at a point. Nothing is copied and no provider is asked.")
class ForkThreadInput(Keyed):
    source_thread_id: strawberry.ID = strawberry.field(description="The thread to fork.")
    id: strawberry.ID | None = strawberry.field(description="Id of the new thread: thr_….")
    point: PointInput | None = strawberry.field(description="Where to fork it.")
    title: str | None = strawberry.field(description="Title of the new thread, 500 characters at most.")
    created_by: Creator = strawberry.field(default=Creator.USER, description="Who asks for it.")


@strawberry.input(description="A new run: a message for a provider.")
class StartRunInput(Keyed):
    thread_id: strawberry.ID = strawberry.field(description="The thread to run in.")
    provider: str = strawberry.field(description="Key of the provider.")
    message: str = strawberry.field(description="The message; it becomes the first item of the run.")
    executor: Executor = strawberry.field(description="Who drives the provider. SERVICE is refused for now.")
    id: strawberry.ID | None = strawberry.field(description="Id of the new run: run_….")
    model: str | None = strawberry.field(description="The provider's model, 200 characters at most.")
    strategy: Strategy | None = strawberry.field(
        description="Carry context this way or not at all; null leaves it to the planner."
    )


@strawberry.input(description="Why a provider did not accept a start.")
class StartFailureInput:
    code: str = strawberry.field(description="A code for programs, 100 characters at most.")
    message: str = strawberry.field(description="A sentence for people.")


@strawberry.input(description="What a provider answered to a start: accepted, or the failure.")
class ReportRunStartedInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of its thread.")
    native_turn_id: str | None = strawberry.field(description="The provider's own id of the turn.")
    failure: StartFailureInput | None = strawberry.field(
        description="Why it was not accepted; the start is then planned anew, if it can be. With the `nativeThreadId` "
        "of a native fork that was made all the same, the run failed and the next start uses that fork."
    )


@strawberry.input(description="An item to add to a run.")
class TurnItemInput:
    kind: ItemKind = strawberry.field(description="What it is.")
    id: strawberry.ID | None = strawberry.field(description="Its id: itm_…; that of a streaming item replaces it.")
    text: str | None = strawberry.field(description="Its text.")
    data: Json | None = strawberry.field(description="What else there is to keep, as JSON.")
    streaming: bool = strawberry.field(default=False, description="Whether more of it will come.")


@strawberry.input(description="Items to add to a run, in order; all of them or none.")
class AppendTurnItemsInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")
    items: list[TurnItemInput] = strawberry.field(description="1 to 250 items.")


@strawberry.input(description="Tokens a provider counted for a run.")
class UsageInput:
    input_tokens: int = strawberry.field(description="Tokens the provider read.")
    output_tokens: int = strawberry.field(description="Tokens the provider wrote.")


@strawberry.input(description="A run that ended well.")
class CompleteRunInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")
    usage: UsageInput | None = strawberry.field(description="Tokens the provider counted for it.")


@strawberry.input(description="A run that failed.")
class FailRunInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")
    reason: str | None = strawberry.field(description="Why it failed.")


@strawberry.input(description="A run that was stopped.")
class InterruptRunInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")
    reason: str | None = strawberry.field(description="Why it was stopped.")


@strawberry.input(description="A sign that the executor of a run is still there.")
class HeartbeatRunInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run.")


@strawberry.input(description="Where the files stand.")
class WorkspaceInput:
    vcs: str = strawberry.field(description="The version control system, such as git; 100 characters at most.")
    commit: str = strawberry.field(description="The commit (or the like) in it; 200 characters at most.")


@strawberry.input(description="A checkpoint on request.")
class CreateCheckpointInput(Keyed):
    thread_id: strawberry.ID = strawberry.field(description="The thread.")
    label: str = strawberry.field(description="Its name, 200 characters at most.")
    run_id: strawberry.ID | None = strawberry.field(
        description="The ended run it is made on; null is the thread's latest."
    )
    summary: str | None = strawberry.field(description="What the conversation has come to.")
    workspace: WorkspaceInput | None = strawberry.field(description="Where the files stand.")


@strawberry.input(description="Where a thread goes back to: a run, or the run of a checkpoint; give one of the two.")
class RollbackThreadInput(Keyed):
    thread_id: strawberry.ID = strawberry.field(description="The thread.")
    to_run_id: strawberry.ID | None = strawberry.field(
        description="The run that becomes the thread's last: one of its own, or the one it was forked at."
    )
    to_checkpoint_id: strawberry.ID | None = strawberry.field(description="Or the run of this checkpoint.")


@strawberry.input(description="A thread whose new runs are to be told to another with its next message.")
class MergeBackInput(Keyed):
    source_thread_id: strawberry.ID = strawberry.field(description="The thread that did something.")
    target_thread_id: strawberry.ID | None = strawberry.field(
        description="The thread that is to be told; null is the source's parent."
    )
    archive_source: bool = strawberry.field(
        default=False, description="Whether the source is archived as well, with the subagents below it."
    )
    created_by: Creator = strawberry.field(default=Creator.USER, description="Who asks for it.")


@strawberry.input(description="A thread that is to go on with another provider.")
class HandoffThreadInput(Keyed):
    thread_id: strawberry.ID = strawberry.field(description="The thread.")
    provider: str = strawberry.field(description="Key of the provider it is handed to.")


@strawberry.input(description="A transfer whose context is to be built ahead of the run.")
class PrepareTransferInput(Keyed):
    transfer_id: strawberry.ID = strawberry.field(description="The transfer.")
    provider: str = strawberry.field(description="Key of the provider that the next run will be on.")


@strawberry.input(description="A handoff in other words, before it is sent.")
class ReviseHandoffInput(Keyed):
    handoff_id: strawberry.ID = strawberry.field(description="The handoff to take the place of.")
    text: str = strawberry.field(description="The whole text to send; within the budget of the handoff.")


@strawberry.input(description="A subagent that a run spawns: a thread of its own, and a run in it.")
class SpawnSubagentInput(Keyed):
    parent_run_id: strawberry.ID = strawberry.field(description="The run that spawns it; it must be RUNNING.")
    task: str = strawberry.field(description="What it is to do; the message of its run.")
    provider: str = strawberry.field(description="Key of the provider it is to run on.")
    context: SubagentContext = strawberry.field(
        default=SubagentContext.NONE, description="What it is told of the conversation."
    )
    id: strawberry.ID | None = strawberry.field(description="Id of the new thread: thr_….")
    run_id: strawberry.ID | None = strawberry.field(description="Id of the new run: run_….")
    title: str | None = strawberry.field(description="Title of the new thread, 500 characters at most.")
    model: str | None = strawberry.field(description="The provider's model, 200 characters at most.")
    executor: Executor = strawberry.field(
        default=Executor.CLIENT, description="Who drives the provider. SERVICE is refused for now."
    )


@strawberry.input(description="A subagent's run that has done its task, or whose result is asked for.")
class CompleteSubagentInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run of the subagent.")
    result: str | None = strawberry.field(description="What it found; null is the last answer of the run.")
    to_running_run: bool = strawberry.field(
        default=True,
        description="Whether the run that spawned it is given the result at once, if it still works; else the result "
        "waits for the next message.",
    )


@strawberry.input(description="A subagent's run to stop.")
class CancelSubagentInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run of the subagent.")
    reason: str | None = strawberry.field(description="Why it is stopped.")


@strawberry.input(
    description="What a provider tells of a subagent that it started itself; reports may come in any order."
)
class RecordNativeSubagentInput(Keyed):
    run_id: strawberry.ID = strawberry.field(description="The run it was seen in.")
    native_id: str = strawberry.field(description="The provider's own id of it, such as that of its thread.")
    native_parent_id: str | None = strawberry.field(
        description="The provider's own id of the subagent that started it; null: the run itself did, or nobody told."
    )
    title: str | None = strawberry.field(description="Its name, 500 characters at most.")
    task: str | None = strawberry.field(description="What it was asked to do.")
    status: NodeStatus = strawberry.field(default=NodeStatus.RUNNING, description="Where its work stands.")
    result: str | None = strawberry.field(description="What it found, or why there is nothing.")
    promote: bool = strawberry.field(
        default=False, description="Whether a thread is made of it, once it has ended, that runs can go on in."
    )


@strawberry.input(description="A transfer to call off.")
class CancelTransferInput(Keyed):
    transfer_id: strawberry.ID = strawberry.field(description="The transfer.")


@strawberry.input(description="A thread to put away.")
class ArchiveThreadInput(Keyed):
    thread_id: strawberry.ID = strawberry.field(description="The thread.")


@strawberry.input(description="Which threads to list; what is given must all hold.")
class ThreadFilterInput:
    status: ThreadStatus | None = strawberry.field(description="Whether they take new work.")
    root_thread_id: strawberry.ID | None = strawberry.field(description="The top of their tree.")
    parent_thread_id: strawberry.ID | None = strawberry.field(description="The thread they came from.")
    provider: str | None = strawberry.field(description="Key of the provider they were last on.")
