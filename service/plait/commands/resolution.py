"""Carrying out a plan: which transfer carries the context, and the handoff that is built for it, once."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from plait.commands.contracts import PlannedStart
from plait.commands.execution import Unit, new_id
from plait.domain.budgets import shares_of
from plait.domain.carriers import Need, may_carry, need_of, serves, succession
from plait.domain.handoff import MIN_HANDOFF_TOKENS, BuiltHandoff, HandoffRequest, build_handoff
from plait.domain.history import History
from plait.domain.ids import IdKind
from plait.domain.merging import Brought, gap_notes
from plait.domain.model import (
    Creator,
    Handoff,
    HandoffKind,
    Strategy,
    Transfer,
    TransferStatus,
)
from plait.domain.planning import Outcome, Parcel, StartPlan
from plait.domain.tallies import measure
from plait.domain.transfers import LIVE, pending_transfer, require_move, resolved_status
from plait.graph.contents import read_content
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart
from plait.graph.statements import service_statement

_MAKE = service_statement("make_transfer")
_SET = service_statement("set_transfer")
_SUPERSEDE = service_statement("supersede_transfers")
_STORE = service_statement("store_handoff")
_THREADS = service_statement("threads_by_id")


async def resolve(unit: Unit, loaded: LoadedStart, plan: StartPlan, created_by: Creator) -> PlannedStart:
    """Makes or reuses the transfers a plan needs, and builds their handoffs where there are none yet.

    A native fork stays pending until it is reported; a handoff resolves its transfer now. Transfers into the thread
    that the plan can't use, or that have nothing to bring any more, are superseded.
    """
    need = need_of(loaded.thread, loaded.situation, plan)
    carrier = await _carrier(unit, loaded, plan, need, created_by)
    await supersede(unit, loaded.bringing.spent, None)
    loads = [Load(carrier, plan.deliver, kind_of(plan))] if carrier is not None else []
    for brought, parcel in zip(loaded.bringing.brought, plan.parcels, strict=True):
        bringer = await _bringer(unit, loaded, brought, parcel)
        loads.append(Load(bringer, parcel.deliver, HandoffKind.DELTA_CONTEXT, brought))
    resolved = [await _resolve(unit, loaded, plan, load, budget) for load, budget in _budgeted(loads, loaded)]
    # A transfer that had failed was made anew: the plan names the one that is used.
    names = [load.transfer.id for load in loads if load.brought is not None]
    parcels = tuple(
        parcel.model_copy(update={"transfer_id": name}) for parcel, name in zip(plan.parcels, names, strict=True)
    )
    return PlannedStart(
        plan=plan.model_copy(update={"parcels": parcels}),
        transfers=tuple(transfer for transfer, _ in resolved),
        handoffs=tuple(handoff for _, handoff in resolved if handoff is not None),
    )


class Load(NamedTuple):
    """One transfer of a start and what it has to tell; `brought` when that comes from another thread."""

    transfer: Transfer
    deliver: History
    kind: HandoffKind
    brought: Brought | None = None


def _budgeted(loads: Sequence[Load], loaded: LoadedStart) -> list[tuple[Load, int]]:
    """The loads, each with its part of the provider's budget, in tokens."""
    needs = [
        measure(load.deliver, loaded.situation.ledger).tokens + MIN_HANDOFF_TOKENS if load.deliver else 0
        for load in loads
    ]
    telling = [need for need in needs if need]
    parts = iter(shares_of(telling, loaded.situation.provider.handoff_tokens))
    return [(load, next(parts) if need else 0) for load, need in zip(loads, needs, strict=True)]


async def _resolve(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, load: Load, budget: int
) -> tuple[Transfer, Handoff | None]:
    handoff = await _handoff(unit, loaded, load, budget) if load.deliver else None
    changes: dict[str, object] = {
        "targetProvider": loaded.situation.provider.key,
        "handoffId": handoff.id if handoff else None,
    }
    strategy = _strategy(plan, load)
    if strategy is not Strategy.NATIVE_FORK and load.transfer.status is TransferStatus.PENDING:
        after = resolved_status(strategy)
        require_move(load.transfer, after)
        changes |= {"status": after.value, "strategy": strategy.value, "resolvedAt": unit.now}
    row = await unit.tx.demand(_SET, transferId=load.transfer.id, properties=changes)
    return Transfer.model_validate(row["transfer"]), handoff


def _strategy(plan: StartPlan, load: Load) -> Strategy:
    """How the context of one transfer gets to the provider: as the plan's base does, or told besides it."""
    if load.brought is None:
        return plan.strategy or Strategy.DELTA_CONTEXT
    return _strategy_of(load.deliver)


def _strategy_of(deliver: History) -> Strategy:
    """What is brought and needs no telling is known by the native fork."""
    return Strategy.DELTA_CONTEXT if deliver else Strategy.NATIVE_FORK


def at_hand(loaded: LoadedStart, plan: StartPlan) -> PlannedStart:
    """A plan with what of its records is there already."""
    carrier = _waiting_carrier(loaded, plan, need_of(loaded.thread, loaded.situation, plan))
    loads = [Load(carrier, plan.deliver, kind_of(plan))] if carrier is not None else []
    loads += [
        Load(brought.transfer, parcel.deliver, HandoffKind.DELTA_CONTEXT, brought)
        for brought, parcel in zip(loaded.bringing.brought, plan.parcels, strict=True)
        if may_carry(brought.transfer, _strategy_of(parcel.deliver), loaded.situation.provider.key)
    ]
    built = [_built_handoff(loaded, load, budget) for load, budget in _budgeted(loads, loaded) if load.deliver]
    return PlannedStart(
        plan=plan,
        transfers=tuple(load.transfer for load in loads),
        handoffs=tuple(handoff for handoff in built if handoff is not None),
    )


async def fail_transfers(unit: Unit, loaded: LoadedStart, plan: StartPlan) -> tuple[Transfer, ...]:
    """Marks the transfers that an unsupported start would have used as failed, with the reason."""
    live = [transfer for transfer in loaded.transfers if transfer.status in LIVE][:1]
    live += [brought.transfer for brought in loaded.bringing.brought if brought.transfer.status in LIVE]
    failed: list[Transfer] = []
    for transfer in live:
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
        failed.append(Transfer.model_validate(row["transfer"]))
    return tuple(failed)


async def _carrier(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, need: Need | None, created_by: Creator
) -> Transfer | None:
    waiting = _waiting_carrier(loaded, plan, need)
    if waiting is not None:
        return waiting
    found = succession(loaded.transfers, need)
    await supersede(unit, found.dropped, None)
    if need is None:
        return None
    carrier = await _make(unit, loaded, need, found.predecessor, created_by)
    await supersede(unit, found.replaced, carrier.id)
    return carrier


def _waiting_carrier(loaded: LoadedStart, plan: StartPlan, need: Need | None) -> Transfer | None:
    """The transfer into the thread that waits and can carry what is needed."""
    if need is None or plan.strategy is None:
        return None
    for transfer in loaded.transfers:
        if serves(transfer, need, plan.strategy, loaded.situation.provider.key):
            return transfer
    return None


async def _bringer(unit: Unit, loaded: LoadedStart, brought: Brought, parcel: Parcel) -> Transfer:
    """The transfer that brings a parcel: the one that waits, or a new one from the same points in its place."""
    old = brought.transfer
    if may_carry(old, _strategy_of(parcel.deliver), loaded.situation.provider.key):
        return old
    anew = await make_transfer(
        unit,
        pending_transfer(
            new_id(IdKind.TRANSFER),
            old.type,
            old.source_point,
            old.target_thread_id,
            base=old.base_point,
            source_thread_id=old.source_thread_id,
            target_provider=loaded.situation.provider.key,
            created_by=old.created_by,
            created_at=unit.now,
        ),
    )
    await supersede(unit, (old,), anew.id)
    return anew


async def make_transfer(unit: Unit, transfer: Transfer) -> Transfer:
    """Writes a new transfer, with what it names."""
    row = await unit.tx.demand(_MAKE, transfer=properties(transfer))
    unit.made_transfers.append(transfer.id)
    return Transfer.model_validate(row["transfer"])


async def supersede(unit: Unit, transfers: Sequence[Transfer], successor_id: str | None) -> None:
    """Marks transfers that nobody will use, with the one that takes their place, if any."""
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
    return await make_transfer(unit, transfer)


async def _handoff(unit: Unit, loaded: LoadedStart, load: Load, budget: int) -> Handoff:
    known = _built_handoff(loaded, load, budget)
    if known is not None:
        return known
    provider = loaded.situation.provider
    built = await _build(unit, loaded, load, budget)
    handoff = Handoff(
        id=new_id(IdKind.HANDOFF),
        transfer_id=load.transfer.id,
        target_thread_id=loaded.thread.id,
        provider=provider.key,
        kind=load.kind,
        text=built.text,
        hash=built.hash,
        tokens=built.tokens,
        budget_tokens=budget,
        segments=_as_json(load.deliver),
        payload=built.payload.model_dump_json(by_alias=True),
        created_at=unit.now,
    )
    row = await unit.tx.demand(_STORE, handoff=properties(handoff), carries=list(built.carries))
    return Handoff.model_validate(row["handoff"])


def _built_handoff(loaded: LoadedStart, load: Load, budget: int) -> Handoff | None:
    """The handoff of this transfer that tells just what is to be told, to the same provider, if it is built."""
    wanted = (load.transfer.id, _as_json(load.deliver), budget, loaded.situation.provider.key)
    for handoff in loaded.handoffs:
        if (handoff.transfer_id, handoff.segments, handoff.budget_tokens, handoff.provider) == wanted:
            return handoff
    return None


async def _build(unit: Unit, loaded: LoadedStart, load: Load, budget: int) -> BuiltHandoff:
    """The handoff of a load, built from the runs that fit its budget."""
    content = await read_content(unit.tx, load.deliver, budget)
    title = loaded.thread.title if load.brought is None else await _title(unit, load.brought)
    request = HandoffRequest(
        kind=load.kind,
        target_provider=loaded.situation.provider.key,
        budget_tokens=budget,
        brought_back=load.brought is not None,
        thread_title=title,
        first=content.first,
        newest=content.newest,
        total_runs=measure(load.deliver, loaded.situation.ledger).runs,
        omitted_range=content.not_read,
        checkpoint=content.checkpoint,
        notes=(*gap_notes(load.brought, loaded.situation.ledger), *content.notes),
    )
    # Counting tokens and looking for secrets takes tens of milliseconds: not on the event loop.
    return await asyncio.to_thread(build_handoff, request)


async def _title(unit: Unit, brought: Brought) -> str | None:
    """The title of the thread that something is brought from."""
    row = await unit.tx.demand(_THREADS, ids=[brought.transfer.source_thread_id])
    return row["records"][0].get("title")


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
