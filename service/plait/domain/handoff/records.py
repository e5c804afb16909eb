"""What goes into a handoff and what comes out: the request, the payload, the built text, the refusal."""

from enum import StrEnum

from pydantic import Field

from plait.domain.errors import ErrorCode, PlaitError
from plait.domain.model import Checkpoint, HandoffKind, Record, Run, TurnItem

MIN_HANDOFF_TOKENS = 200
"""The smallest budget, in tokens, that holds the frame and the note of what was left out with ids of ours."""


class Told(StrEnum):
    """What the reader is told that a handoff is a record of."""

    RUNS = "runs"
    BRANCH = "branch"
    RESULT = "result"


class RunContent(Record):
    """A run and its items that are to be carried, in order. `elsewhere`: a branch that was brought in did it."""

    run: Run
    items: tuple[TurnItem, ...]
    elsewhere: bool = False


class HandoffRequest(Record):
    """What is to be carried, and into how many tokens.

    `first` is the oldest run, when it is not in `newest`; `newest` the contiguous newest runs, oldest first;
    `total_runs` counts all runs to be carried. `omitted_range` has the ids of the first and last run between them
    that were not even read. `of`: a branch of the conversation, or the result of a subagent, whose title is
    `thread_title` then. `checkpoint` is the latest explicit one with a summary; `notes` are the caller's.
    """

    kind: HandoffKind
    target_provider: str
    budget_tokens: int
    of: Told = Told.RUNS
    thread_title: str | None = None
    first: RunContent | None = None
    newest: tuple[RunContent, ...] = ()
    total_runs: int = 0
    omitted_range: tuple[str, str] | None = None
    checkpoint: Checkpoint | None = None
    notes: tuple[str, ...] = ()


class Noted(Record):
    """A sentence and where it comes from; `text` is an excerpt when the item's own is long."""

    text: str
    run_id: str
    item_id: str | None = None


class FileNoted(Record):
    """The last change of a file. `added` and `removed` count diff lines over all its changes."""

    path: str
    change: str
    added: int
    removed: int
    run_id: str
    item_id: str


class CommandNoted(Record):
    """A command's last outcome; `times` counts how often it ran. The exit code is absent where none was reported."""

    command: str
    outcome: str
    exit_code: int | None
    times: int
    run_id: str
    item_id: str


class StepNoted(Record):
    """A step of the latest plan."""

    step: str
    status: str
    run_id: str
    item_id: str


class SubagentNoted(Record):
    """How a subagent ended; `result` is an excerpt."""

    thread_id: str
    status: str
    result: str
    run_id: str
    item_id: str


class LeftOut(Record):
    """Something the text does not show: what, how many, why, and for runs the ids of the first and the last."""

    what: str
    count: int
    reason: str
    from_run_id: str | None = Field(default=None, alias="from")
    to_run_id: str | None = Field(default=None, alias="to")


class HandoffPayload(Record):
    """What the text says, structured: ids and excerpts, no secrets.

    The lists hold what the text shows. `runs` are those shown in the transcript or by their first request; with the
    `runs` of `left_out` they are all. `redactions` counts secrets by type in all that was read.
    """

    goal: Noted | None = None
    decisions: tuple[Noted, ...] = ()
    files_changed: tuple[FileNoted, ...] = ()
    commands: tuple[CommandNoted, ...] = ()
    plan: tuple[StepNoted, ...] = ()
    open_questions: tuple[Noted, ...] = ()
    failures: tuple[Noted, ...] = ()
    subagent_results: tuple[SubagentNoted, ...] = ()
    checkpoint_id: str | None = None
    runs: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    redactions: dict[str, int] = Field(default_factory=dict[str, int])
    notes: tuple[str, ...] = ()


class BuiltHandoff(Record):
    """The text as sent, its SHA-256 (hex, of the UTF-8), its tokens, and the runs it shows anything of."""

    text: str
    hash: str
    tokens: int
    payload: HandoffPayload
    carries: tuple[str, ...]


class HandoffTooSmall(PlaitError):
    """The budget can't hold even the frame and the note of what was left out."""

    def __init__(self, budget_tokens: int, needed_tokens: int) -> None:
        super().__init__(
            ErrorCode.UNSUPPORTED_TRANSFER,
            f"A handoff of {budget_tokens} tokens is too small: its frame and the note of what was left out "
            f"need {needed_tokens}.",
        )
        self.budget_tokens = budget_tokens
        self.needed_tokens = needed_tokens
