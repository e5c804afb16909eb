"""Sharing a budget of tokens: between the parts of a handoff, and between the handoffs of a start."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def share_out(room: int, wants: Mapping[K, int], weights: Mapping[K, int]) -> dict[K, int]:
    """Divide `room` by weight; whoever wants less than its share gets that, and the rest is divided anew."""
    shares: dict[K, int] = dict.fromkeys(wants, 0)
    open_keys: list[K] = [key for key, want in wants.items() if want > 0]
    room = max(0, room)
    while open_keys:
        total = sum(weights[key] for key in open_keys)
        content = [key for key in open_keys if wants[key] * total <= room * weights[key]]
        if not content:
            for key in open_keys:
                shares[key] = room * weights[key] // total
            break
        for key in content:
            shares[key] = wants[key]
            room -= wants[key]
        open_keys = [key for key in open_keys if key not in content]
    return shares


def shares_of(needs: Sequence[int], budget: int) -> tuple[int, ...]:
    """What each of several needs gets of a budget, all in tokens: what it needs, or else a fair share.

    What nobody needs goes to all in equal parts. The sum is never more than the budget.
    """
    wants = dict(enumerate(needs))
    shares = share_out(budget, wants, dict.fromkeys(wants, 1))
    spare = (budget - sum(shares.values())) // len(needs) if needs else 0
    return tuple(share + spare for share in shares.values())
