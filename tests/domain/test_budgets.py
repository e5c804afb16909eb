"""One budget for all handoffs of a start: what is small is whole, what is large shares, and the sum never grows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.domain.budgets import shares_of


@pytest.mark.parametrize(
    ("needs", "budget", "given_"),
    [
        ([500], 1000, (1000,)),
        ([5000], 1000, (1000,)),
        ([100, 200], 1000, (450, 550)),
        ([5000, 100], 1000, (900, 100)),
        ([5000, 5000], 1000, (500, 500)),
        ([], 1000, ()),
    ],
)
def test_examples(needs: list[int], budget: int, given_: tuple[int, ...]) -> None:
    assert shares_of(needs, budget) == given_


@given(st.lists(st.integers(0, 10_000), max_size=30), st.integers(0, 50_000))
def test_never_more_than_the_budget_and_never_less_than_a_need_while_there_is_room(
    needs: list[int], budget: int
) -> None:
    found = shares_of(needs, budget)

    assert sum(found) <= budget
    if sum(needs) <= budget:
        assert all(share >= need for share, need in zip(found, needs, strict=True))
    else:
        fair = budget // len(needs)
        assert all(share >= min(need, fair) for share, need in zip(found, needs, strict=True))
