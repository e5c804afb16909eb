"""Carrying out a plan: which transfer carries the context, and the handoff that is built for it, once."""

import asyncio

import orjson
from pydantic import JsonValue

from plait.commands.contracts import PlannedStart
from plait.commands.execution import Unit, new_id
from plait.domain.carriers import Need, need_of, serves, succession
from plait.domain.handoff import BuiltHandoff, HandoffRequest, build_handoff
from plait.domain.history import History
from plait.domain.ids import IdKind
from plait.domain.model import (
    Creator,
    Handoff,
    HandoffKind,
    Transfer,
    TransferStatus,
)
from plait.domain.planner import measure
from plait.domain.planning import Outcome, StartPlan
from plait.domain.transfers import LIVE, pending_transfer, require_move, resolved_status
from plait.graph.contents import read_content
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart
from plait.graph.statements import service_statement

_MAKE = service_statement("make_transfer")
_SET = service_statement("set_transfer")
_SUPERSEDE = service_statement("supersede_transfers")
_STORE = service_statement("store_handoff")


async def resolve(unit: Unit, loaded: LoadedStart, plan: StartPlan, created_by: Creator) -> PlannedStart:
    """Makes or reuses the transfer a plan needs, and builds its handoff if there is none yet.

    A native fork stays pending until it is reported; a handoff resolves its transfer now. Transfers into the thread
    that the plan can't use are superseded.
    """
    need = need_of(loaded.thread, loaded.situation, plan)
    carrier = await _carrier(unit, loaded, plan, need, created_by)
    if carrier is None:
        return PlannedStart(plan=plan)
    handoffs: tuple[Handoff, ...] = ()
    if plan.deliver:
        handoffs = (await _handoff(unit, loaded, plan, carrier),)
    changes: dict[str, JsonValue] = {
        "targetProvider": loaded.situation.provider.key,
        "handoffId": handoffs[0].id if handoffs else None,
    }
    if plan.strategy is not None and plan.native_fork is None and carrier.status is TransferStatus.PENDING:
        after = resolved_status(plan.strategy)
        require_move(carrier, after)
        row = await unit.tx.demand(
            _SET,
            transferId=carrier.id,
            properties={**changes, "status": after.value, "strategy": plan.strategy.value, "resolvedAt": unit.now},
        )
    else:
        row = await unit.tx.demand(_SET, transferId=carrier.id, properties=changes)
    return PlannedStart(plan=plan, transfers=(Transfer.model_validate(row["transfer"]),), handoffs=handoffs)


def at_hand(loaded: LoadedStart, plan: StartPlan) -> PlannedStart:
    """A plan with what of its records is there already."""
    carrier = _waiting_carrier(loaded, plan, need_of(loaded.thread, loaded.situation, plan))
    handoff = _built_handoff(loaded, plan, carrier) if carrier is not None else None
    return PlannedStart(
        plan=plan,
        transfers=(carrier,) if carrier is not None else (),
        handoffs=(handoff,) if handoff is not None else (),
    )


async def fail_transfer(unit: Unit, loaded: LoadedStart, plan: StartPlan) -> Transfer | None:
    """Marks the transfer that an unsupported start would have used as failed, with the reason."""
    for transfer in loaded.transfers:
        if transfer.status in LIVE:
            require_move(transfer, TransferStatus.FAILED)
            row = await unit.tx.demand(
                _SET,
                transferId=transfer.id,
                properties={
                    "status": TransferStatus.FAILED.value,
                    "failureCode": "UNSUPPORTED_TRANSFER",
                    "failureMessage": plan.reason,
                    "targetProvider": loaded.situation.provider.key,
                },
            )
            return Transfer.model_validate(row["transfer"])
    return None


async def _carrier(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, need: Need | None, created_by: Creator
) -> Transfer | None:
    waiting = _waiting_carrier(loaded, plan, need)
    if waiting is not None:
        return waiting
    found = succession(loaded.transfers, need)
    await _supersede(unit, found.dropped, None)
    if need is None:
        return None
    carrier = await _make(unit, loaded, need, found.predecessor, created_by)
    await _supersede(unit, found.replaced, carrier.id)
    return carrier


def _waiting_carrier(loaded: LoadedStart, plan: StartPlan, need: Need | None) -> Transfer | None:
    """The transfer into the thread that waits and can carry what is needed."""
    if need is None or plan.strategy is None:
        return None
    for transfer in loaded.transfers:
        if serves(transfer, need, plan.strategy, loaded.situation.provider.key):
            return transfer
    return None


async def _supersede(unit: Unit, transfers: tuple[Transfer, ...], successor_id: str | None) -> None:
    if transfers:
        ids = [transfer.id for transfer in transfers]
        await unit.tx.demand(_SUPERSEDE, ids=ids, successorId=successor_id)


async def _make(
    unit: Unit, loaded: LoadedStart, need: Need, predecessor: Transfer | None, created_by: Creator
) -> Transfer:
    transfer = pending_transfer(
        new_id(IdKind.TRANSFER),
        need.kind,
        need.source,
        loaded.thread.id,
        base=need.base,
        source_thread_id=predecessor.source_thread_id if predecessor else loaded.thread.id,
        target_provider=loaded.situation.provider.key,
        created_by=predecessor.created_by if predecessor else created_by,
        created_at=unit.now,
    )
    row = await unit.tx.demand(_MAKE, transfer=properties(transfer))
    unit.made_transfers.append(transfer.id)
    return Transfer.model_validate(row["transfer"])


async def _handoff(unit: Unit, loaded: LoadedStart, plan: StartPlan, carrier: Transfer) -> Handoff:
    known = _built_handoff(loaded, plan, carrier)
    if known is not None:
        return known
    provider = loaded.situation.provider
    built = await build(unit, loaded, plan)
    handoff = Handoff(
        id=new_id(IdKind.HANDOFF),
        transfer_id=carrier.id,
        target_thread_id=loaded.thread.id,
        provider=provider.key,
        kind=kind_of(plan),
        text=built.text,
        hash=built.hash,
        tokens=built.tokens,
        budget_tokens=provider.handoff_tokens,
        segments=_as_json(plan.deliver),
        payload=built.payload.model_dump_json(by_alias=True),
        created_at=unit.now,
    )
    row = await unit.tx.demand(_STORE, handoff=properties(handoff), carries=list(built.carries))
    return Handoff.model_validate(row["handoff"])


def _built_handoff(loaded: LoadedStart, plan: StartPlan, carrier: Transfer) -> Handoff | None:
    """The handoff of this transfer that tells just what the plan delivers, to the same provider, if it is built."""
    provider = loaded.situation.provider
    wanted = (carrier.id, _as_json(plan.deliver), provider.handoff_tokens, provider.key)
    for handoff in loaded.handoffs:
        if (handoff.transfer_id, handoff.segments, handoff.budget_tokens, handoff.provider) == wanted:
            return handoff
    return None


async def build(unit: Unit, loaded: LoadedStart, plan: StartPlan) -> BuiltHandoff:
    """The handoff of a plan, built from the runs that fit the provider's budget."""
    provider = loaded.situation.provider
    content = await read_content(unit.tx, plan.deliver, provider.handoff_tokens)
    request = HandoffRequest(
        kind=kind_of(plan),
        target_provider=provider.key,
        budget_tokens=provider.handoff_tokens,
        thread_title=loaded.thread.title,
        first=content.first,
        newest=content.newest,
        total_runs=measure(plan.deliver, loaded.situation.ledger).runs,
        omitted_range=content.not_read,
        checkpoint=content.checkpoint,
        notes=content.notes,
    )
    # Counting tokens and looking for secrets takes tens of milliseconds: not on the event loop.
    return await asyncio.to_thread(build_handoff, request)


def kind_of(plan: StartPlan) -> HandoffKind:
    """A new provider thread is told all: portable. One that knows a part is told the rest: a delta."""
    return HandoffKind.PORTABLE_CONTEXT if plan.outcome is Outcome.PORTABLE else HandoffKind.DELTA_CONTEXT


def _as_json(part: History) -> str:
    return orjson.dumps(
        [
            {"threadId": segment.thread_id, "after": list(segment.after), "through": list(segment.through)}
            for segment in part.segments
        ]
    ).decode()
