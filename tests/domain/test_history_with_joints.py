"""Histories of threads that were rolled back and that took in what others did, held against plain lists of runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from plait.domain.history import START, History, Joint, Mark, Segment, ThreadLink

Run = tuple[str, int]


@dataclass
class Line:
    """A thread, twice: as what each of its runs stands on, run by run, and as a link with joints."""

    name: str
    parent: str | None = None
    origin: int = 0
    inherited: tuple[Run, ...] = ()
    """The history of the origin."""
    histories: list[tuple[Run, ...]] = field(default_factory=list[tuple[Run, ...]])
    """The history of each run, by its number less one."""
    head: int = 0
    joints: list[Joint] = field(default_factory=list[Joint])

    def history(self, run: int | None = None) -> tuple[Run, ...]:
        run = self.head if run is None else run
        return self.histories[run - 1] if run else self.inherited

    def link(self) -> ThreadLink:
        return ThreadLink(self.name, self.parent, Mark(self.origin) if self.origin else START, tuple(self.joints))


class World:
    """Threads that grow by runs, forks, rollbacks and merges."""

    def __init__(self) -> None:
        self.lines = {"t0": Line("t0")}

    def at(self, name: str, run: int | None = None) -> History:
        chain: list[ThreadLink] = []
        line = self.lines[name]
        mark = line.head if run is None else run
        while True:
            chain.append(line.link())
            if line.parent is None:
                return History.at(Mark(mark) if mark else START, chain)
            line = self.lines[line.parent]

    def run(self, name: str, taken: list[str]) -> None:
        line = self.lines[name]
        before, known = line.history(), self.at(name)
        adds: tuple[Segment, ...] = ()
        for source in taken:
            before += tuple(run for run in self.lines[source].history() if run not in before)
            beyond = self.at(source).minus(known)
            adds += beyond.segments
            known = known.plus(beyond)
        last, number = Mark(len(line.histories)), len(line.histories) + 1
        previous = Mark(line.head)
        if adds or previous != last:
            line.joints.append(Joint(last if last.run else START, previous if previous.run else START, adds))
        line.histories.append((*before, (name, number)))
        line.head = number

    def fork(self, name: str, run: int) -> None:
        source, new = self.lines[name], f"t{len(self.lines)}"
        while run == 0 and source.parent is not None:
            run, source = source.origin, self.lines[source.parent]
        self.lines[new] = Line(new, source.name, run, source.history(run))

    def roll_back(self, name: str, run: int) -> None:
        line = self.lines[name]
        own = [number for thread, number in line.history() if thread == name]
        line.head = own[run % len(own)] if own else 0


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World()
    for _ in range(draw(st.integers(1, 25))):
        name = draw(st.sampled_from(sorted(world.lines)))
        match draw(st.sampled_from(["run", "run", "run", "merge", "fork", "roll back"])):
            case "run":
                world.run(name, [])
            case "merge":
                world.run(name, draw(st.lists(st.sampled_from(sorted(world.lines)), max_size=3, unique=True)))
            case "fork":
                world.fork(name, draw(st.integers(0, len(world.lines[name].histories))))
            case _:
                world.roll_back(name, draw(st.integers(0, 5)))
    return world


def runs(history: History) -> list[Run]:
    return [
        (segment.thread_id, run)
        for segment in history.segments
        for run in range(segment.first_run, segment.last_run + 1)
    ]


@given(worlds())
@settings(max_examples=300, deadline=None)
def test_the_history_of_every_run_ever_made_is_what_it_stands_on_each_once_in_order(world: World) -> None:
    for name, line in world.lines.items():
        for run in range(len(line.histories) + 1):
            assert runs(world.at(name, run)) == list(line.history(run))


@given(worlds(), st.data())
@settings(max_examples=300, deadline=None)
def test_less_more_and_common_are_those_of_sets_in_the_order_of_the_first(world: World, data: st.DataObject) -> None:
    names = sorted(world.lines)
    one, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    a, b = world.at(one), world.at(other)
    ours, theirs = runs(a), runs(b)

    assert runs(a.minus(b)) == [run for run in ours if run not in theirs]
    assert runs(a.plus(b)) == ours + [run for run in theirs if run not in ours]
    assert runs(a.common(b)) == [run for run in ours if run in theirs]
