"""Native children: what is known of one, joined from reports that come in any order and more than once."""

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import ExecutionNode, NodeStatus

_ORDER = {status: place for place, status in enumerate(NodeStatus)}
"""A report that knows more stands later: that it ended says more than that it works, a known end more than none."""


def joined(known: ExecutionNode | None, told: ExecutionNode) -> ExecutionNode:
    """What is known of a child after one more report of it: the same in whatever order reports come, and how often.

    A word that is missing wipes none. Of two words for one thing the longer stands, as texts grow while they are
    reported; of two equally long ones the greater, so that order does not count. The earliest run is its run.
    """
    if known is None:
        return told
    first = min(known, told, key=lambda node: (node.position, node.run_id))
    return known.model_copy(
        update={
            "run_id": first.run_id,
            "thread_id": first.thread_id,
            "position": first.position,
            "native_parent_id": _fuller(known.native_parent_id, told.native_parent_id),
            "title": _fuller(known.title, told.title),
            "task": _fuller(known.task, told.task),
            "result": _fuller(known.result, told.result),
            "status": max(known.status, told.status, key=_ORDER.__getitem__),
            "updated_at": told.updated_at,
        }
    )


def _fuller(one: str | None, other: str | None) -> str | None:
    return max((text for text in (one, other) if text is not None), key=lambda text: (len(text), text), default=None)


def require_ended(node: ExecutionNode) -> None:
    """Raises `Refused` with `RUN_ACTIVE` when a child that is to become a thread may still work."""
    if node.status is NodeStatus.RUNNING:
        raise Refused(
            ErrorCode.RUN_ACTIVE,
            f"Child {node.native_id!a} still works. Record its end first, then make a thread of it.",
        )
