"""Putting threads away: which threads go together, and when they may not."""

from collections.abc import Iterable

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import Thread, ThreadStatus


def require_idle(threads: Iterable[Thread]) -> None:
    """Raises `Refused` with `THREAD_BUSY` when a run works in one of them."""
    for thread in threads:
        if thread.active_run_id is not None:
            raise Refused(
                ErrorCode.THREAD_BUSY,
                f"Thread {thread.id} is busy with run {thread.active_run_id}; interrupt it or wait until it ends.",
                retryable=True,
            )


def to_archive(threads: Iterable[Thread]) -> tuple[str, ...]:
    """The ids of those that are not archived yet."""
    return tuple(thread.id for thread in threads if thread.status is not ThreadStatus.ARCHIVED)
