"""The way between two threads: one of the shortest, always the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from plait.domain.model import Thread
from plait.graph.database import Row
from plait.graph.pages import EdgeKind, LineageEdge

_KINDS = {kind: place for place, kind in enumerate(EdgeKind)}

Edge = dict[str, Any]
Steps = Mapping[tuple[str, str], Edge]


class LineagePath(BaseModel):
    """Threads from one to another, and the edge of each step, which may point either way."""

    model_config = ConfigDict(frozen=True)

    threads: tuple[Thread, ...]
    edges: tuple[LineageEdge, ...]


def path_of(row: Row) -> LineagePath | None:
    """The way that `lineage_path.cypher` found, none where there is none.

    Where it gives several, each step goes to the thread of the lowest generation, and then of the lowest id.
    """
    if row["layers"] is None:
        return None
    steps = _steps(row["edges"])
    threads, edges = [row["layers"][0][0]], list[Edge]()
    for layer in row["layers"][1:]:
        here = threads[-1]["id"]
        # Whichever is taken leads on: a layer has no thread that is on no shortest way.
        there = min(
            (thread for thread in layer if _pair(here, thread["id"]) in steps),
            key=lambda thread: (thread["generation"], thread["id"]),
        )
        threads.append(there)
        edges.append(steps[_pair(here, there["id"])])
    return LineagePath(
        threads=tuple(Thread.model_validate(thread) for thread in threads),
        edges=tuple(LineageEdge.model_validate(edge) for edge in edges),
    )


def _steps(edges: Sequence[Edge]) -> Steps:
    """One edge for each two threads: what made one of them comes before merges and results, then the lowest id."""
    steps: dict[tuple[str, str], Edge] = {}
    for edge in sorted(edges, key=lambda edge: (_KINDS[EdgeKind(edge["kind"])], edge["id"])):
        steps.setdefault(_pair(edge["sourceThreadId"], edge["targetThreadId"]), edge)
    return steps


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)
