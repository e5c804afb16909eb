"""The state machine of a transfer."""

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import Strategy, Transfer, TransferStatus

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
