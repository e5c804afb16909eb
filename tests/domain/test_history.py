"""Histories as segments, held against plain sets of (thread, run, item)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plait.domain.history import START, WHOLE_RUN, History, Mark, Segment, ThreadLink

ITEMS = 4
RUNS = 5


def marks() -> st.SearchStrategy[Mark]:
    return st.builds(Mark, st.integers(1, RUNS), st.sampled_from([1, 2, 3, WHOLE_RUN]))


@st.composite
def chains(draw: st.DrawFn) -> list[ThreadLink]:
    """A thread, the point it was forked from, and so on to a root."""
    depth = draw(st.integers(1, 4))
    return [
        ThreadLink(
            f"t{level}", f"t{level + 1}" if level + 1 < depth else None, draw(marks()) if level + 1 < depth else START
        )
        for level in range(depth)
    ]


def atoms(history: History) -> list[tuple[str, int, int]]:
    """Every item of a history, one by one, in order."""
    found: list[tuple[str, int, int]] = []
    for segment in history.segments:
        for run in range(1, RUNS + 1):
            for item in range(1, ITEMS + 1):
                if segment.after < Mark(run, item) <= segment.through:
                    found.append((segment.thread_id, run, item))
    return found


@given(chains(), marks())
def test_a_history_is_the_origins_then_the_own_runs_up_to_the_mark(chain: list[ThreadLink], mark: Mark) -> None:
    expected: list[tuple[str, int, int]] = []
    through = mark
    for link in chain:
        own = [
            (link.thread_id, run, item)
            for run in range(1, RUNS + 1)
            for item in range(1, ITEMS + 1)
            if Mark(run, item) <= through
        ]
        expected = own + expected
        through = link.origin
    assert atoms(History.at(mark, chain)) == expected


@given(chains(), marks(), st.integers(0, 3), marks())
def test_minus_leaves_what_the_other_does_not_know_each_once_and_in_order(
    chain: list[ThreadLink], mark: Mark, level: int, known_mark: Mark
) -> None:
    history = History.at(mark, chain)
    known = History.at(known_mark, chain[min(level, len(chain) - 1) :])
    left = atoms(history.minus(known))
    assert left == [atom for atom in atoms(history) if atom not in set(atoms(known))]
    assert len(left) == len(set(left))


@given(chains(), marks(), st.integers(0, 3), marks())
def test_a_history_holds_a_run_when_it_holds_every_item_of_it(
    chain: list[ThreadLink], mark: Mark, level: int, asked: Mark
) -> None:
    history = History.at(mark, chain)
    thread = chain[min(level, len(chain) - 1)].thread_id
    wanted = {(thread, asked.run, item) for item in range(1, ITEMS + 1) if item <= asked.item}
    # A whole run is held only by a segment that goes on to its end, however few items it has today.
    held = wanted <= set(atoms(history)) and (
        asked.item != WHOLE_RUN
        or any(segment.thread_id == thread and segment.through >= Mark(asked.run) for segment in history.segments)
    )
    assert history.holds(thread, asked) == held


def test_a_cut_inside_a_run_leaves_the_rest_of_that_run() -> None:
    whole = History((Segment("t", START, Mark(3)),))
    known = History((Segment("t", START, Mark(2, 4)),))
    assert whole.minus(known).segments == (Segment("t", Mark(2, 4), Mark(3)),)


def test_nothing_is_left_of_what_is_known() -> None:
    history = History((Segment("a", START, Mark(2)), Segment("b", START, Mark(1))))
    assert not history.minus(history)
