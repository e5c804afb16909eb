"""Rolling back: to which run a thread may go back, and which transfers wait anew or no more."""

from collections.abc import Collection

from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.model import Record, Run, RunStatus, Thread, Transfer, TransferType

_ORIGIN = 0
"""The position before a thread's first run: there is the point it was forked from."""

_OF_THE_THREAD = (TransferType.FORK, TransferType.SUBAGENT_SPAWN)
"""Transfers that made their target: it is what it is by their point, which it keeps whatever becomes of the source."""


def position_to_keep(thread: Thread, run: Run) -> int:
    """The position of the last run that stays; 0 where the run is the point that the thread was forked from.

    Raises `Refused` (`THREAD_BUSY`, `RUN_ROLLED_BACK`, `RUN_NOT_STARTED`) or `InvalidInput` when the run is neither
    of the thread nor its origin.
    """
    if thread.active_run_id is not None:
        raise Refused(
            ErrorCode.THREAD_BUSY,
            f"Thread {thread.id} is busy with run {thread.active_run_id}; interrupt it or wait until it ends.",
            retryable=True,
        )
    if run.id == thread.origin_run_id:
        return _ORIGIN
    if run.thread_id != thread.id:
        raise InvalidInput(
            f"Run {run.id} belongs to thread {run.thread_id}. A thread goes back to a run of its own or to the point "
            "it was forked from; fork the thread to go back further."
        )
    if run.status is RunStatus.ROLLED_BACK:
        raise Refused(
            ErrorCode.RUN_ROLLED_BACK,
            f"Run {run.id} was rolled back itself. Name an earlier run, which is still there.",
        )
    if run.started_at is None:
        raise Refused(ErrorCode.RUN_NOT_STARTED, f"Run {run.id} never reached a provider: it is in no history.")
    return run.position


class Spent(Record):
    """A transfer that a rolled-back run had consumed. `gone`: its source was rolled back as well."""

    transfer: Transfer
    gone: bool


class Touched(Record):
    """What a rollback may concern: transfers its runs had consumed, those that wait in the thread, those elsewhere."""

    consumed: tuple[Spent, ...] = ()
    waiting: tuple[Transfer, ...] = ()
    leaving: tuple[Transfer, ...] = ()


class Aftermath(Record):
    """What a rollback means for transfers: those that are to be made anew, and those that nobody should use."""

    anew: tuple[Transfer, ...] = ()
    superseded: tuple[Transfer, ...] = ()


def aftermath(touched: Touched, rolled_back: Collection[str]) -> Aftermath:
    """Sorts the transfers that a rollback of the runs `rolled_back` (ids) concerns; each kind comes oldest first.

    What a run had consumed waits anew, from the same points, unless its source was rolled back as well. What comes from
    such a run and waits is superseded, so is the result of a subagent that such a run spawned; but a fork or a child
    that was made from it keeps working.
    """

    def asked_by_rolled_back(transfer: Transfer) -> bool:
        return transfer.type is TransferType.SUBAGENT_RESULT and transfer.base_run_id in rolled_back

    anew = tuple(
        spent.transfer for spent in touched.consumed if not spent.gone and not asked_by_rolled_back(spent.transfer)
    )
    superseded = tuple(
        transfer
        for transfer in touched.waiting
        if (transfer.source_run_id in rolled_back and transfer.type not in _OF_THE_THREAD)
        or asked_by_rolled_back(transfer)
    )
    return Aftermath(anew=anew, superseded=superseded + touched.leaving)
