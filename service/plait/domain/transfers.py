"""How a transfer begins, and its state machine."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import Creator, Run, SourcePoint, Strategy, Transfer, TransferStatus, TransferType

_MOVES: dict[TransferStatus, frozenset[TransferStatus]] = {
    TransferStatus.PENDING: frozenset(
        {
            TransferStatus.RESOLVED_NATIVE,
            TransferStatus.RESOLVED_PORTABLE,
            TransferStatus.FAILED,
            TransferStatus.SUPERSEDED,
        }
    ),
    TransferStatus.RESOLVED_NATIVE: frozenset(
        {TransferStatus.CONSUMED, TransferStatus.FAILED, TransferStatus.SUPERSEDED}
    ),
    TransferStatus.RESOLVED_PORTABLE: frozenset(
        {TransferStatus.CONSUMED, TransferStatus.FAILED, TransferStatus.SUPERSEDED}
    ),
    TransferStatus.FAILED: frozenset({TransferStatus.SUPERSEDED}),
    TransferStatus.CONSUMED: frozenset(),
    TransferStatus.SUPERSEDED: frozenset(),
}

LIVE = frozenset({TransferStatus.PENDING, TransferStatus.RESOLVED_NATIVE, TransferStatus.RESOLVED_PORTABLE})
"""The states in which a transfer may still be consumed."""


def pending_transfer(
    transfer_id: str,
    kind: TransferType,
    source: SourcePoint,
    target_thread_id: str,
    *,
    base: SourcePoint | None = None,
    source_thread_id: str | None = None,
    source_provider: str | None = None,
    target_provider: str | None = None,
    created_by: Creator,
    created_at: datetime,
) -> Transfer:
    """A new transfer. `source_thread_id` is the thread it was asked of, where another one owns the point."""
    return Transfer(
        id=transfer_id,
        type=kind,
        status=TransferStatus.PENDING,
        source_thread_id=source_thread_id or source.thread_id,
        target_thread_id=target_thread_id,
        source_point_thread_id=source.thread_id,
        source_run_id=source.run_id,
        source_position=source.position,
        source_checkpoint_id=source.checkpoint_id,
        source_turn_item_id=source.turn_item_id,
        source_item_position=source.item_position,
        source_native_thread_id=source.provider_thread_ref,
        source_native_turn_id=source.provider_turn_ref,
        base_thread_id=base.thread_id if base else None,
        base_run_id=base.run_id if base else None,
        base_position=base.position if base else None,
        source_provider=source_provider,
        target_provider=target_provider,
        created_by=created_by,
        created_at=created_at,
    )


def anew(
    old: Transfer,
    transfer_id: str,
    *,
    base: SourcePoint | None = None,
    target_provider: str | None = None,
    created_at: datetime,
) -> Transfer:
    """A new transfer from the same point as another, which stays as it is. `base`: none is that of the other."""
    return pending_transfer(
        transfer_id,
        old.type,
        old.source_point,
        old.target_thread_id,
        base=base or old.base_point,
        source_thread_id=old.source_thread_id,
        target_provider=target_provider,
        created_by=old.created_by,
        created_at=created_at,
    ).model_copy(update={"result_status": old.result_status, "result_text": old.result_text})


def may_move(before: TransferStatus, after: TransferStatus) -> bool:
    """Whether the machine has this move."""
    return after in _MOVES[before]


def require_move(transfer: Transfer, after: TransferStatus) -> None:
    """Raises `Refused` with `TRANSFER_NOT_PENDING` when the transfer can't move to `after`."""
    if not may_move(transfer.status, after):
        raise Refused(
            ErrorCode.TRANSFER_NOT_PENDING,
            f"Transfer {transfer.id} is {transfer.status.value} and can't become {after.value}.",
        )


def resolved_status(strategy: Strategy) -> TransferStatus:
    """The state that a resolution by `strategy` gives."""
    return TransferStatus.RESOLVED_NATIVE if strategy is Strategy.NATIVE_FORK else TransferStatus.RESOLVED_PORTABLE


class Passage(NamedTuple):
    """The states a transfer goes through at once, and the properties that change with them."""

    states: tuple[TransferStatus, ...]
    changes: Mapping[str, object]


def resolution(transfer: Transfer, strategy: Strategy, at: datetime) -> Passage:
    """A transfer is resolved by `strategy`. Raises `Refused` as `require_move`."""
    after = resolved_status(strategy)
    require_move(transfer, after)
    return Passage((after,), {"status": after.value, "strategy": strategy.value, "resolvedAt": at})


def consumption(transfer: Transfer, run: Run, strategy: Strategy, at: datetime, **how: object) -> Passage:
    """A run's provider accepted what a transfer carries; one that waits is resolved by `strategy` on the way.

    `how` is what else its resolution gives: the native thread or the handoff. Raises `Refused` as `require_move`.
    """
    passed = Passage((), {})
    if transfer.status is TransferStatus.PENDING:
        passed = resolution(transfer, strategy, at)
        transfer = transfer.model_copy(update={"status": passed.states[-1]})
        passed = passed._replace(changes={**passed.changes, **how})
    require_move(transfer, TransferStatus.CONSUMED)
    return Passage(
        (*passed.states, TransferStatus.CONSUMED),
        {
            **passed.changes,
            "status": TransferStatus.CONSUMED.value,
            "consumedAt": at,
            "consumedByRunId": run.id,
            "targetProvider": run.provider,
        },
    )
