"""What the API needs of the rest: the reads, the commands, and what a process knows of itself."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from plait.commands.all import Commands
from plait.domain.planning import Capabilities
from plait.graph.readers import Readers


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
