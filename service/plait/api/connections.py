"""Pages of growing lists: the arguments checked, and the Relay connection types over a `Page` of the readers."""

from typing import Annotated, Any, Generic, TypeVar

import strawberry

from plait.api.services import Limits
from plait.domain.errors import ErrorCode, InvalidInput
from plait.graph.pages import Page, PageRequest

T = TypeVar("T")

DEFAULT_PAGE = 50
MAX_CURSOR = 1_000

First = Annotated[
    int | None,
    strawberry.argument(
        description="How many entries to give from the start: from 1, 50 if not said; by default 100 at most."
    ),
]
After = Annotated[str | None, strawberry.argument(description="Give entries after this cursor of the same list.")]
Last = Annotated[
    int | None,
    strawberry.argument(
        description="How many entries to give from the end: from 1, by default 100 at most; not with `first`."
    ),
]
Before = Annotated[
    str | None, strawberry.argument(description="Give entries before this cursor of the same list; goes with `last`.")
]


def page_request(
    limits: Limits, first: int | None, after: str | None, last: int | None = None, before: str | None = None
) -> PageRequest:
    """The page that was asked for. Raises `InvalidInput` where the arguments make no sense together."""
    if first is not None and last is not None:
        raise InvalidInput("Give first or last, not both.")
    if after is not None and before is not None:
        raise InvalidInput("Give after or before, not both.")
    if first is not None and before is not None:
        raise InvalidInput("before goes with last, not with first.")
    if last is not None and after is not None:
        raise InvalidInput("after goes with first, not with last.")
    _check_cursor(after, "after")
    _check_cursor(before, "before")
    if last is not None or before is not None:
        return PageRequest(last=list_size(last, "last", DEFAULT_PAGE, limits.max_page_size), before=before)
    return PageRequest(first=list_size(first, "first", DEFAULT_PAGE, limits.max_page_size), after=after)


def list_size(value: int | None, field: str, default: int, largest: int) -> int:
    """A count of entries within its limits. Raises `InvalidInput` naming `field`."""
    if value is None:
        return min(default, largest)
    if value < 1:
        raise InvalidInput(f"{field} must be at least 1, got {value}.")
    if value > largest:
        raise InvalidInput(f"{field} must be at most {largest}, got {value}.", ErrorCode.LIMIT_EXCEEDED)
    return value


def _check_cursor(value: str | None, field: str) -> None:
    if value is not None and not (0 < len(value) <= MAX_CURSOR and value.isascii() and value.isprintable()):
        raise InvalidInput(f"{field} is not a cursor of this list.")


@strawberry.type(description="Where a page lies in its list.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether more entries follow this page.")
    has_previous_page: bool = strawberry.field(description="Whether entries come before this page.")
    start_cursor: str | None = strawberry.field(description="Cursor of the first entry of this page.")
    end_cursor: str | None = strawberry.field(description="Cursor of the last entry of this page.")


@strawberry.type(description="An entry of a list with its cursor.")
class Edge(Generic[T]):
    node: T = strawberry.field(description="The entry.")
    cursor: str = strawberry.field(description="Opaque place of the entry in this list, for `after` and `before`.")


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = strawberry.field(description="The entries of this page, each with its cursor.")
    nodes: list[T] = strawberry.field(description="The entries of this page.")
    page_info: PageInfo = strawberry.field(description="Where this page lies in the list.")
    total_count: int = strawberry.field(description="How many entries the whole list has.")


class PageView(Generic[T]):
    """A page in the shape of `Connection`; edges are made only when asked for."""

    __slots__ = ("_page", "nodes", "total_count")

    def __init__(self, page: Page[Any], nodes: tuple[T, ...]) -> None:
        self._page = page
        self.nodes = nodes
        self.total_count = page.total

    @property
    def edges(self) -> list[Edge[T]]:
        return [Edge(node=node, cursor=cursor) for node, cursor in zip(self.nodes, self._page.cursors, strict=True)]

    @property
    def page_info(self) -> PageInfo:
        return page_info(self._page)


def view(page: Page[T]) -> PageView[T]:
    """The page with its entries as they are."""
    return PageView(page, page.entries)


def page_info(page: Page[Any]) -> PageInfo:
    return PageInfo(
        has_next_page=page.has_next,
        has_previous_page=page.has_previous,
        start_cursor=page.cursors[0] if page.cursors else None,
        end_cursor=page.cursors[-1] if page.cursors else None,
    )
