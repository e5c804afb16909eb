"""The planner: one pure decision over the history, what the provider's threads know, and what the provider can do.

What must be delivered is always *history minus what the base knows*, where history holds what waits to be brought in
with this start; the bases differ only in what they know and in what they need of the provider. Order of preference:
resume what knows all → resume and a delta → native fork at the last known turn (and a delta) → a new provider thread
with the whole history → unsupported.
"""

from collections.abc import Iterator

from plait.domain.history import History
from plait.domain.merging import Brought
from plait.domain.model import ProviderThread, ProviderThreadStatus, Record, Run, Strategy
from plait.domain.planning import (
    Candidate,
    Capabilities,
    ContextInjection,
    ForkSupport,
    NativeFork,
    NativeResume,
    Outcome,
    Parcel,
    StartPlan,
)
from plait.domain.tallies import Ledger, measure, tallies_at_ends


class KnownThread(Record):
    """A provider thread of this thread, and the history it knows: that of its last run."""

    provider_thread: ProviderThread
    known: History


class ForkableTurn(Record):
    """A completed run of this provider in the history, whose native thread can be forked at its turn."""

    run: Run
    known: History
    later_turns: int
    later_terminal_turns: int


class StartSituation(Record):
    """All that a start is decided on.

    `history` is the thread's own so far; `brought` what transfers from other threads add to it with this start, in
    their order, each less what comes before. `subagent`: the thread is one's.
    """

    history: History
    brought: tuple[Brought, ...] = ()
    provider: Capabilities
    own_threads: tuple[KnownThread, ...] = ()
    forkable: ForkableTurn | None = None
    ledger: Ledger
    min_handoff_tokens: int
    subagent: bool = False
    forced: Strategy | None = None
    fork_failure: str | None = None

    @property
    def task_alone(self) -> bool:
        """Whether the run stands on nothing but the task of a subagent."""
        return self.subagent and not self.whole

    @property
    def whole(self) -> History:
        """The history that the run stands on."""
        return self.history.followed_by(each.part for each in self.brought)


class _Base(Record):
    """A way to start, before anyone asks whether it can be."""

    outcome: Outcome
    strategy: Strategy | None
    deliver: History
    resume: NativeResume | None = None
    native_fork: NativeFork | None = None
    obstacle: str | None = None
    merit: str


def plan_start(situation: StartSituation) -> StartPlan:
    """The plan of one start, with every candidate and why it was taken or not. Never raises."""
    taken: _Base | None = None
    candidates: list[Candidate] = []
    for base in _bases(situation):
        obstacle = base.obstacle or _obstacle(base, situation)
        wins = obstacle is None and taken is None
        if wins:
            taken = base
        reason = obstacle or (_merit(base, situation) if wins else f"Works, but {_title(taken)} comes first.")
        candidates.append(
            Candidate(
                outcome=base.outcome,
                strategy=base.strategy,
                native_thread_id=_native_thread(base),
                native_turn_id=base.native_fork.last_turn_id if base.native_fork else None,
                cost_tokens=_cost(base, situation),
                taken=wins,
                reason=reason,
            )
        )
    if taken is None:
        return StartPlan(
            outcome=Outcome.UNSUPPORTED,
            reason=" ".join(dict.fromkeys(candidate.reason for candidate in candidates)),
            forced=situation.forced,
            candidates=tuple(candidates),
        )
    return StartPlan(
        outcome=taken.outcome,
        strategy=taken.strategy,
        reason=next(candidate.reason for candidate in candidates if candidate.taken),
        resume=taken.resume,
        native_fork=taken.native_fork,
        deliver=situation.history.common(taken.deliver),
        parcels=tuple(_parcel(each, taken.deliver, situation.ledger) for each in situation.brought),
        forced=situation.forced,
        candidates=tuple(candidates),
    )


def _merit(base: _Base, situation: StartSituation) -> str:
    forced = situation.forced
    return base.merit if forced is None or base.strategy is not forced else f"The caller asked for {forced.name}."


def _parcel(brought: Brought, deliver: History, ledger: Ledger) -> Parcel:
    segments = (*brought.part.segments, *brought.leaves.segments)
    return Parcel(
        transfer_id=brought.transfer.id,
        part=brought.part,
        leaves=brought.leaves,
        tallies=tuple(tallies_at_ends(segment, ledger) for segment in segments),
        deliver=brought.part.common(deliver),
    )


def _bases(situation: StartSituation) -> Iterator[_Base]:
    if situation.task_alone:
        yield _Base(
            outcome=Outcome.PORTABLE,
            strategy=Strategy.PORTABLE_CONTEXT,
            deliver=History(),
            merit="The subagent is told its task alone, by the message: nothing of the conversation that spawned it.",
        )
        return
    if not situation.whole:
        yield _Base(
            outcome=Outcome.NONE,
            strategy=None,
            deliver=History(),
            merit="The thread has no history yet: a new provider thread needs no context.",
        )
        return
    resumes = [_resume(known, situation) for known in situation.own_threads]
    yield from sorted(resumes, key=lambda base: measure(base.deliver, situation.ledger).tokens)
    if situation.forkable is not None:
        yield _fork(situation.forkable, situation)
    elif situation.provider.fork is not ForkSupport.NONE:
        yield _no_fork(
            "Among the latest runs of this provider in the history none is completed with native ids to fork by."
        )
    else:
        yield _no_fork(f"Provider {situation.provider.key} can't fork its threads.")
    yield _Base(
        outcome=Outcome.PORTABLE,
        strategy=Strategy.PORTABLE_CONTEXT,
        deliver=situation.whole,
        merit="No native way brings this history to the provider: a new provider thread is told it in a handoff.",
    )


def _resume(known: KnownThread, situation: StartSituation) -> _Base:
    thread = known.provider_thread
    deliver = situation.whole.minus(known.known)
    obstacle = None
    if known.known.minus(situation.whole):
        obstacle = "It saw runs that are not in the history any more: it can't be resumed."
    elif thread.status is ProviderThreadStatus.LOST:
        obstacle = "Its native thread is lost: the provider could not resume it."
    elif thread.status is ProviderThreadStatus.DIVERGENT:
        obstacle = "Its native thread holds a turn that is in no history: it can be forked, not resumed."
    elif thread.native_thread_id is None:
        obstacle = "Its native thread id was never reported."
    elif not situation.provider.resume:
        obstacle = f"Provider {situation.provider.key} can't resume its threads."
    resume = NativeResume(provider_thread_id=thread.id, native_thread_id=thread.native_thread_id or "")
    if thread.turns == 0:
        return _Base(
            outcome=Outcome.NATIVE,
            strategy=Strategy.NATIVE_FORK,
            deliver=deliver,
            resume=resume,
            obstacle=obstacle,
            merit="The provider's own fork was made for a start that failed: it is used" + _and_rest(deliver),
        )
    return _Base(
        outcome=Outcome.DELTA if deliver else Outcome.NONE,
        strategy=Strategy.DELTA_CONTEXT if deliver else None,
        deliver=deliver,
        resume=resume,
        obstacle=obstacle,
        merit="The provider's thread knows a part of the history and is told the rest."
        if deliver
        else "The provider's thread knows the whole history.",
    )


def _fork(turn: ForkableTurn, situation: StartSituation) -> _Base:
    run, fork = turn.run, situation.provider.fork
    deliver = situation.whole.minus(turn.known)
    obstacle = None
    if situation.fork_failure is not None:
        obstacle = f"The provider has just failed to fork: {situation.fork_failure}"
    elif fork is ForkSupport.NONE:
        obstacle = f"Provider {situation.provider.key} can't fork its threads."
    elif not situation.provider.strong_native_ids:
        obstacle = f"The native ids of provider {situation.provider.key} are not reliable enough to fork by."
    elif fork is ForkSupport.LATEST and turn.later_turns > 0:
        obstacle = (
            f"Provider {situation.provider.key} forks only its latest state, "
            f"which is {turn.later_turns} turns past the point."
        )
    return _Base(
        outcome=Outcome.NATIVE,
        strategy=Strategy.NATIVE_FORK,
        deliver=deliver,
        native_fork=NativeFork(
            provider_thread_id=run.provider_thread_id or "",
            run_id=run.id,
            native_thread_id=run.native_thread_id or "",
            last_turn_id=run.native_turn_id,
            later_terminal_turns=turn.later_terminal_turns,
        ),
        obstacle=obstacle,
        merit="The provider forks its own thread at the last turn it knows"
        + (" and is told the rest." if deliver else ", which is the point itself."),
    )


def _and_rest(deliver: History) -> str:
    return ", and is told the rest." if deliver else "."


def _no_fork(reason: str) -> _Base:
    return _Base(outcome=Outcome.NATIVE, strategy=Strategy.NATIVE_FORK, deliver=History(), obstacle=reason, merit="")


def _obstacle(base: _Base, situation: StartSituation) -> str | None:
    provider = situation.provider
    if not situation.whole:
        # There is nothing to carry, by whatever strategy.
        return None
    if situation.forced is not None and base.strategy is not situation.forced:
        return f"The caller asked for {situation.forced.name}."
    if not base.deliver:
        return None
    if provider.injection is ContextInjection.NONE:
        return f"Provider {provider.key} takes no context from outside."
    if provider.handoff_tokens < situation.min_handoff_tokens:
        return f"Provider {provider.key} takes handoffs of {provider.handoff_tokens} tokens at most: too few for any."
    return None


def _cost(base: _Base, situation: StartSituation) -> int | None:
    """An estimate, for no candidate has its handoff built: the tokens of what it tells, within the budget."""
    if base.outcome is Outcome.NATIVE and base.native_fork is None and base.resume is None:
        return None
    return min(measure(base.deliver, situation.ledger).tokens, situation.provider.handoff_tokens)


def _native_thread(base: _Base) -> str | None:
    if base.native_fork is not None:
        return base.native_fork.native_thread_id
    return (base.resume.native_thread_id or None) if base.resume else None


_TITLES = {
    Outcome.NONE: "resuming",
    Outcome.DELTA: "resuming with a delta",
    Outcome.NATIVE: "the native fork",
    Outcome.PORTABLE: "a portable handoff",
    Outcome.UNSUPPORTED: "nothing",
}


def _title(base: _Base | None) -> str:
    return _TITLES[base.outcome] if base else "another"
