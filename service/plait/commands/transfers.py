"""Calling off a transfer."""

from plait.commands.contracts import CancelTransfer, TransferResult
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.commands.locking import lock_waiting
from plait.commands.resolution import supersede
from plait.domain.model import TransferStatus
from plait.domain.transfers import LIVE

_CODEC = Codec(TransferResult)


async def cancel_transfer(box: Toolbox, key: str | None, given: CancelTransfer) -> TransferResult:
    """Calls off a transfer that no run has consumed: it is superseded, and says so.

    A thread keeps the history it was made with: when its first run starts after all, a new transfer from the same
    points takes the place of the cancelled one.

    Raises `NotFound`, and `Refused` with `TRANSFER_NOT_PENDING` or `THREAD_BUSY` (a run is starting on it).
    """

    async def work(unit: Unit) -> TransferResult:
        transfer, thread = await lock_waiting(unit, given.transfer_id, LIVE | {TransferStatus.FAILED})
        (cancelled,) = await supersede(
            unit,
            (transfer,),
            None,
            failureCode="CANCELLED",
            failureMessage="The transfer was called off before any run consumed it.",
        )
        unit.record("transfer.cancelled", thread, transfer_id=transfer.id)
        return TransferResult(transfer=cancelled)

    return await execute(box, "cancelTransfer", key, given, _CODEC, work)
