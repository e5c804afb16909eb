"""The domain's decisions over a store of plain dictionaries: what the commands do, without a database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plait.domain.errors import PlaitError
from plait.domain.forking import NamedPoint, explicit_point, latest_stable_point
from plait.domain.history import START, WHOLE_RUN, History, Joint, Mark, Segment, ThreadLink
from plait.domain.merging import Bringing, Past, Waiting, bring, carried, merge_point
from plait.domain.model import (
    Creator,
    Executor,
    ItemKind,
    ItemStatus,
    ProviderThread,
    ProviderThreadStatus,
    Run,
    RunStatus,
    Thread,
    ThreadStatus,
    Transfer,
    TransferStatus,
    TransferType,
    TurnItem,
)
from plait.domain.planner import ForkableTurn, KnownThread, StartSituation, plan_start
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport, Outcome, StartPlan
from plait.domain.rollback import Spent, Touched, aftermath, position_to_keep
from plait.domain.tallies import Tally
from plait.domain.transfers import LIVE, pending_transfer
from tests.model.lineage import Told

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROVIDERS = {
    "codex": Capabilities(key="codex", driver="codex", fork=ForkSupport.AT_TURN),
    "claude": Capabilities(key="claude", driver="claude", fork=ForkSupport.AT_TURN),
    "acp": Capabilities(key="acp", driver="acp", fork=ForkSupport.LATEST),
    "plain": Capabilities(key="plain", driver="plain", fork=ForkSupport.NONE, resume=False),
    "mute": Capabilities(key="mute", driver="mute", fork=ForkSupport.AT_TURN, injection=ContextInjection.NONE),
}


@dataclass
class PureStart:
    outcome: str
    resume: str | None
    fork: tuple[str, str | None] | None
    handed: tuple[Told, ...]
    run: str | None


class PureBackend:
    """Holds records of the domain and asks the domain for every decision."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.runs: dict[str, Run] = {}
        self.provider_threads: dict[str, ProviderThread] = {}
        self.plans: dict[str, StartPlan] = {}
        self.adds: dict[str, tuple[Segment, ...]] = {}
        self.leaves: dict[str, tuple[Segment, ...]] = {}
        self.transfers: dict[str, Transfer] = {}
        """The merges alone: what tells a thread its own history decides nothing here."""
        self.brought: dict[str, list[str]] = {}
        """By run, the merges that its plan takes."""

    def create_thread(self) -> str:
        name = f"t{len(self.threads)}"
        self.threads[name] = _thread(name)
        return name

    def fork(self, source: str, run: str | None, item: tuple[str, int] | None) -> str:
        thread = self.threads[source]
        try:
            if run is None and item is None:
                point = latest_stable_point(thread)
            else:
                named = NamedPoint(run=self.runs[run or item[0]], item=_item(*item) if item else None)  # type: ignore[index]
                point = explicit_point(thread, self.history(source), self.line(source), named)
        except PlaitError as refusal:
            return refusal.code.value
        name = f"t{len(self.threads)}"
        at = self.runs[point.run_id]
        self.threads[name] = _thread(name).model_copy(
            update={
                "root_thread_id": thread.root_thread_id,
                "parent_thread_id": source,
                "origin_thread_id": point.thread_id,
                "origin_run_id": point.run_id,
                "origin_position": point.position,
                "origin_item_position": point.item_position,
                "origin_ordinal": at.ordinal,
                "origin_tokens": at.tokens_before + at.tokens,
            }
        )
        return name

    def start(self, thread: str, provider: str) -> PureStart | str:
        found = self.threads[thread]
        if found.active_run_id is not None:
            return "THREAD_BUSY"
        bringing = self.bringing(thread)
        plan = plan_start(self.situation(thread, provider, bringing, None))
        if plan.outcome is Outcome.UNSUPPORTED:
            return "UNSUPPORTED_TRANSFER"
        name = f"r{len(self.runs)}"
        self.take(name, bringing)
        self.runs[name] = Run(
            id=name,
            thread_id=thread,
            position=found.run_count + 1,
            generation=1,
            provider=provider,
            executor=Executor.CLIENT,
            status=RunStatus.STARTING,
            created_at=NOW,
            item_count=1,
            tokens=1,
            tokens_before=found.accepted_tokens,
        )
        self.threads[thread] = found.model_copy(update={"active_run_id": name, "run_count": found.run_count + 1})
        self.plans[name] = plan
        return self.told(name, plan)

    def accept(self, run: str, native: str | None, turn: str | None) -> str | None:
        found, plan = self.runs[run], self.plans[run]
        thread = self.threads[found.thread_id]
        if plan.native_fork is not None and PROVIDERS[found.provider].fork is ForkSupport.LATEST:
            forked = self.runs[plan.native_fork.run_id]
            behind = self.provider_threads[forked.provider_thread_id or ""]
            pending = self.runs.get(self.threads[behind.thread_id].active_run_id or "")
            starting = pending is not None and pending.status is RunStatus.STARTING and pending.id != run
            if starting or behind.turns > (forked.turn_ordinal or 0):
                return "PLAN_OUTDATED"
        if plan.resume is not None:
            known = self.provider_threads[plan.resume.provider_thread_id]
        else:
            known = ProviderThread(
                id=f"p{len(self.provider_threads)}",
                thread_id=thread.id,
                provider=found.provider,
                native_thread_id=native,
                status=ProviderThreadStatus.ACTIVE,
                tip_run_id=run,
                tip_position=found.position,
                turns=0,
                ended_turns=0,
                created_at=NOW,
            )
        known = known.model_copy(update={"tip_run_id": run, "tip_position": found.position, "turns": known.turns + 1})
        self.provider_threads[known.id] = known
        adds = tuple(segment for parcel in plan.parcels for segment in parcel.part.segments)
        leaves = tuple(segment for parcel in plan.parcels for segment in parcel.leaves.segments)
        self.adds[run], self.leaves[run] = adds, leaves
        apart = thread.head_ordinal < thread.accepted_runs or bool(adds or leaves)
        joint = {"joint_previous": thread.head_position} if apart else {}
        for key in self.brought[run]:
            self.move(key, TransferStatus.CONSUMED, run)
        self.runs[run] = found.model_copy(
            update={
                "status": RunStatus.RUNNING,
                "started_at": NOW,
                "native_thread_id": native,
                "native_turn_id": turn,
                "provider_thread_id": known.id,
                "turn_ordinal": known.turns,
                "ordinal": thread.accepted_runs + 1,
            }
            | joint
        )
        self.threads[thread.id] = thread.model_copy(
            update={
                "head_run_id": run,
                "head_position": found.position,
                "head_ordinal": thread.accepted_runs + 1,
                "head_tokens": found.tokens_before + found.tokens,
                "accepted_runs": thread.accepted_runs + 1,
                "accepted_tokens": found.tokens_before + found.tokens,
            }
        )
        return None

    def report_failure(self, run: str) -> PureStart | str:
        plan, found = self.plans[run], self.runs[run]
        if plan.resume is not None:
            lost = self.provider_threads[plan.resume.provider_thread_id]
            self.provider_threads[lost.id] = lost.model_copy(update={"status": ProviderThreadStatus.LOST})
        if plan.resume is not None or plan.native_fork is not None:
            told = "the native way failed" if plan.native_fork else None
            bringing = self.bringing(found.thread_id)
            anew = plan_start(self.situation(found.thread_id, found.provider, bringing, told))
            if anew.outcome is not Outcome.UNSUPPORTED:
                self.plans[run] = anew
                self.take(run, bringing)
                return self.told(run, anew)
        self.close(run, RunStatus.FAILED)
        return PureStart("failed", None, None, (), None)

    def append(self, run: str) -> str | None:
        found = self.runs[run]
        if found.status is not RunStatus.RUNNING:
            return "RUN_NOT_STARTED" if found.status is RunStatus.STARTING else "RUN_NOT_ACTIVE"
        self.runs[run] = found.model_copy(update={"item_count": found.item_count + 1, "tokens": found.tokens + 1})
        thread = self.threads[found.thread_id]
        self.threads[thread.id] = thread.model_copy(
            update={"head_tokens": thread.head_tokens + 1, "accepted_tokens": thread.accepted_tokens + 1}
        )
        return None

    def end(self, run: str, state: str) -> str | None:
        if state == "completed" and self.runs[run].status is RunStatus.STARTING:
            return "RUN_NOT_STARTED"
        self.close(run, RunStatus(state))
        return None

    def checkpoint(self, thread: str, run: str) -> str | None:
        found = self.runs[run]
        if found.status.active:
            return "RUN_ACTIVE"
        if found.status is RunStatus.ROLLED_BACK:
            return "RUN_ROLLED_BACK"
        if found.started_at is None:
            return "RUN_NOT_STARTED"
        self.runs[run] = found.model_copy(update={"stable": True})
        return None

    def cancel(self, thread: str) -> str | None:
        return None

    def roll_back(self, thread: str, run: str) -> str | None:
        found = self.threads[thread]
        try:
            position = position_to_keep(found, self.runs[run])
        except PlaitError as refusal:
            return refusal.code.value
        gone: set[str] = set()
        for later in self.runs.values():
            left = later.thread_id == thread and later.position > position and later.started_at is not None
            if left and later.status is not RunStatus.ROLLED_BACK:
                gone.add(later.id)
                update = {"status": RunStatus.ROLLED_BACK, "ended_as": later.status}
                self.runs[later.id] = later.model_copy(update=update)
        for behind in self.provider_threads.values():
            saw = behind.thread_id == thread and behind.tip_position > position
            if saw and behind.status is ProviderThreadStatus.ACTIVE:
                update = {"status": ProviderThreadStatus.DIVERGENT}
                self.provider_threads[behind.id] = behind.model_copy(update=update)
        kept = self.run_at(thread, position) if position else None
        completed = [
            own
            for own in self.runs.values()
            if own.thread_id == thread and own.position <= position and own.status is RunStatus.COMPLETED
        ]
        stable = max(completed, key=lambda own: own.position, default=None)
        self.threads[thread] = found.model_copy(
            update={
                "head_run_id": kept.id if kept else None,
                "head_position": position,
                "head_ordinal": (kept.ordinal or 0) if kept else 0,
                "head_tokens": kept.tokens_before + kept.tokens if kept else 0,
                "stable_run_id": stable.id if stable else None,
                "stable_position": stable.position if stable else None,
            }
        )
        mine = [self.transfers[key] for key in sorted(self.transfers, key=int)]
        after = aftermath(
            Touched(
                consumed=tuple(
                    Spent(transfer=transfer, gone=self.gone(transfer))
                    for transfer in mine
                    if transfer.target_thread_id == thread and transfer.consumed_by_run_id in gone
                ),
                waiting=tuple(each for each in mine if each.target_thread_id == thread and each.status in LIVE),
                leaving=tuple(
                    each
                    for each in mine
                    if each.source_thread_id == thread
                    and each.status in LIVE
                    and self.gone(each)
                    and not self.in_use(each)
                ),
            ),
            gone,
        )
        for transfer in after.anew:
            anew = transfer.model_copy(
                update={"id": str(len(self.transfers)), "status": TransferStatus.PENDING, "consumed_by_run_id": None}
            )
            self.transfers[anew.id] = anew
        for transfer in after.superseded:
            self.move(transfer.id, TransferStatus.SUPERSEDED)
        return None

    def merge(self, source: str, target: str) -> str | None:
        theirs, ours = self.threads[source], self.threads[target]
        try:
            point = merge_point(theirs, ours)
        except PlaitError as refusal:
            return refusal.code.value
        there, here = self.past(point.thread_id, point.mark), self.past(target, Mark(ours.head_position))
        assert there.history.common(here.history), "what is in one tree shares its first run"
        if not carried(there, here, target).part:
            return "NOTHING_TO_MERGE"
        waiting = [
            each
            for each in self.transfers.values()
            if (each.source_thread_id, each.target_thread_id) == (source, target) and each.status in LIVE
        ]
        if any(
            (each.source_run_id, each.source_item_position) == (point.run_id, point.item_position) for each in waiting
        ):
            return None
        for each in waiting:
            if not self.in_use(each):
                self.move(each.id, TransferStatus.SUPERSEDED)
        made = pending_transfer(
            str(len(self.transfers)),
            TransferType.MERGE_BACK,
            point,
            target,
            source_thread_id=source,
            created_by=Creator.USER,
            created_at=NOW,
        )
        self.transfers[made.id] = made
        return None

    def cancel_merge(self, source: str, target: str) -> str | None:
        for each in list(self.transfers.values()):
            if (each.source_thread_id, each.target_thread_id) == (source, target) and each.status in LIVE:
                if self.in_use(each):
                    return "THREAD_BUSY"
                self.move(each.id, TransferStatus.SUPERSEDED)
                return None
        return "TRANSFER_NOT_PENDING"

    def move(self, transfer: str, status: TransferStatus, run: str | None = None) -> None:
        update = {"status": status, "consumed_by_run_id": run}
        self.transfers[transfer] = self.transfers[transfer].model_copy(update=update)

    def in_use(self, transfer: Transfer) -> bool:
        active = self.runs.get(self.threads[transfer.target_thread_id].active_run_id or "")
        return active is not None and active.status is RunStatus.STARTING and transfer.id in self.brought[active.id]

    def gone(self, transfer: Transfer) -> bool:
        run = self.runs[transfer.source_run_id]
        return run.status is RunStatus.ROLLED_BACK and run.thread_id == transfer.source_thread_id

    def bringing(self, thread: str) -> Bringing:
        waiting = [
            Waiting(
                transfer=each,
                source=self.past(each.source_point.thread_id, each.source_point.mark),
                title=None,
                generation=1,
                gone=self.gone(each),
            )
            for each in (self.transfers[key] for key in sorted(self.transfers, key=int))
            if each.target_thread_id == thread and each.status in LIVE
        ]
        return bring(thread, self.past(thread, Mark(self.threads[thread].head_position)), waiting, 100)

    def take(self, run: str, bringing: Bringing) -> None:
        self.brought[run] = [brought.transfer.id for brought in bringing.brought]
        for transfer in bringing.spent:
            self.move(transfer.id, TransferStatus.SUPERSEDED)

    def records(self) -> dict[str, Any]:
        return {
            "transfers": {
                name: [
                    {
                        "type": each.type.value,
                        "status": each.status.value,
                        "source": each.source_thread_id,
                        "consumedBy": each.consumed_by_run_id,
                        "handoffs": 0,
                    }
                    for each in self.transfers.values()
                    if each.target_thread_id == name
                ]
                for name in self.threads
            },
            "histories": {name: self.expand(self.history(name)) for name in self.threads},
            "active": {name: thread.active_run_id for name, thread in self.threads.items()},
        }

    # What the graph layer reads

    def chain(self, thread: str) -> list[ThreadLink]:
        links: list[ThreadLink] = []
        found: Thread | None = self.threads[thread]
        while found is not None:
            origin = found.origin
            joints = tuple(
                Joint(
                    Mark(run.position - 1),
                    Mark(run.joint_previous) if run.joint_previous else START,
                    self.adds[run.id],
                    self.leaves[run.id],
                )
                for run in sorted(self.runs.values(), key=lambda run: run.position)
                if run.thread_id == found.id and run.joint_previous is not None
            )
            start = origin.mark if origin else START
            links.append(ThreadLink(found.id, origin.thread_id if origin else None, start, joints))
            found = self.threads[origin.thread_id] if origin else None
        return links

    def past(self, thread: str, mark: Mark) -> Past:
        chain = self.chain(thread)
        return Past(History.at(mark, chain), History.left_out_at(mark, chain))

    def line(self, thread: str | None) -> set[str]:
        """A thread and those it was forked from."""
        return set() if thread is None else {thread} | self.line(self.threads[thread].parent_thread_id)

    def history(self, thread: str) -> History:
        return History.at(Mark(self.threads[thread].head_position), self.chain(thread))

    def situation(self, thread: str, provider: str, bringing: Bringing, fork_failure: str | None) -> StartSituation:
        history = self.history(thread)
        whole = history.followed_by(each.part for each in bringing.brought)
        left = [segment for each in bringing.brought for segment in each.leaves.segments]
        ledger: dict[tuple[str, Mark], Tally] = {}
        marks = {(segment.thread_id, mark) for segment in (*whole.segments, *left) for mark in segment[1:]}
        known: list[KnownThread] = []
        for candidate in self.provider_threads.values():
            if (candidate.thread_id, candidate.provider) == (thread, provider):
                tip = History.at(Mark(candidate.tip_position), self.chain(thread))
                marks |= {(segment.thread_id, mark) for segment in tip.segments for mark in segment[1:]}
                known.append(KnownThread(provider_thread=candidate, known=tip))
        forkable = self.forkable(whole, provider)
        if forkable is not None:
            marks |= {(segment.thread_id, mark) for segment in forkable.known.segments for mark in segment[1:]}
        for owner, mark in marks:
            ledger[(owner, mark)] = self.tally(owner, mark)
        return StartSituation(
            history=history,
            brought=bringing.brought,
            provider=PROVIDERS[provider],
            own_threads=tuple(known),
            forkable=forkable,
            ledger=ledger,
            min_handoff_tokens=200,
            fork_failure=fork_failure,
        )

    def forkable(self, history: History, provider: str) -> ForkableTurn | None:
        for segment in history.newest_first():
            last = segment.through.run if segment.through.item == WHOLE_RUN else segment.through.run - 1
            runs = [
                run
                for run in self.runs.values()
                if (run.thread_id, run.provider, run.end) == (segment.thread_id, provider, RunStatus.COMPLETED)
                and segment.after.run < run.position <= last
                and run.native_thread_id is not None
                and (run.native_turn_id is not None or PROVIDERS[provider].fork is ForkSupport.LATEST)
                and self.provider_threads[run.provider_thread_id or ""].status is not ProviderThreadStatus.LOST
            ]
            for run in sorted(runs, key=lambda found: found.position, reverse=True):
                known = History.at(Mark(run.position), self.chain(run.thread_id))
                if known.minus(history):
                    continue
                behind = self.provider_threads[run.provider_thread_id or ""]
                pending = self.runs.get(self.threads[behind.thread_id].active_run_id or "")
                starting = pending is not None and pending.status is RunStatus.STARTING
                return ForkableTurn(
                    run=run,
                    known=known,
                    later_turns=behind.turns - (run.turn_ordinal or 0) + starting,
                    later_terminal_turns=behind.ended_turns - (run.turn_ordinal or 0),
                )
        return None

    def tally(self, thread: str, mark: Mark) -> Tally:
        """What all runs that were ever accepted up to the mark hold."""
        runs = [run for run in self.runs.values() if run.thread_id == thread and run.started_at is not None]
        through = [run for run in runs if run.position <= mark.run]
        return Tally(len(through), sum(run.tokens for run in through))

    def run_at(self, thread: str, position: int) -> Run:
        return next(run for run in self.runs.values() if (run.thread_id, run.position) == (thread, position))

    def expand(self, history: History) -> tuple[Told, ...]:
        """The runs a history stands for, one by one."""
        told: list[Told] = []
        for segment in history.segments:
            for run in sorted(self.runs.values(), key=lambda found: found.position):
                if run.thread_id != segment.thread_id or run.started_at is None:
                    continue
                if segment.first_run <= run.position <= segment.last_run:
                    cut = run.position == segment.through.run and segment.through.item != WHOLE_RUN
                    begun = run.position == segment.after.run
                    told.append(Told(run.id, segment.through.item if cut else None, segment.after.item if begun else 0))
        return tuple(told)

    def told(self, run: str, plan: StartPlan) -> PureStart:
        return PureStart(
            outcome=plan.outcome.value,
            resume=plan.resume.native_thread_id if plan.resume else None,
            fork=(plan.native_fork.native_thread_id, plan.native_fork.last_turn_id) if plan.native_fork else None,
            handed=(
                *self.expand(plan.deliver),
                *(told for parcel in plan.parcels for told in self.expand(parcel.deliver)),
            ),
            run=run,
        )

    def close(self, run: str, status: RunStatus) -> None:
        found = self.runs[run]
        thread = self.threads[found.thread_id]
        completed = status is RunStatus.COMPLETED
        self.runs[run] = found.model_copy(update={"status": status, "stable": completed})
        stable = {"stable_run_id": run, "stable_position": found.position} if completed else {}
        self.threads[thread.id] = thread.model_copy(update={"active_run_id": None} | stable)
        if found.provider_thread_id is not None:
            behind = self.provider_threads[found.provider_thread_id]
            self.provider_threads[behind.id] = behind.model_copy(update={"ended_turns": behind.ended_turns + 1})


def _thread(name: str) -> Thread:
    return Thread(
        id=name,
        status=ThreadStatus.ACTIVE,
        created_by=Creator.USER,
        created_at=NOW,
        updated_at=NOW,
        generation=1,
        depth=0,
        root_thread_id=name,
    )


def _item(run: str, position: int) -> TurnItem:
    return TurnItem(
        id=f"{run}-{position}",
        run_id=run,
        thread_id="",
        position=position,
        kind=ItemKind.ASSISTANT_MESSAGE,
        status=ItemStatus.FINISHED,
        created_at=NOW,
    )
