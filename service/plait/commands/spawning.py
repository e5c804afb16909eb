"""The thread of a subagent, and the transfer into it: of one that a run spawns, or that its provider had spawned."""

from plait.commands.execution import Unit, new_id
from plait.commands.resolution import make_transfer
from plait.domain.forking import Origin
from plait.domain.ids import IdKind
from plait.domain.model import Creator, Run, SourcePoint, Thread, Transfer, TransferType
from plait.domain.subagents import child_thread
from plait.domain.transfers import pending_transfer
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_CREATE = service_statement("create_subagent")


async def make_child(
    unit: Unit, parent: Thread, spawner: Run, origin: Origin | None, *, thread_id: str | None, title: str | None
) -> tuple[Thread, Transfer]:
    """A subagent of a run, whose thread is locked. Without an `origin` its transfer is from that run itself."""
    thread = child_thread(thread_id or new_id(IdKind.THREAD), parent, spawner, origin, title=title, created_at=unit.now)
    spawned_by = SourcePoint(thread_id=parent.id, run_id=spawner.id, position=spawner.position)
    transfer = pending_transfer(
        new_id(IdKind.TRANSFER),
        TransferType.SUBAGENT_SPAWN,
        origin.point if origin else spawned_by,
        thread.id,
        source_thread_id=parent.id,
        created_by=Creator.AGENT,
        created_at=unit.now,
    )
    await unit.tx.demand(_CREATE, parentRunId=spawner.id, thread=properties(thread), transferId=transfer.id)
    return thread, await make_transfer(unit, transfer)
