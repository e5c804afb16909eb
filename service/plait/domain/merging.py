"""Bringing what other threads did into one: what is carried, what is refused, and what waits for the next start."""

from collections.abc import Sequence
from typing import NamedTuple

from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.history import History
from plait.domain.model import Run, SourcePoint, Thread, Transfer, TransferType
from plait.domain.tallies import Ledger, measure

BROUGHT = frozenset({TransferType.MERGE_BACK, TransferType.SUBAGENT_RESULT})
"""Transfers that bring what another thread did into one that goes on: as many as there are, with its next message."""


class Past(NamedTuple):
    """The history of a point, and what those who made it left out of it on purpose."""

    history: History = History()
    left_out: History = History()


class Carried(NamedTuple):
    """What a merge carries, and what it leaves behind because the target itself had rolled it back."""

    part: History
    rolled_back: History


def carried(source: Past, target: Past, target_id: str) -> Carried:
    """History of the source less that of the target. What the target itself rolled back is not brought back into it.

    Neither is what was left out so before, by the target or by those whose history it stands on: later runs of theirs
    were told without it.
    """
    beyond = source.history.minus(target.history).minus(target.left_out)
    part = beyond.without(target_id)
    return Carried(part, beyond.minus(part))


def merge_point(source: Thread, target: Thread) -> SourcePoint:
    """The point a merge takes: the latest stable one of the source.

    Raises `InvalidInput`, and `Refused` with `NO_COMMON_ANCESTOR` or `NO_STABLE_POINT`.
    """
    if source.id == target.id:
        raise InvalidInput("A thread can't be merged into itself: sourceThreadId and targetThreadId are the same.")
    if source.root_thread_id != target.root_thread_id:
        raise no_common_ancestor(source, target)
    point = source.latest_stable
    if point is None:
        raise Refused(
            ErrorCode.NO_STABLE_POINT, f"Thread {source.id} has no completed run yet: there is nothing to merge."
        )
    return point


def no_common_ancestor(source: Thread, target: Thread) -> Refused:
    """The refusal of a merge between threads whose histories share nothing."""
    return Refused(
        ErrorCode.NO_COMMON_ANCESTOR,
        f"Threads {source.id} and {target.id} share no history: only what began as one can be merged.",
    )


class Waiting(NamedTuple):
    """A transfer that waits to be brought in, the past of its source point, and the generation of the run there.

    `title` is that of the thread it was asked of. `run` is the subagent's where it is a result. `gone`: the point was
    rolled back in its own thread, so nobody should be told of it any more.
    """

    transfer: Transfer
    source: Past
    title: str | None
    generation: int
    gone: bool
    run: Run | None = None


class Brought(NamedTuple):
    """What one transfer brings with the next message: nothing, where the target has it all by now.

    The result of a subagent (`run`) brings no runs: it becomes an item of the run that takes it.
    """

    transfer: Transfer
    title: str | None
    generation: int
    part: History
    rolled_back: History
    leaves: History
    """All that stays left out by this: `rolled_back`, and what the source stands on without having it."""
    unseen: History
    """What the target has and the source has not seen."""
    run: Run | None = None


class Bringing(NamedTuple):
    """What of the waiting transfers is brought, in their order, and those that nobody should use any more."""

    brought: tuple[Brought, ...]
    spent: tuple[Transfer, ...]


def bring(target_id: str, target: Past, waiting: Sequence[Waiting], at_most: int, *, results: bool = True) -> Bringing:
    """What a start brings into the target, each run once, however many transfers have it.

    At most `at_most` have something to tell; the others wait on, and so do all `results` of subagents where the
    provider can't be told any: only a text brings one.
    """
    brought: list[Brought] = []
    telling = 0
    past = target
    for each in waiting:
        if each.gone:
            continue
        if each.run is not None and not results:
            continue
        part, rolled_back = carried(each.source, past, target_id)
        tells = bool(part) or each.run is not None
        telling += tells
        if tells and telling > at_most:
            continue
        leaves = rolled_back.plus(each.source.left_out)
        unseen = target.history.minus(each.source.history)
        brought.append(Brought(each.transfer, each.title, each.generation, part, rolled_back, leaves, unseen, each.run))
        past = Past(past.history.plus(part), past.left_out.plus(leaves))
    return Bringing(tuple(brought), tuple(each.transfer for each in waiting if each.gone))


def gap_notes(brought: Brought | None, ledger: Ledger) -> tuple[str, ...]:
    """What the reader of brought context should know of the gap between the two threads."""
    if brought is None or brought.run is not None:
        return ()
    notes: list[str] = []
    unseen, left = measure(brought.unseen, ledger).runs, measure(brought.rolled_back, ledger).runs
    if unseen:
        notes.append(f"This conversation has {_runs(unseen)} that the other had not seen when it did this.")
    if left:
        notes.append(f"{_runs(left).capitalize()} of this conversation that it took back are not brought back.")
    return tuple(notes)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
