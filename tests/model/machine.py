"""Random sequences of commands, run against a backend and the model side by side.

The promise of the product is checked at every start: what the provider is told, natively and by handoffs, is exactly
the history at that point: nothing missing, nothing twice, nothing from an abandoned branch.
"""

from __future__ import annotations

from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.model.lineage import ALL, History, Model, ModelRun, ModelThread, Told, seen

PROVIDERS = ("codex", "claude", "acp", "plain", "mute")
"""Forks at a turn; forks at a turn; forks its latest state; neither forks nor resumes; forks, but takes no context."""


LIVE = ("pending", "resolved_native", "resolved_portable")


class Start(Protocol):
    """What a backend says of a start."""

    outcome: str
    resume: str | None
    fork: tuple[str, str | None] | None
    handed: tuple[Told, ...]
    run: str | None


class Backend(Protocol):
    """The code under test. Names of threads, runs and items are its ids; a refusal is returned as its code."""

    def create_thread(self) -> str: ...
    def fork(self, source: str, run: str | None, item: tuple[str, int] | None) -> str: ...
    def start(self, thread: str, provider: str) -> Start | str: ...
    def accept(self, run: str, native: str | None, turn: str | None) -> str | None: ...
    def report_failure(self, run: str) -> Start | str: ...
    def append(self, run: str) -> str | None: ...
    def end(self, run: str, state: str) -> str | None: ...
    def checkpoint(self, thread: str, run: str) -> str | None: ...
    def cancel(self, thread: str) -> str | None: ...
    def roll_back(self, thread: str, run: str) -> str | None: ...
    def merge(self, source: str, target: str) -> str | None: ...
    def cancel_merge(self, source: str, target: str) -> str | None: ...
    def records(self) -> dict[str, Any]: ...


class LineageMachine(RuleBasedStateMachine):
    """One backend, one model, any order of commands."""

    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.plans: dict[str, Start] = {}
        self.told: dict[str, History] = {}
        self.known_at_plan: dict[str, History] = {}
        self.accepted: set[str] = set()
        self.count = 0

    # Picking

    def pick_thread(self, number: int) -> ModelThread | None:
        threads = list(self.model.threads.values())
        return threads[number % len(threads)] if threads else None

    def pick_run(self, number: int, *states: str) -> ModelRun | None:
        runs = [run for run in self.model.runs.values() if run.state in states]
        return runs[number % len(runs)] if runs else None

    def fresh(self, what: str) -> str:
        self.count += 1
        return f"{what}-{id(self)}-{self.count}"

    # Commands

    @initialize(providers=st.lists(st.sampled_from(PROVIDERS), min_size=1, max_size=4))
    def begin(self, providers: list[str]) -> None:
        """A thread with some runs to begin with: most commands need a history."""
        self.create_thread()
        for provider in providers:
            self.whole_run(0, provider)

    @rule(number=st.integers(0, 50), provider=st.sampled_from(PROVIDERS))
    def whole_run(self, number: int, provider: str) -> None:
        """A run from its start to its completion, with native ids, where the thread is free."""
        thread = self.pick_thread(number)
        if thread is None or self.model.active_run(thread.name) is not None:
            return
        self.start_in(thread, provider)
        run = self.model.active_run(thread.name)
        if run is None:
            return
        self.accept_run(run, named=True)
        self.append_to(run)
        self.end_run(run, "completed")

    @rule()
    def create_thread(self) -> None:
        name = self.backend.create_thread()
        self.model.add_root(name)

    @rule(number=st.integers(0, 50))
    def fork_latest(self, number: int) -> None:
        source = self.pick_thread(number)
        if source is None:
            return
        point = self.model.latest_stable(source.name)
        answer = self.backend.fork(source.name, None, None)
        if point is None:
            assert answer == "NO_STABLE_POINT"
            return
        self.model.add_fork(answer, source.name, point)

    @rule(number=st.integers(0, 50), at=st.integers(0, 50))
    def fork_at_run(self, number: int, at: int) -> None:
        """At any run of any thread: the answer tells whether it is a point of this thread's history."""
        source, run = self.pick_thread(number), self.pick_run(at, "starting", "running", "completed", "failed")
        if source is None or run is None:
            return
        whole = seen(source.history).get(run.name) == ALL
        answer = self.backend.fork(source.name, run.name, None)
        if run.active:
            assert answer == "RUN_ACTIVE"
        elif run.rolled_back and (run.thread == source.name or not whole):
            assert answer == "RUN_ROLLED_BACK"
        elif not run.stable:
            assert answer == "RUN_NOT_STABLE"
        elif not whole or run.thread not in source.line:
            assert answer == "INVALID_INPUT"
        else:
            self.model.add_fork(answer, source.name, Told(run.name))

    @rule(number=st.integers(0, 50), at=st.integers(0, 50), item=st.integers(1, 4))
    def fork_at_item(self, number: int, at: int, item: int) -> None:
        source, run = self.pick_thread(number), self.pick_run(at, "completed")
        if source is None or run is None or seen(source.history).get(run.name) != ALL or run.thread not in source.line:
            return
        item = min(item, run.items)
        answer = self.backend.fork(source.name, None, (run.name, item))
        last = Told(run.name, None if item == run.items else item)
        self.model.add_fork(answer, source.name, last)

    @rule(number=st.integers(0, 50), provider=st.sampled_from(PROVIDERS))
    def start(self, number: int, provider: str) -> None:
        thread = self.pick_thread(number)
        if thread is not None:
            self.start_in(thread, provider)

    def start_in(self, thread: ModelThread, provider: str) -> None:
        answer = self.backend.start(thread.name, provider)
        if self.model.active_run(thread.name) is not None:
            assert answer == "THREAD_BUSY"
            return
        if isinstance(answer, str):
            assert answer == "UNSUPPORTED_TRANSFER"
            assert provider == "mute", "a provider that takes context can always be told a history"
            assert not self.natively_known(thread, provider), "what the provider's own thread knows needs no handoff"
            return
        assert answer.run is not None
        self.model.runs[answer.run] = ModelRun(answer.run, thread.name, provider)
        self.model.start(answer.run)
        thread.started.append(answer.run)
        self.check(thread, provider, answer)

    @rule(number=st.integers(0, 50), named=st.booleans())
    def accept(self, number: int, named: bool) -> None:
        run = self.pick_run(number, "starting")
        if run is not None:
            self.accept_run(run, named)

    def accept_run(self, run: ModelRun, named: bool) -> None:
        plan = self.plans[run.name]
        native = plan.resume or (self.fresh("native") if named or plan.fork else None)
        turn = self.fresh("turn") if named else None
        told = self.told[run.name]
        if run.provider == "acp" and plan.fork is not None and self.went_on(run, plan.fork[0]):
            # The source has gone on since the plan, or may do so at any moment; this provider forks its latest state.
            assert self.backend.accept(run.name, native, turn) == "PLAN_OUTDATED"
            self.fail_start(run)
            return
        assert self.backend.accept(run.name, native, turn) is None
        self.model.accept(run.name, native, turn, told)
        self.accepted.add(run.name)

    def went_on(self, run: ModelRun, native: str) -> bool:
        """Whether a native thread may hold more than when the start of a run was planned."""
        source = self.model.natives[native]
        working = self.model.active_run(source.thread)
        starting = working is not None and working.state == "starting" and working.name != run.name
        return starting or source.told != self.known_at_plan[run.name]

    @rule(number=st.integers(0, 50))
    def native_way_fails(self, number: int) -> None:
        """A resume or a native fork that fails is planned anew; any other start that fails ends the run."""
        run = self.pick_run(number, "starting")
        if run is not None:
            self.fail_start(run)

    def fail_start(self, run: ModelRun) -> None:
        before = self.plans[run.name]
        if before.resume is not None:
            self.model.natives[before.resume].lost = True
        answer = self.backend.report_failure(run.name)
        assert not isinstance(answer, str)
        if answer.run is None:
            assert (before.resume is None and before.fork is None) or run.provider == "mute"
            run.state = "failed"
            return
        assert before.resume is not None or before.fork is not None
        assert before.fork is None or answer.fork is None, "a native fork that failed is not tried again"
        self.model.start(run.name)
        self.check(self.model.threads[run.thread], run.provider, answer, replanned=True)

    @rule(number=st.integers(0, 50))
    def append(self, number: int) -> None:
        run = self.pick_run(number, "running", "starting", "completed")
        if run is not None:
            self.append_to(run)

    def append_to(self, run: ModelRun) -> None:
        code = self.backend.append(run.name)
        if run.state == "running":
            assert code is None
            run.items += 1
        else:
            assert code == {"starting": "RUN_NOT_STARTED", "completed": "RUN_NOT_ACTIVE"}[run.state]

    @rule(number=st.integers(0, 50), state=st.sampled_from(["completed", "failed", "interrupted"]))
    def end(self, number: int, state: str) -> None:
        run = self.pick_run(number, "running", "starting")
        if run is not None:
            self.end_run(run, state)

    def end_run(self, run: ModelRun, state: str) -> None:
        code = self.backend.end(run.name, state)
        if run.state == "starting" and state == "completed":
            assert code == "RUN_NOT_STARTED"
            return
        assert code is None
        run.state, run.stable = state, state == "completed"

    @rule(number=st.integers(0, 50))
    def checkpoint(self, number: int) -> None:
        """An explicit checkpoint makes a source point of a run that failed."""
        run = self.pick_run(number, "failed", "running")
        if run is None:
            return
        code = self.backend.checkpoint(run.thread, run.name)
        if run.active:
            assert code == "RUN_ACTIVE"
        elif run.rolled_back:
            assert code == "RUN_ROLLED_BACK"
        elif run.name not in self.model.own(run.thread):
            assert code == "RUN_NOT_STARTED"
        else:
            assert code is None
            run.stable = True

    @rule(number=st.integers(0, 50))
    def cancel(self, number: int) -> None:
        """A cancelled transfer changes no history: the next start makes another from the same points."""
        thread = self.pick_thread(number)
        if thread is not None:
            assert self.backend.cancel(thread.name) in (None, "TRANSFER_NOT_PENDING", "THREAD_BUSY")

    @rule(number=st.integers(0, 50), back=st.integers(0, 3))
    def roll_back(self, number: int, back: int) -> None:
        """A thread forgets its last few runs; a fork may go back to where it came from."""
        thread = self.pick_thread(number)
        if thread is None:
            return
        own = self.model.own(thread.name)
        keep = len(own) - back
        if keep > 0:
            target = kept = own[keep - 1]
        elif thread.inherited:
            target, kept = thread.inherited[-1].run, None
        else:
            return
        code = self.backend.roll_back(thread.name, target)
        if self.model.active_run(thread.name) is not None:
            assert code == "THREAD_BUSY"
            return
        assert code is None
        self.model.roll_back(thread.name, kept)

    @rule(number=st.integers(0, 50), at=st.integers(0, 50))
    def roll_back_to_any_run(self, number: int, at: int) -> None:
        """Runs that are no place to go back to are told apart."""
        thread, run = self.pick_thread(number), self.pick_run(at, "completed", "failed", "interrupted")
        if thread is None or run is None or self.model.active_run(thread.name) is not None:
            return
        if thread.inherited and thread.inherited[-1].run == run.name:
            return
        expected = None
        if run.thread != thread.name:
            expected = "INVALID_INPUT"
        elif run.rolled_back:
            expected = "RUN_ROLLED_BACK"
        elif run.name not in self.model.own(thread.name):
            expected = "RUN_NOT_STARTED"
        if expected is not None:
            assert self.backend.roll_back(thread.name, run.name) == expected

    @rule(number=st.integers(0, 50), into=st.integers(0, 50))
    def merge(self, number: int, into: int) -> None:
        """Any thread into any other: a fork into its source, a sibling, the other way, again."""
        source, target = self.pick_thread(number), self.pick_thread(into)
        if source is not None and target is not None and source is not target:
            expected = self.model.merge(source.name, target.name)
            assert self.backend.merge(source.name, target.name) == expected

    @rule(number=st.integers(0, 50), at=st.integers(0, 5))
    def cancel_merge(self, number: int, at: int) -> None:
        """Who calls a merge off is not told of it; but a start that carries it goes on."""
        thread = self.pick_thread(number)
        if thread is None or not thread.pending:
            return
        merge = thread.pending[at % len(thread.pending)]
        if [other.source for other in thread.pending].count(merge.source) > 1:
            return
        run = self.model.active_run(thread.name)
        code = self.backend.cancel_merge(merge.source, thread.name)
        if run is not None and run.state == "starting" and merge in run.brings:
            assert code == "THREAD_BUSY"
            return
        assert code is None
        thread.pending.remove(merge)

    # What must hold

    def check(self, thread: ModelThread, provider: str, plan: Start, *, replanned: bool = False) -> None:
        """The promise, and that the cheapest honest way was taken."""
        assert plan.run is not None
        expected = self.model.runs[plan.run].before
        known = self.known(plan, provider)
        told = (*known, *plan.handed)
        assert seen(told) == seen(expected), (plan.outcome, known, plan.handed, expected)
        self.model.in_order(told)
        if plan.outcome == "none":
            assert not plan.handed
        if self.resumable(thread, provider, expected):
            assert plan.outcome == "none", "what knows the whole history is resumed"
        if plan.outcome == "portable" and provider in ("codex", "claude") and not replanned:
            assert not self.natively_known(thread, provider), "a native way comes before a portable one"
        self.plans[plan.run] = plan
        self.told[plan.run] = told
        self.known_at_plan[plan.run] = known

    def known(self, plan: Start, provider: str) -> History:
        if plan.resume is not None:
            native = self.model.natives[plan.resume]
            assert not native.lost
            return native.told
        if plan.fork is not None:
            native = self.model.natives[plan.fork[0]]
            if provider == "acp":
                return native.told
            assert plan.fork[1] is not None, "a fork at a turn names the turn"
            return native.through(plan.fork[1])
        return ()

    def resumable(self, thread: ModelThread, provider: str, history: History) -> bool:
        """Whether a provider thread of this thread knows exactly this history and can go on."""
        return provider != "plain" and any(
            native.provider == provider
            and native.thread == thread.name
            and not native.lost
            and history
            and seen(native.told) == seen(history)
            for native in self.model.natives.values()
        )

    def natively_known(self, thread: ModelThread, provider: str) -> bool:
        """Whether the provider could fork its own thread at the very end of this history, with nothing to bring in."""
        if not thread.history or thread.history[-1].items is not None or self.model.brings(thread.name).taken:
            return False
        last = self.model.runs[thread.history[-1].run]
        return (
            seen(self.model.history_at(Told(last.name))) == seen(thread.history)
            and last.provider == provider
            and last.state == "completed"
            and last.native is not None
            and last.turn is not None
            and not self.model.natives[last.native].lost
        )

    @invariant()
    def records_hold(self) -> None:
        """What the records say, whatever came before."""
        records = self.backend.records()
        for thread, transfers in records["transfers"].items():
            own = [t for t in transfers if t["type"] != "merge_back"]
            live = [t for t in own if t["status"] in LIVE]
            assert len(live) <= 1, "at most one live transfer tells a thread its own history"
            for transfer in transfers:
                assert (transfer["status"] == "consumed") == (transfer["consumedBy"] is not None)
            consumers = [t["consumedBy"] for t in own if t["consumedBy"]]
            assert len(consumers) == len(set(consumers)), "a run consumes one transfer of its own history"
            found = self.model.threads[thread]
            merges = [t for t in transfers if t["type"] == "merge_back"]
            waiting = [t["source"] for t in merges if t["status"] in (*LIVE, "failed")]
            assert sorted(waiting) == sorted(merge.source for merge in found.pending), "what waits to be brought in"
            for run in found.started:
                taken = [t["source"] for t in merges if t["consumedBy"] == run]
                if run in self.accepted:
                    assert sorted(taken) == sorted(merge.source for merge in self.model.runs[run].brings)
            if not found.started:
                assert all(t["handoffs"] == 0 for t in transfers), "no context is built before the first start"
        for thread, histories in records["histories"].items():
            assert seen(histories) == seen(self.model.threads[thread].history)
            self.model.in_order(histories)
        for thread, active in records["active"].items():
            expected = self.model.active_run(thread)
            assert active == (expected.name if expected else None)
