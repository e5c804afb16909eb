"""Merging back: what one thread did is to be told to another with its next message."""

from plait.commands.contracts import MergeBack, TransferResult
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.locking import require_open
from plait.commands.resolution import make_transfer, supersede
from plait.commands.retention import put_away
from plait.domain.errors import ErrorCode, InvalidInput, NotFound, Refused
from plait.domain.ids import IdKind
from plait.domain.merging import carried, merge_point, no_common_ancestor
from plait.domain.model import Record, Thread, Transfer, TransferType
from plait.domain.transfers import LIVE, pending_transfer
from plait.graph.chains import last_point, read_chain
from plait.graph.statements import service_statement

_LOCK = service_statement("lock_merge")
_THREADS = service_statement("threads_by_id")
_CODEC = Codec(TransferResult)


class _WaitingMerge(Record):
    """A merge from the same source that no run has consumed; `in_use`: a run that starts carries it."""

    transfer: Transfer
    in_use: bool


class _Pair(Record):
    source: Thread
    target: Thread
    waiting: tuple[_WaitingMerge, ...]


async def merge_back(box: Toolbox, key: str | None, given: MergeBack) -> TransferResult:
    """A transfer of what the source has and the target has not, up to the source's latest stable point.

    It takes the place of one from the same source that still waits; where that has the same point already, it is the
    answer. Raises `NotFound`, `InvalidInput`, and `Refused` with `THREAD_ARCHIVED`, `THREAD_BUSY` (the
    source is to be archived and works), `NO_STABLE_POINT`, `NO_COMMON_ANCESTOR` or `NOTHING_TO_MERGE`.
    """

    async def work(unit: Unit) -> TransferResult:
        pair = await _lock(unit, given)
        source, target = pair.source, pair.target
        require_open(source)
        require_open(target)
        point = merge_point(source, target)
        theirs = (await read_chain(unit.tx, point.thread_id)).past_at(point.thread_id, point.mark)
        ours = (await read_chain(unit.tx, target.id)).head_past(target.id)
        shared = theirs.history.common(ours.history)
        if not shared:
            raise no_common_ancestor(source, target)
        if not carried(theirs, ours, target.id).part:
            raise _nothing(source, target)
        replaced = [waiting.transfer for waiting in pair.waiting if not waiting.in_use]
        for transfer in (waiting.transfer for waiting in pair.waiting):
            if transfer.source_run_id == point.run_id and transfer.status in LIVE:
                if given.archive_source:
                    await put_away(unit, source)
                unit.record("transfer.repeated", target, transfer_id=transfer.id)
                return TransferResult(transfer=transfer)
        transfer = await make_transfer(
            unit,
            pending_transfer(
                new_id(IdKind.TRANSFER),
                TransferType.MERGE_BACK,
                point,
                target.id,
                base=await last_point(unit.tx, shared),
                source_thread_id=source.id,
                created_by=given.created_by,
                created_at=unit.now,
            ),
        )
        await supersede(unit, replaced, transfer.id)
        archived = (await put_away(unit, source))[1] if given.archive_source else ()
        unit.record(
            "transfer.created",
            target,
            transfer_id=transfer.id,
            data={"sourceThreadId": source.id, "archivedThreads": list(archived)},
        )
        return TransferResult(transfer=transfer)

    return await execute(box, "mergeBack", key, given, _CODEC, work)


def _nothing(source: Thread, target: Thread) -> Refused:
    if source.active_run_id is not None:
        what_now = f"Its run {source.active_run_id} counts once it is completed."
    else:
        what_now = "Go on in it first."
    return Refused(
        ErrorCode.NOTHING_TO_MERGE,
        f"Thread {target.id} has, or took back itself, all that thread {source.id} did up to its latest stable point. "
        + what_now,
    )


async def _lock(unit: Unit, given: MergeBack) -> _Pair:
    """Raises `NotFound`, and `InvalidInput` where a root is to be merged into its parent."""
    row = await unit.tx.fetch(
        _LOCK, sourceThreadId=given.source_thread_id, targetThreadId=given.target_thread_id, now=unit.now
    )
    if row is not None:
        return _Pair.model_validate(row)
    named = [given.source_thread_id, *([given.target_thread_id] if given.target_thread_id else [])]
    found = {record["id"] for record in (await unit.tx.demand(_THREADS, ids=named))["records"]}
    for thread_id in named:
        if thread_id not in found:
            raise NotFound(f"There is no thread {thread_id}.")
    raise InvalidInput(f"Thread {given.source_thread_id} has no parent: name the targetThreadId.")
