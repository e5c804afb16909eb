"""Native children: what a provider tells of the subagents it started itself, and a thread made of one on request."""

import asyncio

from plait.commands.contracts import ObservedResult, RecordNativeSubagent
from plait.commands.ending import end_run
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import LockedRun, lock_run, require_open
from plait.commands.resolution import consume
from plait.commands.spawning import make_child
from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.ids import IdKind
from plait.domain.model import (
    ExecutionNode,
    Executor,
    ItemKind,
    ItemStatus,
    NodeStatus,
    ProviderThread,
    ProviderThreadStatus,
    Run,
    RunStatus,
    Strategy,
    Thread,
    TurnItem,
)
from plait.domain.observed import joined, require_ended
from plait.domain.tokens import count_tokens
from plait.domain.transfers import consumption
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_NODE = service_statement("execution_node")
_STORE = service_statement("store_execution_node")
_START = service_statement("start_run")
_ACCEPT = service_statement("accept_run")
_APPEND = service_statement("append_items")
_CODEC = Codec(ObservedResult)

_ENDS = {
    NodeStatus.COMPLETED: RunStatus.COMPLETED,
    NodeStatus.FAILED: RunStatus.FAILED,
    NodeStatus.CANCELLED: RunStatus.INTERRUPTED,
    NodeStatus.UNKNOWN: RunStatus.INTERRUPTED,
}


async def record_native_subagent(box: Toolbox, key: str | None, given: RecordNativeSubagent) -> ObservedResult:
    """What is known of a native child, with this report; and with `promote` the thread that is made of it.

    The run may have ended: a provider tells of its children when it does. Raises `NotFound`, `InvalidInput`, and
    `Refused` with `RUN_NOT_STARTED`, `RUN_ACTIVE` (to be promoted and still at work), `THREAD_ARCHIVED` or `ID_TAKEN`
    (its native thread stands behind another thread).
    """

    async def work(unit: Unit) -> ObservedResult:
        if given.native_id == given.native_parent_id:
            raise InvalidInput("A child can't have started itself: nativeId and nativeParentId are the same.")
        locked = await lock_run(unit, given.run_id)
        if locked.run.started_at is None:
            raise Refused(
                ErrorCode.RUN_NOT_STARTED, f"No provider ever accepted run {locked.run.id}: it has no native children."
            )
        row = await unit.tx.demand(_NODE, provider=locked.run.provider, nativeId=given.native_id)
        known = ExecutionNode.model_validate(row["node"]) if row["node"] else None
        node = joined(known, _told(unit, locked.run, given))
        if given.promote and node.promoted_thread_id is None:
            require_ended(node)
            require_open(locked.thread)
            thread = await _promote(box, unit, locked, node)
            node = node.model_copy(update={"promoted_thread_id": thread.id})
        row = await unit.tx.demand(_STORE, node=properties(node))
        stored = ExecutionNode.model_validate(row["node"])
        unit.record(
            "subagent.observed",
            locked.thread,
            run_id=given.run_id,
            data={
                "nodeId": stored.id,
                "nativeId": stored.native_id,
                "status": stored.status.value,
                "promotedThreadId": stored.promoted_thread_id,
            },
        )
        return ObservedResult(node=stored)

    return await execute(box, "recordNativeSubagent", key, given, _CODEC, work)


def _told(unit: Unit, run: Run, given: RecordNativeSubagent) -> ExecutionNode:
    return ExecutionNode(
        id=new_id(IdKind.EXECUTION_NODE),
        run_id=run.id,
        thread_id=run.thread_id,
        position=run.position,
        provider=run.provider,
        native_id=given.native_id,
        native_parent_id=given.native_parent_id,
        title=given.title,
        task=given.task,
        status=given.status,
        result=given.result,
        created_at=unit.now,
        updated_at=unit.now,
    )


async def _promote(box: Toolbox, unit: Unit, locked: LockedRun, node: ExecutionNode) -> Thread:
    """A thread of one run: what the child was asked and what it gave, with its native thread behind it.

    Its provider knows all that as it is, so the run was accepted and nothing is to be told.
    """
    thread, transfer = await make_child(unit, locked.thread, locked.run, None, thread_id=None, title=node.title)
    run = await _accepted(box, unit, thread, node)
    native = consumption(transfer, run, Strategy.NATIVE_FORK, unit.now, nativeThreadId=node.native_id)
    await consume(unit, run, {transfer.id: native})
    status = _ENDS[node.status]
    reason = None if status is RunStatus.COMPLETED else node.result or f"The provider says: {node.status.value}."
    await end_run(unit, LockedRun(thread=thread, run=run), status, gives_back=False, reason=reason)
    return thread


async def _accepted(box: Toolbox, unit: Unit, thread: Thread, node: ExecutionNode) -> Run:
    """The run of a promoted child, with its task and its answer."""
    task = node.task or node.title or f"Task of native subagent {node.native_id}"
    texts = [task, node.result] if node.status is NodeStatus.COMPLETED and node.result else [task]
    # Counting the tokens of a long text takes a while: not on the event loop.
    tokens = await asyncio.to_thread(lambda: [count_tokens(text) for text in texts])
    run = Run(
        id=new_id(IdKind.RUN),
        thread_id=thread.id,
        position=1,
        generation=1,
        provider=node.provider,
        executor=Executor.CLIENT,
        status=RunStatus.STARTING,
        created_at=unit.now,
        item_count=1,
        tokens=tokens[0],
    )
    kinds = (ItemKind.USER_MESSAGE, ItemKind.ASSISTANT_MESSAGE)
    items = [
        TurnItem(
            id=new_id(IdKind.ITEM),
            run_id=run.id,
            thread_id=run.thread_id,
            position=position,
            kind=kind,
            status=ItemStatus.FINISHED,
            text=text,
            tokens=count,
            created_at=unit.now,
        )
        for position, (kind, text, count) in enumerate(zip(kinds, texts, tokens, strict=False), 1)
    ]
    lease = box.lease_milliseconds
    await unit.tx.demand(
        _START, threadId=thread.id, run=properties(run), item=properties(items[0]), leaseMilliseconds=lease
    )
    provider_thread = ProviderThread(
        id=new_id(IdKind.PROVIDER_THREAD),
        thread_id=thread.id,
        provider=node.provider,
        native_thread_id=node.native_id,
        status=ProviderThreadStatus.ACTIVE,
        tip_run_id=run.id,
        tip_position=run.position,
        turns=0,
        ended_turns=0,
        created_at=unit.now,
    )
    row = await unit.tx.demand(
        _ACCEPT,
        threadId=thread.id,
        runId=run.id,
        previousRunId=None,
        providerThread=properties(provider_thread),
        nativeTurnId=None,
        leaseMilliseconds=lease,
        forkedFromId=None,
        forkedThroughRunId=None,
        handoffIds=[],
        adds=None,
        leaves=None,
        now=unit.now,
    )
    if items[1:]:
        row = await unit.tx.demand(
            _APPEND,
            threadId=thread.id,
            runId=run.id,
            created=[properties(item) for item in items[1:]],
            updated=[],
            addedTokens=sum(item.tokens for item in items[1:]),
            leaseMilliseconds=lease,
        )
    return Run.model_validate(row["run"])
