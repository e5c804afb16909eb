"""All commands behind one face, for the API."""

from plait.commands import (
    checkpoints,
    fork,
    items,
    merge,
    observed,
    preparation,
    report,
    retention,
    rollback,
    runs,
    start,
    subagents,
    threads,
    transfers,
)
from plait.commands import contracts as c
from plait.commands.execution import Toolbox
from plait.domain.model import Strategy


class Commands:
    """Each method is one command; `key` is the `clientMutationId`: with the same one the first answer is given again.

    Every method raises `PlaitError` for a refusal. A refusal writes nothing, but for that of a start that no way leads
    to: the transfer that failed stays on record, with the reason.
    """

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    async def create_thread(self, key: str | None, given: c.CreateThread) -> c.ThreadResult:
        return await threads.create_thread(self._box, key, given)

    async def fork_thread(self, key: str | None, given: c.ForkThread) -> c.ForkResult:
        return await fork.fork_thread(self._box, key, given)

    async def start_run(self, key: str | None, given: c.StartRun) -> c.StartResult:
        return await start.start_run(self._box, key, given)

    async def report_run_started(self, key: str | None, given: c.ReportRunStarted) -> c.StartResult:
        return await report.report_run_started(self._box, key, given)

    async def append_turn_items(self, key: str | None, given: c.AppendTurnItems) -> c.ItemsResult:
        return await items.append_turn_items(self._box, key, given)

    async def complete_run(self, key: str | None, given: c.EndRun) -> c.RunResult:
        return await runs.complete_run(self._box, key, given)

    async def fail_run(self, key: str | None, given: c.EndRun) -> c.RunResult:
        return await runs.fail_run(self._box, key, given)

    async def interrupt_run(self, key: str | None, given: c.EndRun) -> c.RunResult:
        return await runs.interrupt_run(self._box, key, given)

    async def heartbeat_run(self, key: str | None, given: c.HeartbeatRun) -> c.RunResult:
        return await runs.heartbeat_run(self._box, key, given)

    async def create_checkpoint(self, key: str | None, given: c.CreateCheckpoint) -> c.CheckpointResult:
        return await checkpoints.create_checkpoint(self._box, key, given)

    async def rollback_thread(self, key: str | None, given: c.RollbackThread) -> c.RollbackResult:
        return await rollback.rollback_thread(self._box, key, given)

    async def merge_back(self, key: str | None, given: c.MergeBack) -> c.TransferResult:
        return await merge.merge_back(self._box, key, given)

    async def handoff_thread(self, key: str | None, given: c.HandoffThread) -> c.TransferResult:
        return await preparation.handoff_thread(self._box, key, given)

    async def prepare_transfer(self, key: str | None, given: c.PrepareTransfer) -> c.PreparedResult:
        return await preparation.prepare_transfer(self._box, key, given)

    async def revise_handoff(self, key: str | None, given: c.ReviseHandoff) -> c.HandoffResult:
        return await preparation.revise_handoff(self._box, key, given)

    async def spawn_subagent(self, key: str | None, given: c.SpawnSubagent) -> c.SpawnResult:
        return await subagents.spawn_subagent(self._box, key, given)

    async def complete_subagent(self, key: str | None, given: c.CompleteSubagent) -> c.SubagentResult:
        return await subagents.complete_subagent(self._box, key, given)

    async def cancel_subagent(self, key: str | None, given: c.CancelSubagent) -> c.SubagentResult:
        return await subagents.cancel_subagent(self._box, key, given)

    async def record_native_subagent(self, key: str | None, given: c.RecordNativeSubagent) -> c.ObservedResult:
        return await observed.record_native_subagent(self._box, key, given)

    async def cancel_transfer(self, key: str | None, given: c.CancelTransfer) -> c.TransferResult:
        return await transfers.cancel_transfer(self._box, key, given)

    async def archive_thread(self, key: str | None, given: c.ArchiveThread) -> c.ArchiveResult:
        return await retention.archive_thread(self._box, key, given)

    async def explain_start(
        self, thread_id: str, provider: str, model: str | None, strategy: Strategy | None
    ) -> c.PlannedStart:
        return await start.explain_start(self._box, thread_id, provider, model, strategy)
