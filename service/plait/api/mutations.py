"""The mutations: check the input, run the command, hand out what it gives."""

from typing import Annotated, TypeAlias

import strawberry

from plait.api import inputs, payloads, validation
from plait.api.checks import mutation_key
from plait.api.context import Info
from plait.api.types.plan import FreshPlan
from plait.commands.contracts import StartResult

_WHAT = "What to do, and the name of this request."

CreateThread: TypeAlias = Annotated[inputs.CreateThreadInput, strawberry.argument(description=_WHAT)]
ForkThread: TypeAlias = Annotated[inputs.ForkThreadInput, strawberry.argument(description=_WHAT)]
StartRun: TypeAlias = Annotated[inputs.StartRunInput, strawberry.argument(description=_WHAT)]
ReportRunStarted: TypeAlias = Annotated[inputs.ReportRunStartedInput, strawberry.argument(description=_WHAT)]
AppendTurnItems: TypeAlias = Annotated[inputs.AppendTurnItemsInput, strawberry.argument(description=_WHAT)]
CompleteRun: TypeAlias = Annotated[inputs.CompleteRunInput, strawberry.argument(description=_WHAT)]
FailRun: TypeAlias = Annotated[inputs.FailRunInput, strawberry.argument(description=_WHAT)]
InterruptRun: TypeAlias = Annotated[inputs.InterruptRunInput, strawberry.argument(description=_WHAT)]
HeartbeatRun: TypeAlias = Annotated[inputs.HeartbeatRunInput, strawberry.argument(description=_WHAT)]
CreateCheckpoint: TypeAlias = Annotated[inputs.CreateCheckpointInput, strawberry.argument(description=_WHAT)]
RollbackThread: TypeAlias = Annotated[inputs.RollbackThreadInput, strawberry.argument(description=_WHAT)]
MergeBack: TypeAlias = Annotated[inputs.MergeBackInput, strawberry.argument(description=_WHAT)]
HandoffThread: TypeAlias = Annotated[inputs.HandoffThreadInput, strawberry.argument(description=_WHAT)]
PrepareTransfer: TypeAlias = Annotated[inputs.PrepareTransferInput, strawberry.argument(description=_WHAT)]
ReviseHandoff: TypeAlias = Annotated[inputs.ReviseHandoffInput, strawberry.argument(description=_WHAT)]
SpawnSubagent: TypeAlias = Annotated[inputs.SpawnSubagentInput, strawberry.argument(description=_WHAT)]
CompleteSubagent: TypeAlias = Annotated[inputs.CompleteSubagentInput, strawberry.argument(description=_WHAT)]
CancelSubagent: TypeAlias = Annotated[inputs.CancelSubagentInput, strawberry.argument(description=_WHAT)]
RecordNativeSubagent: TypeAlias = Annotated[inputs.RecordNativeSubagentInput, strawberry.argument(description=_WHAT)]
CancelTransfer: TypeAlias = Annotated[inputs.CancelTransferInput, strawberry.argument(description=_WHAT)]
ArchiveThread: TypeAlias = Annotated[inputs.ArchiveThreadInput, strawberry.argument(description=_WHAT)]


@strawberry.type(
    description="Changes. Each is one transaction, all or nothing, and takes a `clientMutationId` to be safe to repeat."
)
class Mutation:
    @strawberry.mutation(description="Make a new root thread.")
    @staticmethod
    async def create_thread(info: Info, input: CreateThread) -> payloads.CreateThreadPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.create_thread(input)
        result = await info.context.commands.create_thread(key, wanted)
        info.context.forget().threads.keep(result.thread)
        return payloads.CreateThreadPayload(client_mutation_id=key, thread=result.thread)

    @strawberry.mutation(
        description="Fork a thread at a point of its history, at once: nothing is copied and no provider is asked."
    )
    @staticmethod
    async def fork_thread(info: Info, input: ForkThread) -> payloads.ForkThreadPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.fork_thread(input)
        result = await info.context.commands.fork_thread(key, wanted)
        info.context.forget().threads.keep(result.thread)
        return payloads.ForkThreadPayload(client_mutation_id=key, thread=result.thread, transfer=result.transfer)

    @strawberry.mutation(
        description="Start a run: plan how its provider comes to know the thread's history, and hand out the plan."
    )
    @staticmethod
    async def start_run(info: Info, input: StartRun) -> payloads.StartRunPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.start_run(input, info.context.limits)
        result = await info.context.commands.start_run(key, wanted)
        plan = _started(info, result)
        return payloads.StartRunPayload(client_mutation_id=key, run=result.run, plan=plan)

    @strawberry.mutation(
        description="Report that the provider accepted the turn of a run, or that it failed: then it is planned anew."
    )
    @staticmethod
    async def report_run_started(info: Info, input: ReportRunStarted) -> payloads.ReportRunStartedPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.report_run_started(input, info.context.limits)
        result = await info.context.commands.report_run_started(key, wanted)
        plan = _started(info, result)
        return payloads.ReportRunStartedPayload(client_mutation_id=key, run=result.run, plan=plan)

    @strawberry.mutation(description="Add items to a run that works; its message is its first item already.")
    @staticmethod
    async def append_turn_items(info: Info, input: AppendTurnItems) -> payloads.AppendTurnItemsPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.append_turn_items(input, info.context.limits)
        result = await info.context.commands.append_turn_items(key, wanted)
        info.context.forget()
        return payloads.AppendTurnItemsPayload(client_mutation_id=key, items=result.items)

    @strawberry.mutation(description="Report that a run ended well; a checkpoint is made of it.")
    @staticmethod
    async def complete_run(info: Info, input: CompleteRun) -> payloads.CompleteRunPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.complete_run(input)
        result = await info.context.commands.complete_run(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.CompleteRunPayload(client_mutation_id=key, run=result.run, checkpoint=result.checkpoint)

    @strawberry.mutation(description="Report that a run failed.")
    @staticmethod
    async def fail_run(info: Info, input: FailRun) -> payloads.FailRunPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.end_run(input, info.context.limits)
        result = await info.context.commands.fail_run(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.FailRunPayload(client_mutation_id=key, run=result.run)

    @strawberry.mutation(description="Report that a run was stopped before it was done.")
    @staticmethod
    async def interrupt_run(info: Info, input: InterruptRun) -> payloads.InterruptRunPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.end_run(input, info.context.limits)
        result = await info.context.commands.interrupt_run(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.InterruptRunPayload(client_mutation_id=key, run=result.run)

    @strawberry.mutation(description="Tell that the executor of a run is still there, which moves `leaseUntil` on.")
    @staticmethod
    async def heartbeat_run(info: Info, input: HeartbeatRun) -> payloads.HeartbeatRunPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.heartbeat_run(input)
        result = await info.context.commands.heartbeat_run(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.HeartbeatRunPayload(client_mutation_id=key, run=result.run)

    @strawberry.mutation(
        description="Make a checkpoint of a thread's latest run, or of the one named; the run must have ended."
    )
    @staticmethod
    async def create_checkpoint(info: Info, input: CreateCheckpoint) -> payloads.CreateCheckpointPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.create_checkpoint(input, info.context.limits)
        result = await info.context.commands.create_checkpoint(key, wanted)
        info.context.forget()
        return payloads.CreateCheckpointPayload(client_mutation_id=key, checkpoint=result.checkpoint)

    @strawberry.mutation(
        description="Take a thread back to an earlier run. Later runs leave its history; nothing is deleted, and forks "
        "that were taken from them keep them."
    )
    @staticmethod
    async def rollback_thread(info: Info, input: RollbackThread) -> payloads.RollbackThreadPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.rollback_thread(input)
        result = await info.context.commands.rollback_thread(key, wanted)
        info.context.forget().threads.keep(result.thread)
        return payloads.RollbackThreadPayload(
            client_mutation_id=key, thread=result.thread, rolled_back_runs=result.rolled_back_runs
        )

    @strawberry.mutation(
        description="Bring what one thread did into another, by default into its parent: what the source has up to its "
        "latest stable point and the target has not is told with the target's next message. One that waits from the "
        "same source is superseded; with the same point it is the answer."
    )
    @staticmethod
    async def merge_back(info: Info, input: MergeBack) -> payloads.MergeBackPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.merge_back(input)
        result = await info.context.commands.merge_back(key, wanted)
        info.context.forget()
        return payloads.MergeBackPayload(client_mutation_id=key, transfer=result.transfer)

    @strawberry.mutation(
        description="Make the transfer that hands a thread to another provider, ahead of the run; nothing is built. "
        "One that waits already is the answer."
    )
    @staticmethod
    async def handoff_thread(info: Info, input: HandoffThread) -> payloads.HandoffThreadPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.handoff_thread(input)
        result = await info.context.commands.handoff_thread(key, wanted)
        info.context.forget()
        return payloads.HandoffThreadPayload(client_mutation_id=key, transfer=result.transfer)

    @strawberry.mutation(
        description="Build what a transfer will tell the next run on a provider, to be seen, and revised, before it is "
        "sent."
    )
    @staticmethod
    async def prepare_transfer(info: Info, input: PrepareTransfer) -> payloads.PrepareTransferPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.prepare_transfer(input)
        result = await info.context.commands.prepare_transfer(key, wanted)
        info.context.forget()
        return payloads.PrepareTransferPayload(client_mutation_id=key, transfer=result.transfer, handoff=result.handoff)

    @strawberry.mutation(
        description="Put a handoff that was not sent yet into other words: a new record takes its place, both stay."
    )
    @staticmethod
    async def revise_handoff(info: Info, input: ReviseHandoff) -> payloads.ReviseHandoffPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.revise_handoff(input, info.context.limits)
        result = await info.context.commands.revise_handoff(key, wanted)
        info.context.forget()
        return payloads.ReviseHandoffPayload(client_mutation_id=key, handoff=result.handoff)

    @strawberry.mutation(
        description="Spawn a subagent from a run that works: a thread below its thread, with a run to be started. When "
        "a run of it ends, its result goes back to the thread that spawned it."
    )
    @staticmethod
    async def spawn_subagent(info: Info, input: SpawnSubagent) -> payloads.SpawnSubagentPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.spawn_subagent(input, info.context.limits)
        result = await info.context.commands.spawn_subagent(key, wanted)
        plan = _started(info, result.started)
        return payloads.SpawnSubagentPayload(
            client_mutation_id=key,
            thread=result.thread,
            run=result.started.run,
            transfer=result.transfer,
            plan=plan,
        )

    @strawberry.mutation(
        description="End a subagent's run with its result, or ask for the result of one that has ended. The run that "
        "spawned it is told it by the answer if it still works; else with the next message of its thread."
    )
    @staticmethod
    async def complete_subagent(info: Info, input: CompleteSubagent) -> payloads.CompleteSubagentPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.complete_subagent(input, info.context.limits)
        result = await info.context.commands.complete_subagent(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.CompleteSubagentPayload(
            client_mutation_id=key,
            run=result.run,
            transfer=result.transfer,
            handoff=result.handoff,
            injected=result.handoff.text if result.handoff else None,
        )

    @strawberry.mutation(
        description="Stop a subagent's run, and the runs of all subagents below it; each gives back that it was "
        "cancelled. For one that has ended, its result is the answer."
    )
    @staticmethod
    async def cancel_subagent(info: Info, input: CancelSubagent) -> payloads.CancelSubagentPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.cancel_subagent(input, info.context.limits)
        result = await info.context.commands.cancel_subagent(key, wanted)
        info.context.forget().runs.keep(result.run)
        return payloads.CancelSubagentPayload(
            client_mutation_id=key, run=result.run, transfer=result.transfer, cancelled_runs=result.cancelled_runs
        )

    @strawberry.mutation(
        description="Record what a provider tells of a subagent that it started itself. Reports of one, by its native "
        "id, are joined: in any order, however often, they come to the same."
    )
    @staticmethod
    async def record_native_subagent(
        info: Info, input: RecordNativeSubagent
    ) -> payloads.RecordNativeSubagentPayload | None:
        key = mutation_key(input.client_mutation_id)
        wanted = validation.record_native_subagent(input, info.context.limits)
        result = await info.context.commands.record_native_subagent(key, wanted)
        info.context.forget()
        return payloads.RecordNativeSubagentPayload(client_mutation_id=key, node=result.node)

    @strawberry.mutation(description="Call off a transfer that waits for its target's next start.")
    @staticmethod
    async def cancel_transfer(info: Info, input: CancelTransfer) -> payloads.CancelTransferPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.cancel_transfer(input)
        result = await info.context.commands.cancel_transfer(key, wanted)
        info.context.forget()
        return payloads.CancelTransferPayload(client_mutation_id=key, transfer=result.transfer)

    @strawberry.mutation(
        description="Put a thread away, and with it the subagents below it: it can be read and takes no new work. "
        "Forks of it stay as they are and keep working."
    )
    @staticmethod
    async def archive_thread(info: Info, input: ArchiveThread) -> payloads.ArchiveThreadPayload | None:
        key, wanted = mutation_key(input.client_mutation_id), validation.archive_thread(input)
        result = await info.context.commands.archive_thread(key, wanted)
        info.context.forget().threads.keep(result.thread)
        return payloads.ArchiveThreadPayload(
            client_mutation_id=key, thread=result.thread, archived_threads=result.archived_threads
        )


def _started(info: Info, result: StartResult) -> FreshPlan | None:
    loaders = info.context.forget()
    loaders.runs.keep(result.run)
    if result.start is None:
        return None
    loaders.transfers.keep(*result.start.transfers)
    loaders.handoffs.keep(*result.start.handoffs)
    return FreshPlan(result.start)
