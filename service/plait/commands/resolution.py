"""Carrying out a plan: which transfers carry the context, made or found, and resolved for its provider."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from plait.commands.contracts import PlannedStart
from plait.commands.execution import Unit, new_id
from plait.commands.handoffs import Draft, Load, built_handoff, handoffs_of, kind_of, store
from plait.domain.carriers import Need, may_carry, need_of, serves, succession
from plait.domain.history import History
from plait.domain.ids import IdKind
from plait.domain.merging import Brought
from plait.domain.model import Creator, Handoff, HandoffKind, Run, Strategy, Transfer, TransferStatus
from plait.domain.planning import Outcome, Parcel, StartPlan
from plait.domain.transfers import LIVE, Passage, anew, pending_transfer, require_move, resolution
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart
from plait.graph.statements import service_statement

_CONSUME = service_statement("consume_transfers")
_MAKE = service_statement("make_transfer")
_SET = service_statement("set_transfers")
_SUPERSEDE = service_statement("supersede_transfers")


async def resolve(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, created_by: Creator, message: str | None = None
) -> PlannedStart:
    """Makes or reuses the transfers a plan needs, and builds their handoffs where there are none yet.

    A native fork stays pending until it is reported; a handoff resolves its transfer now. Transfers into the thread
    that the plan can't use, or that have nothing to bring any more, are superseded. `message` is that of a run that
    starts now.
    """
    need = need_of(loaded.thread, loaded.situation, plan)
    loads: list[Load] = []
    if need is not None:
        carrier = await carrier_of(unit, loaded, plan, need, created_by)
        loads.append(_carried(loaded, plan, carrier, message))
    else:
        await supersede(unit, succession(loaded.transfers, None).dropped, None)
    await supersede(unit, loaded.bringing.spent, None)
    for brought, parcel in zip(loaded.bringing.brought, plan.parcels, strict=True):
        bringer = await _bringer(unit, loaded, brought, parcel)
        loads.append(Load(bringer, parcel.deliver, HandoffKind.DELTA_CONTEXT, brought))
    resolved = await resolve_loads(unit, loaded, plan, await handoffs_of(unit, loaded, loads))
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


async def resolve_loads(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, told: Sequence[tuple[Load, Draft | None]]
) -> list[tuple[Transfer, Handoff | None]]:
    """The transfers of loads, resolved unless a native fork has to, and their handoffs, stored unless they are."""
    handoffs = [draft.handoff if draft is not None else None for _, draft in told]
    await store(unit, (draft for _, draft in told))
    changes = [
        (load.transfer.id, _resolved(unit, loaded, plan, load, handoff))
        for (load, _), handoff in zip(told, handoffs, strict=True)
    ]
    return list(zip(await set_transfers(unit, changes), handoffs, strict=True))


def _resolved(
    unit: Unit, loaded: LoadedStart, plan: StartPlan, load: Load, handoff: Handoff | None
) -> dict[str, object]:
    """What changes of a transfer that a start uses."""
    changes: dict[str, object] = {
        "targetProvider": loaded.situation.provider.key,
        "handoffId": handoff.id if handoff else None,
    }
    strategy = _strategy(plan, load)
    if strategy is not Strategy.NATIVE_FORK and load.transfer.status is TransferStatus.PENDING:
        changes |= resolution(load.transfer, strategy, unit.now).changes
    return changes


async def set_transfers(unit: Unit, changes: Sequence[tuple[str, Mapping[str, object]]]) -> list[Transfer]:
    """Transfers with what changes of each, in their order."""
    if not changes:
        return []
    row = await unit.tx.demand(_SET, transfers=[{"id": key, "properties": dict(new)} for key, new in changes])
    found = {record["id"]: Transfer.model_validate(record) for record in row["records"]}
    return [found[key] for key, _ in changes]


async def consume(unit: Unit, run: Run, passages: Mapping[str, Passage]) -> list[Transfer]:
    """Transfers by their ids, each consumed by the run as its passage says, in their order."""
    if not passages:
        return []
    changes = [{"id": key, "properties": dict(passage.changes)} for key, passage in passages.items()]
    row = await unit.tx.demand(_CONSUME, transfers=changes, runId=run.id, now=unit.now)
    found = {record["id"]: Transfer.model_validate(record) for record in row["records"]}
    return [found[key] for key in passages]


def states_of(passages: Mapping[str, Passage]) -> list[JsonValue]:
    """What an event says of the transfers that moved."""
    return [{"id": key, "states": [state.value for state in passage.states]} for key, passage in passages.items()]


def _strategy(plan: StartPlan, load: Load) -> Strategy:
    """How the context of one transfer gets to the provider: as the plan's base does, or told besides it."""
    if load.brought is None:
        return plan.strategy or Strategy.DELTA_CONTEXT
    return _strategy_of(load.brought, load.deliver)


def _strategy_of(brought: Brought, deliver: History) -> Strategy:
    """What is brought and needs no telling is known by the native fork. Nothing to bring is an empty delta."""
    return Strategy.NATIVE_FORK if brought.part and not deliver else Strategy.DELTA_CONTEXT


def _carried(loaded: LoadedStart, plan: StartPlan, carrier: Transfer, message: str | None) -> Load:
    """What the transfer of the thread's own history tells; where there is none, that is a subagent's task."""
    return Load(carrier, plan.deliver, kind_of(plan), task=message if loaded.situation.task_alone else None)


def loads_of(loaded: LoadedStart, plan: StartPlan) -> list[Load]:
    """What the transfers that wait have to tell by this plan; not those that a start would make."""
    if plan.outcome is Outcome.UNSUPPORTED:
        return []
    carrier = _waiting_carrier(loaded, plan, need_of(loaded.thread, loaded.situation, plan))
    loads = [_carried(loaded, plan, carrier, None)] if carrier is not None else []
    loads += [
        Load(brought.transfer, parcel.deliver, HandoffKind.DELTA_CONTEXT, brought)
        for brought, parcel in zip(loaded.bringing.brought, plan.parcels, strict=True)
        if may_carry(brought.transfer, _strategy_of(brought, parcel.deliver), loaded.situation.provider.key)
    ]
    return loads


def at_hand(loaded: LoadedStart, plan: StartPlan) -> PlannedStart:
    """A plan with what of its records is there already."""
    loads = loads_of(loaded, plan)
    built = [built_handoff(loaded, load) for load in loads if load.tells]
    return PlannedStart(
        plan=plan,
        transfers=tuple(load.transfer for load in loads),
        handoffs=tuple(handoff for handoff in built if handoff is not None),
    )


async def fail_transfers(unit: Unit, loaded: LoadedStart, plan: StartPlan) -> tuple[Transfer, ...]:
    """Marks the transfers that an unsupported start would have used as failed, with the reason."""
    live = [transfer for transfer in loaded.transfers if transfer.status in LIVE][:1]
    live += [brought.transfer for brought in loaded.bringing.brought if brought.transfer.status in LIVE]
    for transfer in live:
        require_move(transfer, TransferStatus.FAILED)
    failure = {
        "status": TransferStatus.FAILED.value,
        "failureCode": "UNSUPPORTED_TRANSFER",
        "failureMessage": plan.reason,
        "targetProvider": loaded.situation.provider.key,
    }
    return tuple(await set_transfers(unit, [(transfer.id, failure) for transfer in live]))


async def carrier_of(unit: Unit, loaded: LoadedStart, plan: StartPlan, need: Need, created_by: Creator) -> Transfer:
    """The transfer that carries the thread's own history: the one that waits and fits, or a new one in its place."""
    waiting = _waiting_carrier(loaded, plan, need)
    if waiting is not None:
        return waiting
    found = succession(loaded.transfers, need)
    await supersede(unit, found.dropped, None)
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
    if may_carry(old, _strategy_of(brought, parcel.deliver), loaded.situation.provider.key):
        return old
    provider = loaded.situation.provider.key
    successor = await make_transfer(
        unit, anew(old, new_id(IdKind.TRANSFER), target_provider=provider, created_at=unit.now)
    )
    await supersede(unit, (old,), successor.id)
    return successor


async def make_transfer(unit: Unit, transfer: Transfer) -> Transfer:
    """Writes a new transfer, with what it names."""
    row = await unit.tx.demand(_MAKE, transfer=properties(transfer))
    unit.made_transfers.append(transfer.id)
    return Transfer.model_validate(row["transfer"])


async def supersede(
    unit: Unit, transfers: Sequence[Transfer], successor_id: str | None, **why: str
) -> tuple[Transfer, ...]:
    """Marks transfers that nobody will use, with the one that takes their place, if any; `why` are properties."""
    if not transfers:
        return ()
    ids = [transfer.id for transfer in transfers]
    row = await unit.tx.demand(_SUPERSEDE, ids=ids, successorId=successor_id, properties=why)
    return tuple(Transfer.model_validate(record) for record in row["records"])


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
