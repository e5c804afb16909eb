"""The state machine of a transfer: exactly the moves of the rules, and no others."""

from __future__ import annotations

import pytest

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import Creator, Transfer, TransferStatus, TransferType
from plait.domain.transfers import may_move, require_move
from tests.model.pure import NOW

S = TransferStatus
ALLOWED = {
    (S.PENDING, S.RESOLVED_NATIVE),
    (S.PENDING, S.RESOLVED_PORTABLE),
    (S.PENDING, S.FAILED),
    (S.PENDING, S.SUPERSEDED),
    (S.RESOLVED_NATIVE, S.CONSUMED),
    (S.RESOLVED_NATIVE, S.FAILED),
    (S.RESOLVED_NATIVE, S.SUPERSEDED),
    (S.RESOLVED_PORTABLE, S.CONSUMED),
    (S.RESOLVED_PORTABLE, S.FAILED),
    (S.RESOLVED_PORTABLE, S.SUPERSEDED),
    (S.FAILED, S.SUPERSEDED),
}


@pytest.mark.parametrize("before", list(S))
@pytest.mark.parametrize("after", list(S))
def test_a_transfer_moves_only_along_the_machine(before: S, after: S) -> None:
    transfer = Transfer(
        id="trf",
        type=TransferType.FORK,
        status=before,
        source_thread_id="a",
        target_thread_id="b",
        source_point_thread_id="a",
        source_run_id="r",
        source_position=1,
        created_by=Creator.USER,
        created_at=NOW,
    )
    if (before, after) in ALLOWED:
        assert may_move(before, after)
        require_move(transfer, after)
        return
    assert not may_move(before, after)
    with pytest.raises(Refused) as refusal:
        require_move(transfer, after)
    assert refusal.value.code is ErrorCode.TRANSFER_NOT_PENDING
