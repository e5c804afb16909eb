"""How a command runs: receipt, work and event in one managed transaction; the answer of a retry is the first answer."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

import orjson
import uuid_utils
from pydantic import JsonValue

from plait.domain.errors import ErrorCode, IdempotencyConflict, NotFound, PlaitError, Refused, StorageUnavailable
from plait.domain.ids import IdKind
from plait.domain.model import Record, Thread
from plait.domain.planning import Capabilities
from plait.domain.subagents import SubagentLimits
from plait.graph.database import CommitUnknown, Database, KeyTaken, Row, Transaction
from plait.graph.statements import Statement, service_statement

_CLAIM = service_statement("claim_receipt")
_RECORD = service_statement("record_command")
_LOCK_THREAD = service_statement("lock_thread")

# A lost reply to a commit, or a key taken by a rival, is looked at once more: then the receipt tells. Not a retry
# loop: the driver has its own, for what it knows to have failed.
_LOOKS = 3

ResultT = TypeVar("ResultT", bound=Record)


def new_id(kind: IdKind) -> str:
    """A fresh id: the prefix of its type and a UUIDv7."""
    return f"{kind.value}_{uuid_utils.uuid7()}"


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What every command works with."""

    database: Database
    providers: Mapping[str, Capabilities]
    lease: timedelta
    """How long a run may be silent."""
    subagents: SubagentLimits
    clock: Callable[[], datetime] = utc_now

    @property
    def lease_milliseconds(self) -> int:
        return round(self.lease.total_seconds() * 1000)


class RefusedOnRecord(Exception):
    """A refusal that is itself worth a record: what was written before it is committed, then it is raised."""

    def __init__(self, error: PlaitError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Opening:
    """The first statement of a command: it claims the receipt, and may read what the command is about.

    Its columns begin as those of `claim_receipt`; `given` are its parameters beyond those of `claim_receipt`.
    """

    statement: Statement = _CLAIM
    given: Mapping[str, object] = field(default_factory=lambda: dict[str, object]())


_CLAIM_ALONE = Opening()


@dataclass(slots=True)
class Unit:
    """The transaction of one command: its time, what its opening read, its last write, the event it will leave."""

    tx: Transaction
    now: datetime
    opened: Row
    last: Statement = _RECORD
    last_given: Mapping[str, object] = field(default_factory=lambda: dict[str, object]())
    root_thread_id: str = ""
    event: dict[str, JsonValue] = field(default_factory=lambda: dict[str, JsonValue]())
    made_transfers: list[str] = field(default_factory=lambda: list[str]())

    async def lock_thread(self, thread_id: str, by: Statement = _LOCK_THREAD) -> Thread:
        """The thread, locked until the command ends. Raises `NotFound`. `by` may lock others in the right order."""
        row = await self.tx.fetch(by, threadId=thread_id, now=self.now)
        if row is None:
            raise NotFound(f"There is no thread {thread_id}.")
        return Thread.model_validate(row["thread"])

    def write_last(self, statement: Statement, **given: object) -> None:
        """Names a last write that records the command as well: it ends as `record_command`, whose parameters it takes.

        So a command whose answer is known before it is written saves a round trip. It may also be decided on what its
        opening read without a lock: then this statement locks that, and gives no record where it has changed since.
        """
        self.last = statement
        self.last_given = given

    def record(
        self,
        kind: str,
        thread: Thread,
        *,
        run_id: str | None = None,
        transfer_id: str | None = None,
        data: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Names the one event of this command. `data` is kept as JSON text."""
        self.root_thread_id = thread.root_thread_id
        self.event = {
            "id": new_id(IdKind.EVENT),
            "type": kind,
            "threadId": thread.id,
            "runId": run_id,
            "transferId": transfer_id,
            "data": orjson.dumps(data).decode() if data else None,
        }


class Codec(Generic[ResultT]):
    """How an answer is kept on the receipt, and made again for a retry."""

    def __init__(self, result: type[ResultT]) -> None:
        self.result = result

    def keep(self, answer: ResultT) -> str:
        return answer.model_dump_json(by_alias=True)

    async def recall(self, tx: Transaction, kept: str) -> ResultT:
        del tx
        return self.result.model_validate_json(kept)


class _KeptError(Record):
    code: ErrorCode
    message: str
    retryable: bool


_ERROR_MARK = "!"
"""Before a kept refusal on a receipt; an answer is a JSON object and never begins with it."""


async def execute(
    box: Toolbox,
    name: str,
    key: str | None,
    given: Record,
    codec: Codec[ResultT],
    work: Callable[[Unit], Awaitable[ResultT]],
    opening: Opening = _CLAIM_ALONE,
) -> ResultT:
    """Runs `work` as the command `name`, once for each `key`.

    Raises what `work` raises, `IdempotencyConflict` when the key was used for something else, `Refused` with
    `ID_TAKEN`, and `StorageUnavailable`.
    """
    receipt_key = key if key is not None else new_id(IdKind.RECEIPT)
    # Defaults are left out, so that a new optional field does not make strangers of keys that are in flight.
    fingerprint = hashlib.sha256(given.model_dump_json(by_alias=True, exclude_defaults=True).encode()).hexdigest()

    async def opened(tx: Transaction, now: datetime) -> Row:
        return await tx.demand(
            opening.statement, key=receipt_key, command=name, inputHash=fingerprint, now=now, **opening.given
        )

    async def attempt(unit: Unit) -> ResultT | PlaitError | None:
        """The answer, or none where the last write found that the unit was overtaken: it has then written nothing."""
        answer: ResultT | PlaitError
        try:
            answer = await work(unit)
            kept = codec.keep(answer)
        except RefusedOnRecord as refused:
            answer = refused.error
            kept = _ERROR_MARK + _KeptError(
                code=answer.code, message=answer.message, retryable=answer.retryable
            ).model_dump_json(by_alias=True)
        recorded = await unit.tx.fetch(
            unit.last,
            **unit.last_given,
            rootThreadId=unit.root_thread_id,
            event=unit.event,
            transferIds=unit.made_transfers,
            key=receipt_key,
            result=kept,
            now=unit.now,
        )
        return answer if recorded is not None else None

    async def in_one_transaction(tx: Transaction) -> ResultT | PlaitError:
        now = box.clock()
        receipt = await opened(tx, now)
        if (receipt["command"], receipt["inputHash"]) != (name, fingerprint):
            raise IdempotencyConflict(
                "This clientMutationId was used before with other input. Use a new one for a new command."
            )
        if receipt["result"] is not None:
            return await _recall(tx, codec, str(receipt["result"]))
        answer = await attempt(Unit(tx, now, receipt))
        if answer is None:
            # What it was decided on has changed, and is locked by now: the second attempt can't be overtaken.
            answer = await attempt(Unit(tx, now, await opened(tx, now)))
        if answer is None:
            raise LookupError(f"{name} recorded nothing")
        return answer

    answer = await _look_again(box.database, in_one_transaction)
    if isinstance(answer, PlaitError):
        raise answer
    return answer


async def _recall(tx: Transaction, codec: Codec[ResultT], kept: str) -> ResultT | PlaitError:
    if kept.startswith(_ERROR_MARK):
        error = _KeptError.model_validate_json(kept.removeprefix(_ERROR_MARK))
        return Refused(error.code, error.message, retryable=error.retryable)
    return await codec.recall(tx, kept)


def _taken(label: str | None) -> str:
    """What is taken, and what to do: a command makes one record of a kind with an id of the input."""
    if label == "ProviderThread":
        return (
            "The native thread that was reported stands behind another thread already. "
            "Report the one that the provider made for this run."
        )
    named = {"Thread": "thread", "Run": "run", "TurnItem": "item"}.get(label or "", "record")
    return f"The id given for the new {named} belongs to another {named} already. Choose another one, or give none."


async def _look_again(
    database: Database, unit: Callable[[Transaction], Awaitable[ResultT | PlaitError]]
) -> ResultT | PlaitError:
    last: Exception | None = None
    for _ in range(_LOOKS):
        try:
            return await database.write(unit)
        except (KeyTaken, CommitUnknown) as error:
            last = error
    if isinstance(last, KeyTaken):
        raise Refused(ErrorCode.ID_TAKEN, _taken(last.label)) from last
    raise StorageUnavailable(
        "The graph database went away while the command was committed. "
        "Send it again with the same clientMutationId to learn what became of it."
    ) from last
