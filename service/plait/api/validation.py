"""From what a client sent to what a command takes: every input is checked here, before any command."""

from plait.api import checks, inputs
from plait.api.services import Limits
from plait.commands import contracts
from plait.domain.errors import ErrorCode, InvalidInput
from plait.domain.ids import IdKind
from plait.graph.pages import ThreadFilter

MAX_TITLE = 500
MAX_LABEL = 200
MAX_MODEL = 200
MAX_NATIVE_ID = 500
MAX_SEARCH = 200
MAX_CODE = 100
MAX_COMMIT = 200


def create_thread(given: inputs.CreateThreadInput) -> contracts.CreateThread:
    return contracts.CreateThread(
        id=checks.optional_id(given.id, IdKind.THREAD, "id"), title=_title(given.title), created_by=given.created_by
    )


def fork_thread(given: inputs.ForkThreadInput) -> contracts.ForkThread:
    return contracts.ForkThread(
        id=checks.optional_id(given.id, IdKind.THREAD, "id"),
        source_thread_id=checks.record_id(given.source_thread_id, IdKind.THREAD, "sourceThreadId"),
        point=_point(given.point),
        title=_title(given.title),
        created_by=given.created_by,
    )


def _point(given: inputs.PointInput | None) -> contracts.PointInput:
    if given is None:
        return contracts.PointInput()
    if sum(id is not None for id in (given.run_id, given.checkpoint_id, given.turn_item_id)) > 1:
        raise InvalidInput("point takes at most one of runId, checkpointId and turnItemId.")
    return contracts.PointInput(
        run_id=checks.optional_id(given.run_id, IdKind.RUN, "point.runId"),
        checkpoint_id=checks.optional_id(given.checkpoint_id, IdKind.CHECKPOINT, "point.checkpointId"),
        turn_item_id=checks.optional_id(given.turn_item_id, IdKind.ITEM, "point.turnItemId"),
    )


def start_run(given: inputs.StartRunInput, limits: Limits) -> contracts.StartRun:
    return contracts.StartRun(
        id=checks.optional_id(given.id, IdKind.RUN, "id"),
        thread_id=checks.record_id(given.thread_id, IdKind.THREAD, "threadId"),
        provider=checks.provider_key(given.provider),
        model=checks.optional_line(given.model, "model", MAX_MODEL),
        message=checks.filled_text(given.message, "message", limits.max_text_bytes),
        executor=given.executor,
        strategy=given.strategy,
    )


def report_run_started(given: inputs.ReportRunStartedInput, limits: Limits) -> contracts.ReportRunStarted:
    failure = given.failure and contracts.StartFailure(
        code=checks.line(given.failure.code, "failure.code", MAX_CODE),
        message=checks.text(given.failure.message, "failure.message", limits.max_text_bytes),
    )
    return contracts.ReportRunStarted(
        run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"),
        native_thread_id=checks.optional_line(given.native_thread_id, "nativeThreadId", MAX_NATIVE_ID),
        native_turn_id=checks.optional_line(given.native_turn_id, "nativeTurnId", MAX_NATIVE_ID),
        failure=failure,
    )


def append_turn_items(given: inputs.AppendTurnItemsInput, limits: Limits) -> contracts.AppendTurnItems:
    run_id = checks.record_id(given.run_id, IdKind.RUN, "runId")
    if not given.items:
        raise InvalidInput("items must hold at least one item.")
    if len(given.items) > limits.max_list:
        raise InvalidInput(
            f"items may hold {limits.max_list} items at most, got {len(given.items)}.", ErrorCode.LIMIT_EXCEEDED
        )
    items = tuple(_item(item, f"items[{index}]", limits.max_text_bytes) for index, item in enumerate(given.items))
    places: dict[str, int] = {}
    for index, item in enumerate(items):
        if item.id is not None and places.setdefault(item.id, index) != index:
            raise InvalidInput(f"items[{index}].id is that of items[{places[item.id]}].")
    return contracts.AppendTurnItems(run_id=run_id, items=items)


def _item(given: inputs.TurnItemInput, place: str, max_bytes: int) -> contracts.NewItem:
    return contracts.NewItem(
        id=checks.optional_id(given.id, IdKind.ITEM, f"{place}.id"),
        kind=given.kind,
        text=checks.optional_text(given.text, f"{place}.text", max_bytes),
        data=checks.json_value(given.data, f"{place}.data", max_bytes),
        streaming=given.streaming,
    )


def complete_run(given: inputs.CompleteRunInput) -> contracts.EndRun:
    usage = given.usage and contracts.Usage(
        input_tokens=checks.count(given.usage.input_tokens, "usage.inputTokens"),
        output_tokens=checks.count(given.usage.output_tokens, "usage.outputTokens"),
    )
    return contracts.EndRun(run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"), usage=usage)


def end_run(given: inputs.FailRunInput | inputs.InterruptRunInput, limits: Limits) -> contracts.EndRun:
    return contracts.EndRun(
        run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"),
        reason=checks.optional_text(given.reason, "reason", limits.max_text_bytes),
    )


def heartbeat_run(given: inputs.HeartbeatRunInput) -> contracts.HeartbeatRun:
    return contracts.HeartbeatRun(run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"))


def create_checkpoint(given: inputs.CreateCheckpointInput, limits: Limits) -> contracts.CreateCheckpoint:
    workspace = given.workspace and contracts.Workspace(
        vcs=checks.line(given.workspace.vcs, "workspace.vcs", MAX_CODE),
        commit=checks.line(given.workspace.commit, "workspace.commit", MAX_COMMIT),
    )
    return contracts.CreateCheckpoint(
        thread_id=checks.record_id(given.thread_id, IdKind.THREAD, "threadId"),
        run_id=checks.optional_id(given.run_id, IdKind.RUN, "runId"),
        label=checks.line(given.label, "label", MAX_LABEL),
        summary=checks.optional_text(given.summary, "summary", limits.max_text_bytes),
        workspace=workspace,
    )


def rollback_thread(given: inputs.RollbackThreadInput) -> contracts.RollbackThread:
    if (given.to_run_id is None) == (given.to_checkpoint_id is None):
        raise InvalidInput("Give either toRunId or toCheckpointId.")
    return contracts.RollbackThread(
        thread_id=checks.record_id(given.thread_id, IdKind.THREAD, "threadId"),
        to_run_id=checks.optional_id(given.to_run_id, IdKind.RUN, "toRunId"),
        to_checkpoint_id=checks.optional_id(given.to_checkpoint_id, IdKind.CHECKPOINT, "toCheckpointId"),
    )


def merge_back(given: inputs.MergeBackInput) -> contracts.MergeBack:
    return contracts.MergeBack(
        source_thread_id=checks.record_id(given.source_thread_id, IdKind.THREAD, "sourceThreadId"),
        target_thread_id=checks.optional_id(given.target_thread_id, IdKind.THREAD, "targetThreadId"),
        archive_source=given.archive_source,
        created_by=given.created_by,
    )


def handoff_thread(given: inputs.HandoffThreadInput) -> contracts.HandoffThread:
    return contracts.HandoffThread(
        thread_id=checks.record_id(given.thread_id, IdKind.THREAD, "threadId"),
        provider=checks.provider_key(given.provider),
    )


def prepare_transfer(given: inputs.PrepareTransferInput) -> contracts.PrepareTransfer:
    return contracts.PrepareTransfer(
        transfer_id=checks.record_id(given.transfer_id, IdKind.TRANSFER, "transferId"),
        provider=checks.provider_key(given.provider),
    )


def revise_handoff(given: inputs.ReviseHandoffInput, limits: Limits) -> contracts.ReviseHandoff:
    return contracts.ReviseHandoff(
        handoff_id=checks.record_id(given.handoff_id, IdKind.HANDOFF, "handoffId"),
        text=checks.filled_text(given.text, "text", limits.max_text_bytes),
    )


def spawn_subagent(given: inputs.SpawnSubagentInput, limits: Limits) -> contracts.SpawnSubagent:
    return contracts.SpawnSubagent(
        id=checks.optional_id(given.id, IdKind.THREAD, "id"),
        run_id=checks.optional_id(given.run_id, IdKind.RUN, "runId"),
        parent_run_id=checks.record_id(given.parent_run_id, IdKind.RUN, "parentRunId"),
        task=checks.filled_text(given.task, "task", limits.max_text_bytes),
        provider=checks.provider_key(given.provider),
        model=checks.optional_line(given.model, "model", MAX_MODEL),
        context=given.context,
        title=_title(given.title),
        executor=given.executor,
    )


def complete_subagent(given: inputs.CompleteSubagentInput, limits: Limits) -> contracts.CompleteSubagent:
    return contracts.CompleteSubagent(
        run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"),
        result=checks.optional_text(given.result, "result", limits.max_text_bytes),
        to_running_run=given.to_running_run,
    )


def cancel_subagent(given: inputs.CancelSubagentInput, limits: Limits) -> contracts.CancelSubagent:
    return contracts.CancelSubagent(
        run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"),
        reason=checks.optional_text(given.reason, "reason", limits.max_text_bytes),
    )


def record_native_subagent(given: inputs.RecordNativeSubagentInput, limits: Limits) -> contracts.RecordNativeSubagent:
    return contracts.RecordNativeSubagent(
        run_id=checks.record_id(given.run_id, IdKind.RUN, "runId"),
        native_id=checks.line(given.native_id, "nativeId", MAX_NATIVE_ID),
        native_parent_id=checks.optional_line(given.native_parent_id, "nativeParentId", MAX_NATIVE_ID),
        title=_title(given.title),
        task=checks.optional_text(given.task, "task", limits.max_text_bytes),
        status=given.status,
        result=checks.optional_text(given.result, "result", limits.max_text_bytes),
        promote=given.promote,
    )


def cancel_transfer(given: inputs.CancelTransferInput) -> contracts.CancelTransfer:
    return contracts.CancelTransfer(transfer_id=checks.record_id(given.transfer_id, IdKind.TRANSFER, "transferId"))


def archive_thread(given: inputs.ArchiveThreadInput) -> contracts.ArchiveThread:
    return contracts.ArchiveThread(thread_id=checks.record_id(given.thread_id, IdKind.THREAD, "threadId"))


def thread_filter(given: inputs.ThreadFilterInput | None) -> ThreadFilter:
    if given is None:
        return ThreadFilter()
    return ThreadFilter(
        status=given.status,
        root_thread_id=checks.optional_id(given.root_thread_id, IdKind.THREAD, "filter.rootThreadId"),
        parent_thread_id=checks.optional_id(given.parent_thread_id, IdKind.THREAD, "filter.parentThreadId"),
        provider=None if given.provider is None else checks.provider_key(given.provider, "filter.provider"),
    )


def search(given: str | None) -> str | None:
    return checks.optional_line(given, "search", MAX_SEARCH)


def model(given: str | None) -> str | None:
    return checks.optional_line(given, "model", MAX_MODEL)


def _title(given: str | None) -> str | None:
    return None if given is None else checks.title(given, "title", MAX_TITLE)
