"""What the reads of the API give: pages, lineages and their parts."""

from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from plait.domain.model import Record, Run, SourcePoint, Thread, ThreadStatus, TurnItem

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """Part of a list. `cursors` pair with `entries`; `total` counts the whole list."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[T, ...]
    cursors: tuple[str, ...]
    total: int
    has_next: bool
    has_previous: bool


class PageRequest(BaseModel):
    """`first` after a cursor, or `last` before one. Cursors are opaque and belong to one list."""

    model_config = ConfigDict(frozen=True)

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None


class VisibleItem(Record):
    """An item of a thread's history; `inherited` when its run belongs to another thread."""

    item: TurnItem
    inherited: bool


class Direction(StrEnum):
    ANCESTORS = "ancestors"
    DESCENDANTS = "descendants"
    BOTH = "both"


class EdgeKind(StrEnum):
    FORK = "FORK"
    SUBAGENT = "SUBAGENT"
    MERGE_BACK = "MERGE_BACK"
    SUBAGENT_RESULT = "SUBAGENT_RESULT"


class LineageNode(Record):
    thread: Thread
    depth: int


class LineageEdge(Record):
    id: str
    kind: EdgeKind
    source_thread_id: str
    target_thread_id: str
    transfer_id: str
    created_at: datetime


class Lineage(BaseModel):
    """A page of a lineage: the nodes, and every edge that leads to one of them from a node of the whole answer."""

    model_config = ConfigDict(frozen=True)

    page: Page[LineageNode]
    edges: tuple[LineageEdge, ...]
    truncated: bool


class RunsAlone(BaseModel):
    """What one history has beyond another: how many runs and tokens (of whole runs), and the first runs of it."""

    model_config = ConfigDict(frozen=True)

    total: int
    tokens: int
    runs: tuple[Run, ...]


class Comparison(BaseModel):
    """Two histories: the last point they share, and what each has alone."""

    model_config = ConfigDict(frozen=True)

    merge_base: SourcePoint | None
    base_only: RunsAlone
    head_only: RunsAlone


class ThreadFilter(Record):
    status: ThreadStatus | None = None
    root_thread_id: str | None = None
    parent_thread_id: str | None = None
    provider: str | None = None
