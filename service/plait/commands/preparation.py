"""Context ahead of the run: a handoff asked for, built to be looked at, or put into a person's own words."""

import asyncio

import orjson

from plait.commands.contracts import (
    HandoffResult,
    HandoffThread,
    PreparedResult,
    PrepareTransfer,
    ReviseHandoff,
    TransferResult,
)
from plait.commands.execution import Codec, Toolbox, Unit, execute, new_id
from plait.commands.handoffs import HandoffCodec, handoffs_of, stored_handoffs
from plait.commands.locking import lock_waiting, require_open
from plait.commands.resolution import carrier_of, loads_of, resolve_loads
from plait.commands.start import creator_of, known_provider, load
from plait.domain.carriers import need_of
from plait.domain.errors import ErrorCode, NotFound, PlaitError, Refused
from plait.domain.handoff import revise
from plait.domain.ids import IdKind
from plait.domain.merging import BROUGHT
from plait.domain.model import Handoff, Thread
from plait.domain.planner import plan_start
from plait.domain.planning import Outcome, StartPlan
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart
from plait.graph.statements import service_statement

_HANDOFFS = service_statement("handoffs_by_id")
_REVISE = service_statement("revise_handoff")


class _RevisedCodec(Codec[HandoffResult]):
    """Keeps the id of the handoff."""

    def keep(self, answer: HandoffResult) -> str:
        return orjson.dumps({"id": answer.handoff.id}).decode()

    async def recall(self, tx: Transaction, kept: str) -> HandoffResult:
        (handoff,) = await stored_handoffs(tx, [orjson.loads(kept)["id"]])
        return HandoffResult(handoff=handoff.model_copy(update={"superseded_by_id": None}))


async def handoff_thread(box: Toolbox, key: str | None, given: HandoffThread) -> TransferResult:
    """The transfer that the next start on this provider will use, made ahead of it; nothing is built yet.

    One that waits already is the answer. Raises `NotFound`, and `Refused` with `PROVIDER_UNKNOWN`, `THREAD_ARCHIVED`,
    `THREAD_BUSY`, `UNSUPPORTED_TRANSFER` or `NOTHING_TO_HAND_OVER` (the provider knows all, or there is no history).
    """

    async def work(unit: Unit) -> TransferResult:
        provider = known_provider(box.providers, given.provider)
        thread = await unit.lock_thread(given.thread_id)
        require_open(thread)
        _require_idle(thread)
        loaded = await load(unit.tx, thread.id, provider, None)
        plan = _supported(loaded)
        need = need_of(thread, loaded.situation, plan)
        if need is None:
            raise Refused(
                ErrorCode.NOTHING_TO_HAND_OVER,
                f"Provider {provider.key} needs no handoff in thread {thread.id}: {plan.reason}",
            )
        carrier = await carrier_of(unit, loaded, plan, need, creator_of(thread, provider))
        unit.record("transfer.created", thread, transfer_id=carrier.id, data={"provider": provider.key})
        return TransferResult(transfer=carrier)

    return await execute(box, "handoffThread", key, given, Codec(TransferResult), work)


async def prepare_transfer(box: Toolbox, key: str | None, given: PrepareTransfer) -> PreparedResult:
    """Builds the handoff of a transfer that waits, as the next start on this provider would: to be seen, and revised.

    There is no handoff where the provider needs none: it forks natively. Raises `NotFound`, and `Refused` with
    `PROVIDER_UNKNOWN`, `THREAD_ARCHIVED`, `THREAD_BUSY`, `UNSUPPORTED_TRANSFER` or `TRANSFER_NOT_PENDING` (it is
    consumed, or the next start on this provider would not use it).
    """

    async def work(unit: Unit) -> PreparedResult:
        provider = known_provider(box.providers, given.provider)
        transfer, thread = await lock_waiting(unit, given.transfer_id)
        require_open(thread)
        if transfer.type not in BROUGHT:
            # What is said in it until the run ends belongs to what would be told.
            _require_idle(thread)
        loaded = await load(unit.tx, thread.id, provider, None)
        plan = _supported(loaded)
        for each, built in await handoffs_of(unit, loaded, loads_of(loaded, plan)):
            if each.transfer.id == transfer.id:
                ((resolved, handoff),) = await resolve_loads(unit, loaded, plan, [(each, built)])
                unit.record("transfer.prepared", thread, transfer_id=transfer.id, data={"provider": provider.key})
                return PreparedResult(transfer=resolved, handoff=handoff)
        raise Refused(
            ErrorCode.TRANSFER_NOT_PENDING,
            f"The next start on provider {provider.key} would not use transfer {transfer.id} "
            f"({transfer.status.value}): explainStart tells what it would do.",
        )

    return await execute(box, "prepareTransfer", key, given, HandoffCodec(PreparedResult), work)


async def revise_handoff(box: Toolbox, key: str | None, given: ReviseHandoff) -> HandoffResult:
    """A new handoff with a person's text in place of one that was not sent yet; both stay on record.

    It is sent as it is, less what looks like a secret. Raises `NotFound`, `InvalidInput` (`LIMIT_EXCEEDED`: the text is
    over the handoff's budget), and `Refused` with `TRANSFER_NOT_PENDING`, `THREAD_ARCHIVED` or `THREAD_BUSY`.
    """

    async def work(unit: Unit) -> HandoffResult:
        transfer_id = (await _handoff(unit, given.handoff_id)).transfer_id
        _, thread = await lock_waiting(unit, transfer_id)
        require_open(thread)
        old = await _handoff(unit, given.handoff_id)
        if old.superseded_by_id is not None:
            raise Refused(
                ErrorCode.TRANSFER_NOT_PENDING,
                f"Handoff {old.id} was revised before; revise {old.superseded_by_id}, which took its place.",
            )
        revised = await asyncio.to_thread(revise, given.text, old.budget_tokens)
        handoff = old.model_copy(
            update={
                "id": new_id(IdKind.HANDOFF),
                "text": revised.text,
                "hash": revised.hash,
                "tokens": revised.tokens,
                "revision_of_id": old.id,
                "created_at": unit.now,
            }
        )
        row = await unit.tx.demand(_REVISE, handoff=properties(handoff))
        unit.record("handoff.revised", thread, transfer_id=transfer_id, data={"handoffId": handoff.id, "of": old.id})
        return HandoffResult(handoff=Handoff.model_validate(row["handoff"]))

    return await execute(box, "reviseHandoff", key, given, _RevisedCodec(HandoffResult), work)


def _require_idle(thread: Thread) -> None:
    if thread.active_run_id is not None:
        raise Refused(
            ErrorCode.THREAD_BUSY,
            f"Thread {thread.id} is busy with run {thread.active_run_id}; wait until it ends.",
            retryable=True,
        )


def _supported(loaded: LoadedStart) -> StartPlan:
    plan = plan_start(loaded.situation)
    if plan.outcome is Outcome.UNSUPPORTED:
        raise PlaitError(ErrorCode.UNSUPPORTED_TRANSFER, f"This start would not be supported. {plan.reason}")
    return plan


async def _handoff(unit: Unit, handoff_id: str) -> Handoff:
    row = await unit.tx.demand(_HANDOFFS, ids=[handoff_id])
    if not row["records"]:
        raise NotFound(f"There is no handoff {handoff_id}.")
    return Handoff.model_validate(row["records"][0])
