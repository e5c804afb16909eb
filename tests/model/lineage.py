"""The model: what the words of the product say, with plain lists, and nothing of the code under test.

A thread is a list of runs. A fork begins with a copy of the history at its point. A provider's thread is the list of
what it was told: the turns it ran, and the runs that a handoff carried to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Told(NamedTuple):
    """One run of a history, whole, or only its first items."""

    run: str
    items: int | None = None


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

    @property
    def active(self) -> bool:
        return self.state in ("starting", "running")


@dataclass
class ModelThread:
    name: str
    root: str
    inherited: tuple[Told, ...] = ()
    own: list[str] = field(default_factory=list[str])
    """The accepted runs that were not rolled back, in order."""
    started: list[str] = field(default_factory=list[str])
    """All runs, those that never reached a provider too."""

    @property
    def history(self) -> tuple[Told, ...]:
        return (*self.inherited, *(Told(run) for run in self.own))


@dataclass
class NativeThread:
    """What a provider's thread was told, in order, and where each of its turns ended."""

    provider: str
    thread: str
    told: tuple[Told, ...] = ()
    turns: dict[str, int] = field(default_factory=dict[str, int])
    lost: bool = False

    def through(self, turn: str) -> tuple[Told, ...]:
        return self.told[: self.turns[turn]]


@dataclass
class Model:
    threads: dict[str, ModelThread] = field(default_factory=dict[str, ModelThread])
    runs: dict[str, ModelRun] = field(default_factory=dict[str, ModelRun])
    natives: dict[str, NativeThread] = field(default_factory=dict[str, NativeThread])

    def active_run(self, thread: str) -> ModelRun | None:
        return next((run for run in self.runs.values() if run.thread == thread and run.active), None)

    def latest_stable(self, thread: str) -> tuple[Told, ...] | None:
        """The history of the latest stable point: the last completed run, or else where the thread came from."""
        found = self.threads[thread]
        completed = [run for run in found.own if self.runs[run].state == "completed"]
        if completed:
            return self.history_through(thread, Told(completed[-1]))
        return found.inherited or None

    def history_through(self, thread: str, last: Told) -> tuple[Told, ...]:
        """The history of a thread up to a run of it, or to an item of that run."""
        history = self.threads[thread].history
        at = next(index for index, told in enumerate(history) if told.run == last.run)
        return (*history[:at], last)

    def roll_back(self, thread: str, keep: int) -> None:
        """Of the thread's own history its first `keep` runs stay."""
        found = self.threads[thread]
        for run in found.own[keep:]:
            self.runs[run].rolled_back = True
        del found.own[keep:]

    def accept(self, run: str, native: str | None, turn: str | None, told: tuple[Told, ...]) -> None:
        """The provider accepted the turn after having been told `told`."""
        found = self.runs[run]
        found.state, found.native, found.turn = "running", native, turn
        self.threads[found.thread].own.append(run)
        if native is not None:
            thread = self.natives.setdefault(native, NativeThread(found.provider, found.thread))
            thread.told = (*told, Told(run))
            if turn is not None:
                thread.turns[turn] = len(thread.told)
