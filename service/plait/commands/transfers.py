"""Calling off a transfer."""

from plait.commands.contracts import CancelTransfer, TransferResult
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.commands.resolution import supersede
from plait.domain.errors import ErrorCode, NotFound, Refused
from plait.domain.model import Run, Thread, Transfer
from plait.domain.transfers import LIVE
from plait.graph.statements import service_statement

_TRANSFER = service_statement("transfer")
_SET = service_statement("set_transfer")
_RUNS = service_statement("runs_by_id")
_CODEC = Codec(TransferResult)


async def cancel_transfer(box: Toolbox, key: str | None, given: CancelTransfer) -> TransferResult:
    """Calls off a transfer that no run has consumed: it is superseded, and says so.

    A thread keeps the history it was made with: when its first run starts after all, a new transfer from the same
    points takes the place of the cancelled one.

    Raises `NotFound`, and `Refused` with `TRANSFER_NOT_PENDING` or `THREAD_BUSY` (a run is starting on it).
    """

    async def work(unit: Unit) -> TransferResult:
        target = (await _read(unit, given.transfer_id)).target_thread_id
        thread = await unit.lock_thread(target)
        transfer = await _read(unit, given.transfer_id)
        if transfer.status not in LIVE:
            raise Refused(ErrorCode.TRANSFER_NOT_PENDING, f"Transfer {transfer.id} is {transfer.status.value} already.")
        if await _starts_on_it(unit, thread, transfer):
            raise Refused(
                ErrorCode.THREAD_BUSY,
                f"Run {thread.active_run_id} of thread {thread.id} is starting on this transfer; end the run first.",
                retryable=True,
            )
        await supersede(unit, (transfer,), None)
        row = await unit.tx.demand(
            _SET,
            transferId=transfer.id,
            properties={
                "failureCode": "CANCELLED",
                "failureMessage": "The transfer was called off before any run consumed it.",
            },
        )
        unit.record("transfer.cancelled", thread, transfer_id=transfer.id)
        return TransferResult(transfer=Transfer.model_validate(row["transfer"]))

    return await execute(box, "cancelTransfer", key, given, _CODEC, work)


async def _starts_on_it(unit: Unit, thread: Thread, transfer: Transfer) -> bool:
    """Whether a run of the target has a plan that uses the transfer."""
    if thread.active_run_id is None:
        return False
    row = await unit.tx.demand(_RUNS, ids=[thread.active_run_id])
    return transfer.id in Run.model_validate(row["records"][0]).transfer_ids


async def _read(unit: Unit, transfer_id: str) -> Transfer:
    row = await unit.tx.fetch(_TRANSFER, transferId=transfer_id)
    if row is None:
        raise NotFound(f"There is no transfer {transfer_id}.")
    return Transfer.model_validate(row["transfer"])
