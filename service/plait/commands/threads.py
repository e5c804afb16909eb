"""Making threads."""

from plait.commands.contracts import CreateThread, ThreadResult
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.domain.ids import IdKind
from plait.domain.model import Thread, ThreadStatus
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_CREATE = service_statement("create_thread")
_CODEC = Codec(ThreadResult)


async def create_thread(box: Toolbox, key: str | None, given: CreateThread) -> ThreadResult:
    """A new root thread. Raises `Refused` with `ID_TAKEN`."""

    async def work(unit: Unit) -> ThreadResult:
        thread_id = given.id or new_id(IdKind.THREAD)
        thread = Thread(
            id=thread_id,
            title=given.title,
            status=ThreadStatus.ACTIVE,
            created_by=given.created_by,
            created_at=unit.now,
            updated_at=unit.now,
            generation=1,
            depth=0,
            root_thread_id=thread_id,
        )
        row = await unit.tx.demand(_CREATE, thread=properties(thread))
        unit.record("thread.created", thread)
        return ThreadResult(thread=Thread.model_validate(row["thread"]))

    return await execute(box, "createThread", key, given, _CODEC, work)
