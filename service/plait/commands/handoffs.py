"""The handoffs of a start: what each transfer has to tell, within one budget; built once, and found again."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import orjson

from plait.commands.contracts import PreparedResult, SubagentResult
from plait.commands.execution import Codec, Unit, new_id
from plait.domain.budgets import shares_of
from plait.domain.errors import ErrorCode, Refused
from plait.domain.handoff import (
    MIN_HANDOFF_TOKENS,
    BuiltHandoff,
    HandoffPayload,
    HandoffRequest,
    RunContent,
    Told,
    build_handoff,
)
from plait.domain.history import History
from plait.domain.ids import IdKind
from plait.domain.merging import Brought, gap_notes
from plait.domain.model import NO_SEGMENTS, Handoff, HandoffKind, Run, Transfer
from plait.domain.planning import Capabilities, Outcome, StartPlan
from plait.domain.subagents import told_item
from plait.domain.tallies import measure
from plait.domain.tokens import count_tokens
from plait.graph.contents import read_content
from plait.graph.database import Transaction
from plait.graph.properties import properties
from plait.graph.starts import LoadedStart
from plait.graph.statements import service_statement

_HANDOFFS = service_statement("handoffs_by_id")
_STORE = service_statement("store_handoffs")

WithHandoffT = TypeVar("WithHandoffT", PreparedResult, SubagentResult)

_TASK_ALONE = "The task alone: it is the message itself, and nothing of the conversation that spawned it is told."


class Load(NamedTuple):
    """One transfer of a start and what it has to tell; `brought` when that comes from another thread.

    `task` is the message of a subagent that is told nothing else.
    """

    transfer: Transfer
    deliver: History
    kind: HandoffKind
    brought: Brought | None = None
    task: str | None = None

    @property
    def tells(self) -> bool:
        """Whether there is a text to be built: of runs, or of a subagent's result."""
        return bool(self.deliver) or (self.brought is not None and self.brought.run is not None)


class Draft(NamedTuple):
    """A handoff, and the runs its text shows where it is not stored yet."""

    handoff: Handoff
    carries: tuple[str, ...] | None = None


async def handoffs_of(unit: Unit, loaded: LoadedStart, loads: Sequence[Load]) -> list[tuple[Load, Draft | None]]:
    """The loads, each with its handoff, found or built (and not stored); none where there is nothing to tell.

    Together they take the provider's budget at most. Where all fit, all are told in full; else each has a fair share of
    the room. What a person has revised is told as it is. Raises `Refused` with `UNSUPPORTED_TRANSFER` where revised
    texts leave no room for the others.
    """
    revised = {load.transfer.id: revision for load in loads if (revision := _revision(loaded, load)) is not None}
    others = [load for load in loads if load.tells and load.transfer.id not in revised]
    left = loaded.situation.provider.handoff_tokens - sum(handoff.tokens for handoff in revised.values())
    if revised and left < MIN_HANDOFF_TOKENS * len(others):
        raise Refused(
            ErrorCode.UNSUPPORTED_TRANSFER,
            f"The revised handoffs of this start leave {left} tokens for {len(others)} others. "
            "Shorten them with reviseHandoff, or call a transfer off with cancelTransfer.",
        )
    found = {transfer_id: Draft(revision) for transfer_id, revision in revised.items()}
    found |= {load.transfer.id: await _task(unit, loaded, load, load.task) for load in loads if load.task is not None}
    full = [await _draft(unit, loaded, load, left) for load in others]
    shares = shares_of([draft.handoff.tokens for draft in full], left)
    for load, draft, share in zip(others, full, shares, strict=True):
        fits = draft.handoff.tokens <= share
        found[load.transfer.id] = draft if fits else await _draft(unit, loaded, load, share)
    return [(load, found.get(load.transfer.id)) for load in loads]


async def store(unit: Unit, drafts: Iterable[Draft | None]) -> None:
    """Writes the handoffs that are not there yet."""
    new = [
        {"handoff": properties(draft.handoff), "carries": list(draft.carries)}
        for draft in drafts
        if draft is not None and draft.carries is not None
    ]
    if new:
        await unit.tx.demand(_STORE, handoffs=new)


async def stored_handoffs(tx: Transaction, ids: Sequence[str]) -> tuple[Handoff, ...]:
    """Handoffs that exist, in the order of their ids."""
    if not ids:
        return ()
    row = await tx.demand(_HANDOFFS, ids=list(ids))
    found = {record["id"]: Handoff.model_validate(record) for record in row["records"]}
    return tuple(found[handoff_id] for handoff_id in ids)


class HandoffCodec(Codec[WithHandoffT]):
    """Keeps the id of the one handoff of an answer, not its text: that is a record of its own, and never changes."""

    def keep(self, answer: WithHandoffT) -> str:
        kept = None if answer.handoff is None else Handoff.model_construct(id=answer.handoff.id)
        return answer.model_copy(update={"handoff": kept}).model_dump_json(by_alias=True, exclude_unset=True)

    async def recall(self, tx: Transaction, kept: str) -> WithHandoffT:
        raw = orjson.loads(kept)
        handoff = raw.pop("handoff", None)
        found = await stored_handoffs(tx, [handoff["id"]] if handoff else [])
        # It was not superseded yet when this was the answer.
        first = next((each.model_copy(update={"superseded_by_id": None}) for each in found), None)
        return self.result.model_validate(raw).model_copy(update={"handoff": first})


def built_handoff(loaded: LoadedStart, load: Load) -> Handoff | None:
    """The handoff of this transfer that tells just what is to be told, to the same provider, if it is built."""
    return _revision(loaded, load) or next(iter(reversed(_handoffs(loaded, load))), None)


def _revision(loaded: LoadedStart, load: Load) -> Handoff | None:
    """What a person has made of the handoff."""
    return next((handoff for handoff in _handoffs(loaded, load) if handoff.revision_of_id is not None), None)


def _handoffs(loaded: LoadedStart, load: Load) -> list[Handoff]:
    wanted = (load.transfer.id, _as_json(load.deliver), loaded.situation.provider.key)
    return [
        handoff
        for handoff in loaded.handoffs
        if (handoff.transfer_id, handoff.segments, handoff.provider) == wanted and handoff.superseded_by_id is None
    ]


async def _draft(unit: Unit, loaded: LoadedStart, load: Load, budget: int) -> Draft:
    """The handoff of a load within a budget: one that is there and was built for that much, or a new one."""
    for known in _handoffs(loaded, load):
        if known.budget_tokens == budget:
            return Draft(known)
    if load.brought is not None and load.brought.run is not None:
        title, provider = load.brought.title, loaded.situation.provider
        return await result_draft(unit, load.transfer, load.brought.run, title, provider, budget)
    built = await _build(unit, loaded, load, budget)
    return _new(unit, load.transfer, loaded.situation.provider, load.kind, budget, _as_json(load.deliver), built)


def _new(
    unit: Unit,
    transfer: Transfer,
    provider: Capabilities,
    kind: HandoffKind,
    budget: int,
    segments: str,
    built: BuiltHandoff,
) -> Draft:
    """A handoff that is not stored yet; `segments` is the history it stands for, as text."""
    handoff = Handoff(
        id=new_id(IdKind.HANDOFF),
        transfer_id=transfer.id,
        target_thread_id=transfer.target_thread_id,
        provider=provider.key,
        kind=kind,
        text=built.text,
        hash=built.hash,
        tokens=built.tokens,
        budget_tokens=budget,
        segments=segments,
        payload=built.payload.model_dump_json(by_alias=True),
        created_at=unit.now,
    )
    return Draft(handoff, built.carries)


async def _build(unit: Unit, loaded: LoadedStart, load: Load, budget: int) -> BuiltHandoff:
    """The handoff of a load, built from the runs that fit its budget."""
    content = await read_content(unit.tx, load.deliver, budget)
    request = HandoffRequest(
        kind=load.kind,
        target_provider=loaded.situation.provider.key,
        budget_tokens=budget,
        of=Told.RUNS if load.brought is None else Told.BRANCH,
        thread_title=loaded.thread.title if load.brought is None else load.brought.title,
        first=_placed(content.first, load, loaded) if content.first is not None else None,
        newest=tuple(_placed(each, load, loaded) for each in content.newest),
        total_runs=measure(load.deliver.in_whole_runs(), loaded.situation.ledger).runs,
        omitted_range=content.not_read,
        checkpoint=content.checkpoint,
        notes=(*gap_notes(load.brought, loaded.situation.ledger), *content.notes),
    )
    # Counting tokens and looking for secrets takes tens of milliseconds: not on the event loop.
    return await asyncio.to_thread(build_handoff, request)


def _placed(content: RunContent, load: Load, loaded: LoadedStart) -> RunContent:
    """A run, marked where it stands in the history of a thread that did not do it nor come from one that did."""
    elsewhere = load.brought is None and content.run.thread_id not in loaded.line
    return content.model_copy(update={"elsewhere": elsewhere})


def kind_of(plan: StartPlan) -> HandoffKind:
    """A new provider thread is told all: portable. One that knows a part is told the rest: a delta."""
    return HandoffKind.PORTABLE_CONTEXT if plan.outcome is Outcome.PORTABLE else HandoffKind.DELTA_CONTEXT


async def _task(unit: Unit, loaded: LoadedStart, load: Load, task: str) -> Draft:
    """The task of a subagent as a handoff: one that is there and says the same, or a new one."""
    for known in _handoffs(loaded, load):
        if known.text == task:
            return Draft(known)
    built = BuiltHandoff(
        text=task,
        hash=hashlib.sha256(task.encode()).hexdigest(),
        tokens=await asyncio.to_thread(count_tokens, task),
        payload=HandoffPayload(notes=(_TASK_ALONE,)),
        carries=(),
    )
    return _new(unit, load.transfer, loaded.situation.provider, load.kind, built.tokens, NO_SEGMENTS, built)


async def result_draft(
    unit: Unit, result: Transfer, run: Run, title: str | None, provider: Capabilities, budget: int
) -> Draft:
    """What is to be told of a subagent's result: its answer, and how it ended; not what it did."""
    kind = HandoffKind.DELTA_CONTEXT
    request = HandoffRequest(
        kind=kind,
        target_provider=provider.key,
        budget_tokens=budget,
        of=Told.RESULT,
        thread_title=title,
        newest=(RunContent(run=run, items=(told_item(result, run),)),),
        total_runs=1,
    )
    built = await asyncio.to_thread(build_handoff, request)
    return _new(unit, result, provider, kind, budget, NO_SEGMENTS, built)


def _as_json(part: History) -> str:
    return orjson.dumps(
        [
            {"threadId": segment.thread_id, "after": list(segment.after), "through": list(segment.through)}
            for segment in part.segments
        ]
    ).decode()
