"""Loads by id, gathered into one read for each kind of record and remembered for one request."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from strawberry.dataloader import DataLoader

from plait.domain.errors import NotFound
from plait.domain.model import Checkpoint, ExecutionNode, Handoff, ProviderThread, Run, Thread, Transfer, TurnItem
from plait.graph.coverage import CoverageKey, CoverageSegment
from plait.graph.pages import Page
from plait.graph.readers import Readers

MAX_BATCH = 250


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Identified)


class RecordLoader(DataLoader[str, R | None]):
    """Loads one kind of record by id."""

    def __init__(self, read: Callable[[Sequence[str]], Awaitable[list[R | None]]]) -> None:
        super().__init__(load_fn=read, max_batch_size=MAX_BATCH)

    async def must(self, id: str) -> R:
        """The record. Raises `NotFound` where there is none."""
        record = await self.load(id)
        if record is None:
            raise NotFound(f"There is no record {id}.")
        return record

    async def maybe(self, id: str | None) -> R | None:
        """The record, or nothing for no id. Raises `NotFound` where an id leads nowhere."""
        return None if id is None else await self.must(id)

    def keep(self, *records: R | None) -> None:
        """Remember records that are at hand already."""
        self.prime_many({record.id: record for record in records if record is not None}, force=True)


class Loaders:
    """The loaders of one request, made when first used."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    @cached_property
    def threads(self) -> RecordLoader[Thread]:
        return RecordLoader(self._readers.threads)

    @cached_property
    def runs(self) -> RecordLoader[Run]:
        return RecordLoader(self._readers.runs)

    @cached_property
    def items(self) -> RecordLoader[TurnItem]:
        return RecordLoader(self._readers.items)

    @cached_property
    def checkpoints(self) -> RecordLoader[Checkpoint]:
        return RecordLoader(self._readers.checkpoints)

    @cached_property
    def provider_threads(self) -> RecordLoader[ProviderThread]:
        return RecordLoader(self._readers.provider_threads)

    @cached_property
    def transfers(self) -> RecordLoader[Transfer]:
        return RecordLoader(self._readers.transfers)

    @cached_property
    def handoffs(self) -> RecordLoader[Handoff]:
        return RecordLoader(self._readers.handoffs)

    @cached_property
    def execution_nodes(self) -> RecordLoader[ExecutionNode]:
        return RecordLoader(self._readers.execution_nodes)

    @cached_property
    def execution_nodes_of_runs(self) -> DataLoader[str, list[ExecutionNode]]:
        """The native children that were seen in each run."""
        return DataLoader(load_fn=self._readers.execution_nodes_of_runs, max_batch_size=MAX_BATCH)

    @cached_property
    def coverage(self) -> DataLoader[CoverageKey, Page[CoverageSegment]]:
        """A page of what a provider thread knows."""
        return DataLoader(load_fn=self._readers.coverage_of, max_batch_size=MAX_BATCH)

    @cached_property
    def first_items(self) -> DataLoader[str, TurnItem | None]:
        """The first item of each run."""
        return DataLoader(load_fn=self._readers.first_items, max_batch_size=MAX_BATCH)

    @cached_property
    def checkpoints_of_runs(self) -> DataLoader[str, list[Checkpoint]]:
        """The checkpoints on each run, newest first."""
        return DataLoader(load_fn=self._readers.checkpoints_of_runs, max_batch_size=MAX_BATCH)
