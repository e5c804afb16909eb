"""Page arguments: which make sense, and what is read for them."""

from __future__ import annotations

from typing import Any

import pytest

from plait.api.connections import page_request, view
from plait.api.services import Limits
from plait.domain.errors import InvalidInput
from plait.graph.pages import Page

LIMITS = Limits(max_page_size=100)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({}, {"first": 50}),
        ({"first": 1}, {"first": 1}),
        ({"first": 100, "after": "c"}, {"first": 100, "after": "c"}),
        ({"after": "c"}, {"first": 50, "after": "c"}),
        ({"last": 3}, {"last": 3}),
        ({"before": "c"}, {"last": 50, "before": "c"}),
        ({"last": 100, "before": "c"}, {"last": 100, "before": "c"}),
    ],
)
def test_pages(arguments: dict[str, Any], wanted: dict[str, Any]) -> None:
    given = {"first": None, "after": None} | arguments
    assert page_request(LIMITS, **given).model_dump(exclude_none=True) == wanted


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"first": 1, "last": 1}, "INVALID_INPUT"),
        ({"first": 0}, "INVALID_INPUT"),
        ({"last": 0}, "INVALID_INPUT"),
        ({"first": -5}, "INVALID_INPUT"),
        ({"first": 101}, "LIMIT_EXCEEDED"),
        ({"last": 101}, "LIMIT_EXCEEDED"),
        ({"first": 1, "before": "c"}, "INVALID_INPUT"),
        ({"last": 1, "after": "c"}, "INVALID_INPUT"),
        ({"after": "c", "before": "c"}, "INVALID_INPUT"),
        ({"after": ""}, "INVALID_INPUT"),
        ({"after": "c" * 1_001}, "INVALID_INPUT"),
        ({"before": "\n"}, "INVALID_INPUT"),
    ],
)
def test_pages_that_make_no_sense(arguments: dict[str, Any], code: str) -> None:
    given = {"first": None, "after": None} | arguments
    with pytest.raises(InvalidInput) as refused:
        page_request(LIMITS, **given)
    assert refused.value.code == code


def test_a_small_limit_bounds_the_default() -> None:
    assert page_request(Limits(max_page_size=10), None, None).first == 10


def test_a_page_as_a_connection() -> None:
    shown = view(Page[str](entries=("a", "b"), cursors=("1", "2"), total=9, has_next=True, has_previous=False))
    assert [(edge.node, edge.cursor) for edge in shown.edges] == [("a", "1"), ("b", "2")]
    assert (shown.page_info.start_cursor, shown.page_info.end_cursor, shown.total_count) == ("1", "2", 9)


def test_an_empty_page_as_a_connection() -> None:
    shown = view(Page[str](entries=(), cursors=(), total=0, has_next=False, has_previous=False))
    assert shown.edges == []
    assert (shown.page_info.start_cursor, shown.page_info.end_cursor) == (None, None)
