"""The model: what the words of the product say, with plain lists, and nothing of the code under test.

A thread is a list of runs. A fork begins with a copy of the history at its point. A merge appends what the other list
has and this one has not. A provider's thread is the list of what it was told: the turns it ran, and the runs that a
handoff carried to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

ALL = 10**9
"""More items than any run has."""


class Told(NamedTuple):
    """One run of a history, whole, or some of its items: those after one number, through another."""

    run: str
    items: int | None = None
    after: int = 0

    @property
    def through(self) -> int:
        return ALL if self.items is None else self.items


History = tuple[Told, ...]


def seen(history: Iterable[Told]) -> dict[str, int]:
    """Through which item each run is in a history. Nothing may be in it twice, and no item without those before it."""
    found: dict[str, int] = {}
    for told in history:
        assert told.after == found.get(told.run, 0), f"{told} after {found.get(told.run, 0)} items of it"
        found[told.run] = told.through
    return found


def most(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """What either has."""
    return {run: max(one.get(run, 0), other.get(run, 0)) for run in one.keys() | other.keys()}


def beyond(history: Iterable[Told], known: dict[str, int]) -> History:
    """What a history has and `known` has not."""
    return tuple(
        told._replace(after=max(told.after, known.get(told.run, 0)))
        for told in history
        if known.get(told.run, 0) < told.through
    )


@dataclass
class ModelMerge:
    """A merge that waits: the thread it was asked of, its point, and the history there."""

    source: str
    point: Told
    history: History
    left: dict[str, int]


@dataclass
class ModelRun:
    name: str
    thread: str
    provider: str
    state: str = "starting"
    native: str | None = None
    turn: str | None = None
    items: int = 1
    stable: bool = False
    rolled_back: bool = False
    before: History = ()
    """The history it stands on, with what its start brings in."""
    brings: list[ModelMerge] = field(default_factory=list[ModelMerge])
    left: dict[str, int] = field(default_factory=dict[str, int])
    """What was left out on purpose of the history it stands on, and is not to be brought into it again."""

    @property
    def active(self) -> bool:
        return self.state in ("starting", "running")


@dataclass
class ModelThread:
    name: str
    root: str
    line: frozenset[str]
    """The thread and those it was forked from."""
    inherited: History = ()
    history: History = ()
    left: dict[str, int] = field(default_factory=dict[str, int])
    started: list[str] = field(default_factory=list[str])
    """All runs, those that never reached a provider too."""
    pending: list[ModelMerge] = field(default_factory=list[ModelMerge])


@dataclass
class NativeThread:
    """What a provider's thread was told, in order, and where each of its turns ended."""

    provider: str
    thread: str
    told: History = ()
    turns: dict[str, int] = field(default_factory=dict[str, int])
    lost: bool = False

    def through(self, turn: str) -> History:
        return self.told[: self.turns[turn]]


class Brings(NamedTuple):
    """What a start brings into a thread: the history it stands on, the merges it takes and those it drops."""

    history: History
    left: dict[str, int]
    taken: list[ModelMerge]
    spent: list[ModelMerge]


@dataclass
class Model:
    threads: dict[str, ModelThread] = field(default_factory=dict[str, ModelThread])
    runs: dict[str, ModelRun] = field(default_factory=dict[str, ModelRun])
    natives: dict[str, NativeThread] = field(default_factory=dict[str, NativeThread])

    def add_root(self, name: str) -> None:
        self.threads[name] = ModelThread(name, name, frozenset({name}))

    def add_fork(self, name: str, source: str, point: Told) -> None:
        origin, inherited = self.threads[source], self.history_at(point)
        self.threads[name] = ModelThread(
            name, origin.root, origin.line | {name}, inherited, inherited, self.runs[point.run].left
        )

    def active_run(self, thread: str) -> ModelRun | None:
        return next((run for run in self.runs.values() if run.thread == thread and run.active), None)

    def own(self, thread: str) -> list[str]:
        """The accepted runs of a thread that were not rolled back, in order."""
        return [told.run for told in self.threads[thread].history if self.runs[told.run].thread == thread]

    def latest_stable(self, thread: str) -> Told | None:
        """The last completed run, or else where the thread came from."""
        completed = [run for run in self.own(thread) if self.runs[run].state == "completed"]
        if completed:
            return Told(completed[-1])
        inherited = self.threads[thread].inherited
        return inherited[-1]._replace(after=0) if inherited else None

    def history_at(self, point: Told) -> History:
        """The history of a point: all that its run stands on, and the run, or its first items."""
        return (*self.runs[point.run].before, point)

    def without_own(self, thread: str, history: History) -> History:
        """What a merge brings of a history: not what the thread itself has rolled back."""
        return tuple(told for told in history if self.runs[told.run].thread != thread)

    def gone(self, merge: ModelMerge) -> bool:
        """Whether the point was rolled back in the thread that the merge was asked of."""
        run = self.runs[merge.point.run]
        return run.thread == merge.source and run.rolled_back

    def merge(self, source: str, target: str) -> str | None:
        """A merge between two threads: the code of its refusal, or none where it waits now."""
        point = self.latest_stable(source)
        if self.threads[source].root != self.threads[target].root:
            return "NO_COMMON_ANCESTOR"
        if point is None:
            return "NO_STABLE_POINT"
        found = self.threads[target]
        theirs = self.history_at(point)
        if not self.without_own(target, beyond(theirs, most(seen(found.history), found.left))):
            return "NOTHING_TO_MERGE"
        active = self.active_run(target)
        starting = active.brings if active is not None and active.state == "starting" else []
        if any(merge.source == source and merge.point == point for merge in found.pending):
            return None
        found.pending = [merge for merge in found.pending if merge.source != source or merge in starting]
        found.pending.append(ModelMerge(source, point, theirs, self.runs[point.run].left))
        return None

    def brings(self, thread: str) -> Brings:
        found = self.threads[thread]
        history, left = found.history, found.left
        taken, spent = list[ModelMerge](), list[ModelMerge]()
        for merge in found.pending:
            if self.gone(merge):
                spent.append(merge)
                continue
            new = beyond(merge.history, most(seen(history), left))
            part = self.without_own(thread, new)
            left = most(left, most(merge.left, {told.run: told.through for told in new if told not in part}))
            history = (*history, *part)
            taken.append(merge)
        return Brings(history, left, taken, spent)

    def start(self, run: str) -> None:
        """The run is planned: it takes what waits for its thread, once it is accepted."""
        found = self.runs[run]
        brings = self.brings(found.thread)
        thread = self.threads[found.thread]
        thread.pending = [merge for merge in thread.pending if merge not in brings.spent]
        found.before, found.left, found.brings = brings.history, brings.left, brings.taken

    def roll_back(self, thread: str, run: str | None) -> None:
        """The thread goes back to a run, or to where it came from. What later runs took in waits anew."""
        found = self.threads[thread]
        history = found.inherited if run is None else self.history_at(Told(run))
        point = found.inherited[-1].run if run is None else run
        left = [self.runs[own] for own in self.own(thread) if own not in seen(history)]
        for each in left:
            each.rolled_back = True
        found.history, found.left = history, self.runs[point].left
        found.pending += [merge for each in left for merge in each.brings if not self.gone(merge)]
        for other in self.threads.values():
            active = self.active_run(other.name)
            starting = active.brings if active is not None and active.state == "starting" else []
            other.pending = [
                merge for merge in other.pending if merge.source != thread or not self.gone(merge) or merge in starting
            ]

    def accept(self, run: str, native: str | None, turn: str | None, told: History) -> None:
        """The provider accepted the turn after having been told `told`."""
        found = self.runs[run]
        found.state, found.native, found.turn = "running", native, turn
        thread = self.threads[found.thread]
        thread.pending = [merge for merge in thread.pending if merge not in found.brings]
        thread.history, thread.left = (*found.before, Told(run)), found.left
        if native is not None:
            behind = self.natives.setdefault(native, NativeThread(found.provider, found.thread))
            behind.told = (*told, Told(run))
            if turn is not None:
                behind.turns[turn] = len(behind.told)

    def in_order(self, history: History) -> None:
        """A history has each run once, and before it all of what it stands on that is in the history at all."""
        whole = seen(history)
        have: dict[str, int] = {}
        for told in history:
            for before in self.runs[told.run].before:
                needed = min(before.through, whole.get(before.run, 0))
                assert have.get(before.run, 0) >= needed, f"{told.run} comes before {before}, on which it stands"
            have[told.run] = told.through
