"""Putting threads away: archived, a thread is read and goes on in its forks, but takes no new work."""

from plait.commands.contracts import ArchiveResult, ArchiveThread
from plait.commands.execution import Codec, Toolbox, Unit, execute
from plait.domain.model import Thread
from plait.domain.retention import require_idle, to_archive
from plait.graph.statements import service_statement

_LOCK_SUBAGENTS = service_statement("lock_subagents")
_ARCHIVE = service_statement("archive_threads")
_ARCHIVED = Codec(ArchiveResult)


async def archive_thread(box: Toolbox, key: str | None, given: ArchiveThread) -> ArchiveResult:
    """Archives a thread and the subagents below it, all or none; forks stay as they are. Archived ones stay archived.

    Raises `NotFound`, and `Refused` with `THREAD_BUSY`.
    """

    async def work(unit: Unit) -> ArchiveResult:
        thread = await unit.lock_thread(given.thread_id)
        archived, ids = await put_away(unit, thread)
        unit.record("thread.archived", thread, data={"archivedThreads": list(ids)})
        return ArchiveResult(thread=archived, archived_threads=len(ids))

    return await execute(box, "archiveThread", key, given, _ARCHIVED, work)


async def put_away(unit: Unit, thread: Thread) -> tuple[Thread, tuple[str, ...]]:
    """A locked thread, archived, and the ids of all that were archived with it. Raises `Refused` with `THREAD_BUSY`."""
    family = (thread, *await lock_subagents(unit, thread))
    require_idle(family)
    ids = to_archive(family)
    row = await unit.tx.demand(_ARCHIVE, threadId=thread.id, ids=list(ids))
    return Thread.model_validate(row["thread"]), ids


async def lock_subagents(unit: Unit, thread: Thread) -> tuple[Thread, ...]:
    """The subagents below a thread, to any depth, locked until the command ends."""
    locked: tuple[Thread, ...] = ()
    while True:
        row = await unit.tx.demand(_LOCK_SUBAGENTS, threadId=thread.id, now=unit.now)
        found = tuple(Thread.model_validate(entry) for entry in row["subagents"])
        # A thread spawns under its own lock: when all that were found had been locked before, there are no others.
        if len(found) == len(locked):
            return found
        locked = found
