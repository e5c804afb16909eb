"""Lineage: the threads around one thread and the edges between them."""

from datetime import datetime

import strawberry

from plait.api.connections import PageInfo, page_info
from plait.api.types.thread import Thread
from plait.domain import model as records
from plait.graph import pages
from plait.graph.pages import EdgeKind


@strawberry.type(description="A thread of a lineage.")
class LineageNode:
    thread: records.Thread = strawberry.field(graphql_type=Thread, description="The thread.")
    depth: int = strawberry.field(description="How many edges it is away from the thread that was asked for.")


@strawberry.type(description="A flow of context between two threads; it points the way the context went.")
class LineageEdge:
    id: strawberry.ID = strawberry.field(description="The edge's id, the same in every answer.")
    kind: EdgeKind = strawberry.field(description="How context flowed.")
    source_thread_id: strawberry.ID = strawberry.field(description="The thread context came from.")
    target_thread_id: strawberry.ID = strawberry.field(description="The thread context went into.")
    transfer_id: strawberry.ID = strawberry.field(description="The transfer that carried it.")
    created_at: datetime = strawberry.field(description="When the edge was made.")


@strawberry.type(description="A page of the threads around one thread, each once, with the edges between them.")
class Lineage:
    nodes: tuple[pages.LineageNode, ...] = strawberry.field(
        graphql_type=list[LineageNode], description="The threads of this page, parents before what came from them."
    )
    edges: tuple[pages.LineageEdge, ...] = strawberry.field(
        graphql_type=list[LineageEdge],
        description="Every edge into a thread of this page; all pages together have every edge of the lineage once.",
    )
    page_info: PageInfo = strawberry.field(description="Where this page lies in the lineage.")
    total_count: int = strawberry.field(description="How many threads the whole lineage has, within `maxDepth`.")
    truncated: bool = strawberry.field(description="True when anything of the lineage is missing from this answer.")

    @staticmethod
    def of(lineage: pages.Lineage) -> "Lineage":
        page = lineage.page
        return Lineage(
            nodes=page.entries,
            edges=lineage.edges,
            page_info=page_info(page),
            total_count=page.total,
            truncated=lineage.truncated,
        )


@strawberry.type(description="The shortest way between two threads along lineage edges.")
class LineagePath:
    threads: tuple[records.Thread, ...] = strawberry.field(
        graphql_type=list[Thread], description="The threads on the way, in order, both ends included."
    )
    edges: tuple[pages.LineageEdge, ...] = strawberry.field(
        graphql_type=list[LineageEdge],
        description="The edge from each thread to the next, in the same order; it may point either way.",
    )
