"""What the API needs of the rest: the reads, the commands, and what a process knows of itself."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from plait.commands.contracts import (
    AppendTurnItems,
    CancelTransfer,
    CheckpointResult,
    CreateCheckpoint,
    CreateThread,
    EndRun,
    ForkResult,
    ForkThread,
    HeartbeatRun,
    ItemsResult,
    PlannedStart,
    ReportRunStarted,
    RunResult,
    StartResult,
    StartRun,
    ThreadResult,
    TransferResult,
)
from plait.domain.planning import Capabilities
from plait.graph.readers import Readers


class Commands(Protocol):
    """The commands. `key` is the `clientMutationId`: with the same one the first answer is given again.

    Every method raises `PlaitError` for a refusal and has then written nothing.
    """

    async def create_thread(self, key: str | None, input: CreateThread, /) -> ThreadResult: ...
    async def fork_thread(self, key: str | None, input: ForkThread, /) -> ForkResult: ...
    async def start_run(self, key: str | None, input: StartRun, /) -> StartResult: ...
    async def report_run_started(self, key: str | None, input: ReportRunStarted, /) -> StartResult: ...
    async def append_turn_items(self, key: str | None, input: AppendTurnItems, /) -> ItemsResult: ...
    async def complete_run(self, key: str | None, input: EndRun, /) -> RunResult: ...
    async def fail_run(self, key: str | None, input: EndRun, /) -> RunResult: ...
    async def interrupt_run(self, key: str | None, input: EndRun, /) -> RunResult: ...
    async def heartbeat_run(self, key: str | None, input: HeartbeatRun, /) -> RunResult: ...
    async def create_checkpoint(self, key: str | None, input: CreateCheckpoint, /) -> CheckpointResult: ...
    async def cancel_transfer(self, key: str | None, input: CancelTransfer, /) -> TransferResult: ...
    async def explain_start(self, thread_id: str, provider: str, model: str | None, /) -> PlannedStart: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may send and ask for."""

    max_text_bytes: int = 1024 * 1024
    """Largest single text (a message, an item), in bytes of UTF-8."""
    max_body_bytes: int = 8 * 1024 * 1024
    """Largest body of an HTTP request, in bytes."""
    max_page_size: int = 100
    """Largest `first` or `last` of a connection."""
    max_list: int = 250
    """Largest plain list: items of one append, `first` of a list that is no connection."""
    max_lineage_depth: int = 10_000
    """Largest `maxDepth` of a lineage, and its default."""


@dataclass(frozen=True, slots=True)
class ApiServices:
    """The parts the API is built on; `plait.wiring` puts them together."""

    readers: Readers
    commands: Commands
    ready: Callable[[], Awaitable[bool]]
    """Whether requests can be served now: the store answers and its schema is there."""
    providers: Sequence[Capabilities]
    limits: Limits = Limits()
    lifespan: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Entered before the first request is taken and left after the last."""
