"""Subagents, as the graph keeps them: nothing of the API makes them yet."""

from __future__ import annotations

from tests.support.client import Client, key
from tests.support.graph import Graph

_ADOPT = """
MATCH (parent:Thread {id: $parent}) MATCH (child:Thread {id: $child})
SET child.parentThreadId = parent.id, child.relationshipToParent = 'subagent', child.createdBy = 'agent',
    child.rootThreadId = parent.rootThreadId, child.depth = parent.depth + 1, child.generation = parent.generation + 1
CREATE (parent)-[:SUBAGENT {transferId: $transfer, createdAt: datetime()}]->(child)
"""


def subagent(service: Client, graph: Graph, parent: str) -> str:
    """A new thread that is a subagent of `parent`, with one completed run."""
    child = service.thread(title="A subagent")["id"]
    graph.rows(_ADOPT, parent=parent, child=child, transfer=f"trf_{key()}")
    service.whole_run(child, "Look it up", "Found it")
    return child
