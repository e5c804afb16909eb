"""The planner's order of preference, by table: what is known and can be done, and the start that follows."""

from __future__ import annotations

import pytest

from plait.domain.history import START, History, Mark, Segment
from plait.domain.model import (
    Executor,
    ProviderThread,
    ProviderThreadStatus,
    Run,
    RunStatus,
    Strategy,
)
from plait.domain.planner import ForkableTurn, KnownThread, StartSituation, plan_start
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport, Outcome, StartPlan
from plait.domain.tallies import Tally, measure
from tests.model.pure import NOW

FORKS = Capabilities(key="codex", driver="codex", fork=ForkSupport.AT_TURN)
TIP_ONLY = FORKS.model_copy(update={"fork": ForkSupport.LATEST})
MUTE = FORKS.model_copy(update={"injection": ContextInjection.NONE})
PLAIN = FORKS.model_copy(update={"fork": ForkSupport.NONE, "resume": False})


def runs(last: int, after: int = 0) -> History:
    return History((Segment("t", Mark(after) if after else START, Mark(last)),))


def known(
    last: int, status: ProviderThreadStatus = ProviderThreadStatus.ACTIVE, native: str | None = "n"
) -> KnownThread:
    thread = ProviderThread(
        id=f"p{last}",
        thread_id="t",
        provider="codex",
        native_thread_id=native,
        status=status,
        tip_run_id=f"r{last}",
        tip_position=last,
        turns=last,
        ended_turns=last,
        created_at=NOW,
    )
    return KnownThread(provider_thread=thread, known=runs(last))


def turn(at: int, later: int = 0) -> ForkableTurn:
    run = Run(
        id=f"r{at}",
        thread_id="t",
        position=at,
        generation=at,
        provider="codex",
        executor=Executor.CLIENT,
        status=RunStatus.COMPLETED,
        created_at=NOW,
        native_thread_id="n",
        native_turn_id=f"turn{at}",
        provider_thread_id="p",
    )
    return ForkableTurn(run=run, known=runs(at), later_turns=later, later_terminal_turns=later)


def plan(
    history: History,
    provider: Capabilities = FORKS,
    own: tuple[KnownThread, ...] = (),
    forkable: ForkableTurn | None = None,
    forced: Strategy | None = None,
) -> StartPlan:
    ledger = {("t", Mark(run)): Tally(run, run * 100) for run in range(1, 20)}
    return plan_start(
        StartSituation(
            history=history,
            provider=provider,
            own_threads=own,
            forkable=forkable,
            ledger=ledger,
            min_handoff_tokens=200,
            forced=forced,
        )
    )


@pytest.mark.parametrize(
    ("name", "found", "outcome", "deliver"),
    [
        ("nothing to tell", plan(History()), Outcome.NONE, History()),
        ("the whole is known", plan(runs(5), own=(known(5),), forkable=turn(5)), Outcome.NONE, History()),
        ("a part is known", plan(runs(5), own=(known(3),), forkable=turn(3)), Outcome.DELTA, runs(5, after=3)),
        ("the larger part wins", plan(runs(5), own=(known(2), known(4))), Outcome.DELTA, runs(5, after=4)),
        ("it saw what is gone", plan(runs(3), own=(known(5),), forkable=turn(3, 2)), Outcome.NATIVE, History()),
        ("it is lost", plan(runs(5), own=(known(5, ProviderThreadStatus.LOST),)), Outcome.PORTABLE, runs(5)),
        ("it has no native id", plan(runs(5), own=(known(5, native=None),)), Outcome.PORTABLE, runs(5)),
        ("a fork at the point", plan(runs(5), forkable=turn(5)), Outcome.NATIVE, History()),
        ("a fork and a delta", plan(runs(5), forkable=turn(3)), Outcome.NATIVE, runs(5, after=3)),
        ("the tip only, at the tip", plan(runs(5), TIP_ONLY, forkable=turn(5)), Outcome.NATIVE, History()),
        ("the tip only, gone on", plan(runs(5), TIP_ONLY, forkable=turn(5, 1)), Outcome.PORTABLE, runs(5)),
        ("neither forks nor resumes", plan(runs(5), PLAIN, own=(known(5),)), Outcome.PORTABLE, runs(5)),
        ("takes no context", plan(runs(5), MUTE), Outcome.UNSUPPORTED, History()),
        ("takes no context, but forks", plan(runs(5), MUTE, forkable=turn(5)), Outcome.NATIVE, History()),
        ("takes no delta", plan(runs(5), MUTE, own=(known(3),), forkable=turn(3)), Outcome.UNSUPPORTED, History()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_order_of_preference(name: str, found: StartPlan, outcome: Outcome, deliver: History) -> None:
    del name
    assert (found.outcome, found.deliver) == (outcome, deliver)
    taken = [candidate for candidate in found.candidates if candidate.taken]
    assert len(taken) == (0 if outcome is Outcome.UNSUPPORTED else 1)
    assert all(candidate.reason for candidate in found.candidates)


def test_a_strategy_can_be_forced() -> None:
    found = plan(runs(5), own=(known(5),), forkable=turn(5), forced=Strategy.PORTABLE_CONTEXT)
    assert found.outcome is Outcome.PORTABLE


def test_a_forced_strategy_that_is_impossible_is_refused_with_its_reason() -> None:
    found = plan(runs(5), PLAIN, forced=Strategy.NATIVE_FORK)
    assert found.outcome is Outcome.UNSUPPORTED
    assert "can't fork" in found.reason


def test_a_budget_too_small_for_any_handoff_is_no_way() -> None:
    small = FORKS.model_copy(update={"handoff_tokens": 50})
    assert plan(runs(5), small).outcome is Outcome.UNSUPPORTED


def test_a_native_fork_says_how_far_its_source_has_gone_on() -> None:
    found = plan(runs(3), forkable=turn(3, later=4))
    assert found.native_fork is not None
    assert (found.native_fork.last_turn_id, found.native_fork.later_terminal_turns) == ("turn3", 4)


def test_each_candidate_costs_what_it_would_send_within_the_budget() -> None:
    tight = FORKS.model_copy(update={"handoff_tokens": 250})
    costs = {c.outcome: c.cost_tokens for c in plan(runs(5), tight, own=(known(3),), forkable=turn(5)).candidates}
    assert costs == {Outcome.DELTA: 200, Outcome.NATIVE: 0, Outcome.PORTABLE: 250}


def test_measure_counts_runs_and_tokens_of_what_is_left() -> None:
    ledger = {("t", Mark(run)): Tally(run, run * 100) for run in range(1, 6)}
    assert measure(runs(5, after=2), ledger) == Tally(3, 300)
