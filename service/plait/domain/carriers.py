"""Which transfer carries the context of a start: one that waits and fits, or a new one in its place."""

from collections.abc import Iterable

from plait.domain.model import Record, SourcePoint, Strategy, Thread, Transfer, TransferStatus, TransferType
from plait.domain.planner import StartSituation
from plait.domain.planning import Outcome, StartPlan
from plait.domain.transfers import LIVE, require_move


class Need(Record):
    """What a start asks of a transfer: its kind and its points. `base` is where a delta begins."""

    kind: TransferType
    source: SourcePoint
    base: SourcePoint | None = None

    def same_points(self, transfer: Transfer) -> bool:
        """Whether the transfer is of this kind and from the same points."""
        return (transfer.type, transfer.source_run_id, transfer.source_item_position, transfer.base_run_id) == (
            self.kind,
            self.source.run_id,
            self.source.item_position,
            self.base.run_id if self.base else None,
        )


class Succession(Record):
    """What becomes of the transfers that wait when a start makes a new one, or needs none.

    `predecessor` came from the same points: the new one takes its place, as it does of all `replaced`. Those of
    `dropped` waited for a start that never came.
    """

    predecessor: Transfer | None = None
    replaced: tuple[Transfer, ...] = ()
    dropped: tuple[Transfer, ...] = ()


def need_of(thread: Thread, situation: StartSituation, plan: StartPlan) -> Need | None:
    """The transfer a plan needs; none when the provider's thread knows all.

    A thread that has not run yet is told its origin, by the transfer that made it. After that, context that crosses
    from one provider thread to another is a `provider_handoff` from the thread's head.
    """
    if plan.outcome in (Outcome.NONE, Outcome.DELTA) and not plan.deliver:
        return None
    if thread.head_run_id is None:
        return _made_by(thread)
    head = SourcePoint(thread_id=thread.id, run_id=thread.head_run_id, position=thread.head_position)
    return Need(kind=TransferType.PROVIDER_HANDOFF, source=head, base=_base(situation, plan))


def _made_by(thread: Thread) -> Need | None:
    """What the transfer that made a thread carries: nothing for a root, and the task alone where it has no origin."""
    if thread.spawned_by is not None:
        return Need(kind=TransferType.SUBAGENT_SPAWN, source=thread.origin or thread.spawned_by)
    return Need(kind=TransferType.FORK, source=thread.origin) if thread.origin else None


def serves(transfer: Transfer, need: Need, strategy: Strategy, provider: str) -> bool:
    """Whether this transfer can carry what is needed to `provider` by `strategy`.

    A pending one can, whoever asks. A resolved one can only as it was resolved, for whom it was resolved:
    otherwise a new transfer from the same points replaces it, as after a failure.
    """
    return need.same_points(transfer) and may_carry(transfer, strategy, provider)


def may_carry(transfer: Transfer, strategy: Strategy, provider: str) -> bool:
    """Whether a transfer still can, by what became of it so far."""
    if transfer.status is TransferStatus.PENDING:
        return True
    return transfer.status in LIVE and (transfer.strategy, transfer.target_provider) == (strategy, provider)


def succession(waiting: Iterable[Transfer], need: Need | None) -> Succession:
    """Sorts the transfers that wait into those a new one replaces and those that are dropped. None leaves its machine.

    `waiting` are those no run has consumed and none has replaced; a fork's cancelled transfer is among them.
    """
    replaced: list[Transfer] = []
    dropped: list[Transfer] = []
    for transfer in waiting:
        if transfer.status is not TransferStatus.SUPERSEDED:
            require_move(transfer, TransferStatus.SUPERSEDED)
        if need is not None and need.same_points(transfer):
            replaced.append(transfer)
        elif transfer.status in LIVE:
            dropped.append(transfer)
    return Succession(predecessor=replaced[-1] if replaced else None, replaced=tuple(replaced), dropped=tuple(dropped))


def _base(situation: StartSituation, plan: StartPlan) -> SourcePoint | None:
    """The last point the base knows: a delta runs from there."""
    if plan.resume is not None:
        for known in situation.own_threads:
            if known.provider_thread.id == plan.resume.provider_thread_id:
                return known.provider_thread.tip
    turn = situation.forkable
    if plan.native_fork is not None and turn is not None:
        return SourcePoint(thread_id=turn.run.thread_id, run_id=turn.run.id, position=turn.run.position)
    return None
