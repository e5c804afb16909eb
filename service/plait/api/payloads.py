"""What the mutations answer with."""

import strawberry

from plait.api.types.checkpoint import Checkpoint
from plait.api.types.execution import ExecutionNode
from plait.api.types.handoff import ContextHandoff
from plait.api.types.item import TurnItem
from plait.api.types.plan import FreshPlan, StartPlan
from plait.api.types.run import Run
from plait.api.types.thread import Thread
from plait.api.types.transfer import ContextTransfer
from plait.domain import model as records

_RUN = "The run, as it is now."


@strawberry.type(description="What every mutation answers with.")
class Payload:
    client_mutation_id: str | None = strawberry.field(description="The one that was sent.")


@strawberry.type(description="Answer of `createThread`.")
class CreateThreadPayload(Payload):
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The new thread.")


@strawberry.type(description="Answer of `forkThread`.")
class ForkThreadPayload(Payload):
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The new thread.")
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The pending transfer from the point into the new thread."
    )


@strawberry.type(description="Answer of `startRun`.")
class StartRunPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description="The new run.")
    plan: FreshPlan | None = strawberry.field(graphql_type=StartPlan | None, description="How to start it.")


@strawberry.type(description="Answer of `reportRunStarted`.")
class ReportRunStartedPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description=_RUN)
    plan: FreshPlan | None = strawberry.field(
        graphql_type=StartPlan | None,
        description="The plan that holds now, a new one after a failure. When no way was left the run failed: "
        "then it says why, or is null where no plan was looked for.",
    )


@strawberry.type(description="Answer of `appendTurnItems`.")
class AppendTurnItemsPayload(Payload):
    items: tuple[records.TurnItem, ...] = strawberry.field(
        graphql_type=list[TurnItem], description="The items, in the order they were sent."
    )


@strawberry.type(description="Answer of `completeRun`.")
class CompleteRunPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description=_RUN)
    checkpoint: records.Checkpoint | None = strawberry.field(
        graphql_type=Checkpoint | None, description="The checkpoint that was made of it."
    )


@strawberry.type(description="Answer of `failRun`.")
class FailRunPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description=_RUN)


@strawberry.type(description="Answer of `interruptRun`.")
class InterruptRunPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description=_RUN)


@strawberry.type(description="Answer of `heartbeatRun`.")
class HeartbeatRunPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description=_RUN)


@strawberry.type(description="Answer of `createCheckpoint`.")
class CreateCheckpointPayload(Payload):
    checkpoint: records.Checkpoint = strawberry.field(graphql_type=Checkpoint, description="The new checkpoint.")


@strawberry.type(description="Answer of `rollbackThread`.")
class RollbackThreadPayload(Payload):
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The thread, as it is now.")
    rolled_back_runs: int = strawberry.field(description="How many runs left its history by this.")


@strawberry.type(description="Answer of `mergeBack`.")
class MergeBackPayload(Payload):
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The transfer that waits for the target's next start."
    )


@strawberry.type(description="Answer of `handoffThread`.")
class HandoffThreadPayload(Payload):
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The transfer that waits for the next start on that provider."
    )


@strawberry.type(description="Answer of `prepareTransfer`.")
class PrepareTransferPayload(Payload):
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The transfer, as it is now."
    )
    handoff: records.Handoff | None = strawberry.field(
        graphql_type=ContextHandoff | None,
        description="What the next run will be told; null where the provider forks natively and needs no telling.",
    )


@strawberry.type(description="Answer of `reviseHandoff`.")
class ReviseHandoffPayload(Payload):
    handoff: records.Handoff = strawberry.field(graphql_type=ContextHandoff, description="The new handoff.")


@strawberry.type(description="Answer of `spawnSubagent`.")
class SpawnSubagentPayload(Payload):
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The thread of the subagent.")
    run: records.Run = strawberry.field(graphql_type=Run, description="Its run, which is to be started.")
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The transfer from the run that spawned it."
    )
    plan: FreshPlan | None = strawberry.field(graphql_type=StartPlan | None, description="How to start the run.")


@strawberry.type(description="Answer of `completeSubagent`.")
class CompleteSubagentPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description="The subagent's run, as it is now.")
    transfer: records.Transfer = strawberry.field(graphql_type=ContextTransfer, description="Its result.")
    handoff: records.Handoff | None = strawberry.field(
        graphql_type=ContextHandoff | None,
        description="What the run that spawned it is told, if that works; null: the result waits for the next message.",
    )
    injected: str | None = strawberry.field(
        description="The text to give to the run that spawned it, as the answer to its call; null where it waits."
    )


@strawberry.type(description="Answer of `cancelSubagent`.")
class CancelSubagentPayload(Payload):
    run: records.Run = strawberry.field(graphql_type=Run, description="The subagent's run, as it is now.")
    transfer: records.Transfer = strawberry.field(graphql_type=ContextTransfer, description="Its result.")
    cancelled_runs: int = strawberry.field(
        description="How many runs were stopped by this: its own, and those of the subagents below it."
    )


@strawberry.type(description="Answer of `recordNativeSubagent`.")
class RecordNativeSubagentPayload(Payload):
    node: records.ExecutionNode = strawberry.field(
        graphql_type=ExecutionNode, description="The subagent, as it is known now."
    )


@strawberry.type(description="Answer of `cancelTransfer`.")
class CancelTransferPayload(Payload):
    transfer: records.Transfer = strawberry.field(
        graphql_type=ContextTransfer, description="The transfer, as it is now."
    )


@strawberry.type(description="Answer of `archiveThread`.")
class ArchiveThreadPayload(Payload):
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The thread, as it is now.")
    archived_threads: int = strawberry.field(
        description="How many threads were archived by this: it and the subagents below it, those not archived before."
    )
