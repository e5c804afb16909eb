"""Coverage: a history cut where the way it is known changes, held against sets of runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plait.domain.coverage import Covered, Link, Telling, Told, coverage, told_to
from plait.domain.history import START, History, Mark, Segment

segments = st.builds(
    lambda thread, ends: Segment(thread, Mark(min(ends)), Mark(max(ends))),
    st.sampled_from("ab"),
    st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda ends: ends[0] != ends[1]),
)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Segments that share nothing."""
    history = History()
    for segment in draw(st.lists(segments, max_size=4)):
        history = history.plus(History((segment,)))
    return history


def runs(part: History) -> list[tuple[str, int]]:
    return [
        (segment.thread_id, run) for segment in part.segments for run in range(segment.first_run, segment.last_run + 1)
    ]


@given(histories(), st.lists(histories(), max_size=3), histories())
def test_each_run_is_known_once_in_its_place_and_in_one_way(
    known: History, parts: list[History], present: History
) -> None:
    told: list[Told] = []
    rest = known
    for number, part in enumerate(parts):
        told.append(Told(f"h{number}", rest.common(part)))
        rest = rest.minus(part)

    found = coverage(known, told, present)

    assert runs(History(tuple(each.segment for each in found))) == runs(known)
    for each in found:
        inside = set(runs(History((each.segment,))))
        by = next((tell.handoff_id for tell in told if inside <= set(runs(tell.part))), None)
        assert each.handoff_id == by
        assert each.present == (inside <= set(runs(present)))
        assert each.present or not inside & set(runs(present))


def test_parts_that_touch_and_are_known_in_one_way_are_one() -> None:
    first, second = Segment("a", START, Mark(2)), Segment("a", Mark(2), Mark(4))

    found = coverage(History((first, second)), (), History((second, first)))

    assert found == (Covered(Segment("a", START, Mark(4)), None, True),)


def test_a_run_that_was_told_in_two_pieces_is_cut_at_the_item() -> None:
    piece, rest = Segment("a", START, Mark(2, 1)), Segment("a", Mark(2, 1), Mark(3))
    told = [Told("h1", History((piece,))), Told("h2", History((rest,)))]

    found = coverage(History((Segment("a", START, Mark(3)),)), told, History())

    assert found == (Covered(piece, "h1", False), Covered(rest, "h2", False))


def test_a_native_fork_has_the_handoffs_its_origin_had_been_told_by_then() -> None:
    links = {"fork": Link("origin", 5), "origin": Link("root", 3), "root": Link(None, None)}
    told = {name: Told(name, History()) for name in ("own", "before", "at", "after", "early", "late")}
    tellings = {
        "fork": [Telling(1, told["own"])],
        "origin": [Telling(2, told["before"]), Telling(5, told["at"]), Telling(6, told["after"])],
        "root": [Telling(1, told["early"]), Telling(4, told["late"])],
    }

    assert [each.handoff_id for each in told_to("fork", links, tellings)] == ["own", "before", "at", "early"]
