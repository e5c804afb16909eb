"""What a plan of a start is made of; `planner` decides it."""

import re
from enum import StrEnum

from plait.domain.history import History
from plait.domain.model import Record, Strategy
from plait.domain.tallies import Tally


class Outcome(StrEnum):
    """The base of a start. `NONE`: resume (or a first start with nothing to tell). `DELTA`: resume and a delta."""

    NONE = "none"
    NATIVE = "native"
    PORTABLE = "portable"
    DELTA = "delta"
    UNSUPPORTED = "unsupported"


class ForkSupport(StrEnum):
    """At which point a provider can fork its own thread."""

    NONE = "none"
    LATEST = "latest"
    AT_TURN = "at_turn"


class ContextInjection(StrEnum):
    """How context can reach a provider thread besides the user's words."""

    NONE = "none"
    BEFORE_MESSAGE = "before_message"
    SYSTEM_TEXT = "system_text"
    OWN_ITEM = "own_item"


PROVIDER_KEY = re.compile(r"[a-z0-9._-]{1,64}", re.ASCII)
"""What the key of a provider looks like."""


class Capabilities(Record):
    """What one provider instance can do: all that the planner knows of it.

    `handoff_tokens` is the largest handoff it should be given, in tokens.
    """

    key: str
    driver: str
    fork: ForkSupport = ForkSupport.NONE
    resume: bool = True
    revert: bool = False
    injection: ContextInjection = ContextInjection.BEFORE_MESSAGE
    strong_native_ids: bool = True
    bound_to_directory: bool = False
    reports_children: bool = False
    handoff_tokens: int = 24_000


class NativeResume(Record):
    """Resume this provider thread."""

    provider_thread_id: str
    native_thread_id: str


class NativeFork(Record):
    """Fork this provider thread and keep everything through `last_turn_id`; none: its latest state, which is the point.

    `later_terminal_turns` is how many ended turns the provider thread has after it: what a provider that can only
    fork its latest state would have to take back.
    """

    provider_thread_id: str
    run_id: str
    native_thread_id: str
    last_turn_id: str | None
    later_terminal_turns: int


class Candidate(Record):
    """One way to start, and why it was taken or not.

    `cost_tokens` is an estimate of what it would send; none where there is nothing to fork.
    """

    outcome: Outcome
    strategy: Strategy | None = None
    native_thread_id: str | None = None
    native_turn_id: str | None = None
    cost_tokens: int | None
    taken: bool
    reason: str


class Parcel(Record):
    """What one transfer brings from another thread with this start, and what of it has to be told.

    `part` is what it adds to the history, `leaves` what it leaves out of it on purpose; `tallies` is what stands at the
    ends of each segment of the two.
    """

    transfer_id: str
    part: History
    leaves: History = History()
    tallies: tuple[tuple[Tally, Tally], ...]
    deliver: History


class StartPlan(Record):
    """How one run starts.

    `deliver` is what no native means brings of the thread's own history so far: a handoff must carry it. `parcels`
    come from other threads, each by its own transfer and handoff.
    """

    outcome: Outcome
    strategy: Strategy | None = None
    reason: str
    resume: NativeResume | None = None
    native_fork: NativeFork | None = None
    deliver: History = History()
    parcels: tuple[Parcel, ...] = ()
    forced: Strategy | None = None
    candidates: tuple[Candidate, ...] = ()
