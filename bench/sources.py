"""Root threads of any length straight into the graph, as if the service had run every one of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from neo4j import AsyncDriver

from bench.report import progress
from bench.sample import Properties, RunSample, Sample, require_same, shape_of
from bench.statements import write
from bench.texts import SHORT, Exchange
from plait.commands.execution import new_id
from plait.domain.ids import IdKind

_RUNS_A_TRANSACTION = 500
_EVENTS_A_RUN = 4


@dataclass(slots=True)
class Source:
    """A root thread that is to have `runs` runs. Its ids are known before it is made."""

    runs: int
    exchanges: Sequence[Exchange] = SHORT
    forks: int = 0
    """Forks in its tree that will be made with it: their events are counted on the root."""
    id: str = field(default_factory=lambda: new_id(IdKind.THREAD))
    provider_thread_id: str = field(default_factory=lambda: new_id(IdKind.PROVIDER_THREAD))
    last_run_id: str = field(default_factory=lambda: new_id(IdKind.RUN))
    last_checkpoint_id: str = field(default_factory=lambda: new_id(IdKind.CHECKPOINT))
    keys: list[str] = field(default_factory=list[str])

    @property
    def native_thread_id(self) -> str:
        return f"native-{self.id}"

    @property
    def own_events(self) -> int:
        """Events of its creation and its runs."""
        return 1 + _EVENTS_A_RUN * self.runs

    def tokens(self, runs: int) -> int:
        """Tokens of its first `runs` runs."""
        rounds, rest = divmod(runs, len(self.exchanges))
        whole = sum(exchange.tokens for exchange in self.exchanges) if rounds else 0
        return rounds * whole + sum(exchange.tokens for exchange in self.exchanges[:rest])


async def make_sources(driver: AsyncDriver, sample: Sample, sources: Sequence[Source], what: str) -> None:
    """Makes the threads with all their runs."""
    total = sum(source.runs for source in sources)
    with progress(what, total) as step:
        for start in range(0, len(sources), _RUNS_A_TRANSACTION):
            rows = [_thread_row(sample, source) for source in sources[start : start + _RUNS_A_TRANSACTION]]
            await write(driver, "create_sources", rows=rows)
        rows_of_all = (row for source in sources for row in _run_rows(sample, source))
        while rows := list(islice(rows_of_all, _RUNS_A_TRANSACTION)):
            await write(driver, "create_runs", rows=rows)
            step(len(rows))
        for source in sources:
            for first in range(2, source.runs + 1, 10 * _RUNS_A_TRANSACTION):
                last = min(source.runs, first + 10 * _RUNS_A_TRANSACTION - 1)
                await write(driver, "link_runs", threadId=source.id, first=first, last=last)


async def check_generator(driver: AsyncDriver, sample: Sample, runs: int) -> None:
    """Raises `AssertionError` when a generated thread of the sample's length differs from the sample in shape."""
    source = Source(runs)
    await make_sources(driver, sample, [source], "Checking the generator")
    require_same(await shape_of(driver, source.id, source.keys), sample.shape, "A generated thread")


def _thread_row(sample: Sample, source: Source) -> Properties:
    thread = sample.thread | {
        "id": source.id,
        "rootThreadId": source.id,
        "runCount": source.runs,
        "checkpointCount": source.runs,
        "headRunId": source.last_run_id,
        "headPosition": source.runs,
        "headGeneration": source.runs,
        "headOrdinal": source.runs,
        "headTokens": source.tokens(source.runs),
        "acceptedRuns": source.runs,
        "acceptedTokens": source.tokens(source.runs),
        "stableRunId": source.last_run_id,
        "stablePosition": source.runs,
        "stableCheckpointId": source.last_checkpoint_id,
        "eventCount": source.own_events + source.forks,
    }
    provider_thread = sample.provider_thread | {
        "id": source.provider_thread_id,
        "threadId": source.id,
        "nativeThreadId": source.native_thread_id,
        "tipRunId": source.last_run_id,
        "tipPosition": source.runs,
        "turns": source.runs,
        "endedTurns": source.runs,
    }
    event = sample.event | {"id": new_id(IdKind.EVENT), "threadId": source.id, "rootThreadId": source.id}
    return {
        "thread": thread,
        "providerThread": provider_thread,
        "event": event,
        "receipt": _receipt(sample.receipt, source),
    }


def _run_rows(sample: Sample, source: Source) -> Iterator[Properties]:
    tokens_before = 0
    for position in range(1, source.runs + 1):
        exchange = source.exchanges[(position - 1) % len(source.exchanges)]
        pattern = sample.first if position == 1 else sample.later
        yield _run_row(sample, pattern, source, exchange, position, tokens_before)
        tokens_before += exchange.tokens


def _run_row(
    sample: Sample, pattern: RunSample, source: Source, exchange: Exchange, position: int, tokens_before: int
) -> Properties:
    last = position == source.runs
    run_id = source.last_run_id if last else new_id(IdKind.RUN)
    owner = {"threadId": source.id, "runId": run_id}
    run = pattern.run | {
        "id": run_id,
        "threadId": source.id,
        "position": position,
        "generation": position,
        "ordinal": position,
        "turnOrdinal": position,
        "tokens": exchange.tokens,
        "tokensBefore": tokens_before,
        "providerThreadId": source.provider_thread_id,
        "nativeThreadId": source.native_thread_id,
        "nativeTurnId": f"turn-{position}",
        "plan": _plan(sample, pattern.run["plan"], source),
    }
    texts = ((exchange.message, exchange.message_tokens), (exchange.answer, exchange.answer_tokens))
    items = [
        item | owner | {"id": new_id(IdKind.ITEM), "text": text, "tokens": tokens}
        for item, (text, tokens) in zip(pattern.items, texts, strict=True)
    ]
    checkpoint = pattern.checkpoint | owner | {"position": position, "number": position, "generation": position + 1}
    checkpoint["id"] = source.last_checkpoint_id if last else new_id(IdKind.CHECKPOINT)
    seq = 2 + _EVENTS_A_RUN * (position - 1)
    events = [
        event | owner | {"id": new_id(IdKind.EVENT), "rootThreadId": source.id, "seq": seq + number}
        for number, event in enumerate(pattern.events)
    ]
    assert len(events) == _EVENTS_A_RUN, "the service writes another number of events a run"
    receipts = [_receipt(receipt, source) for receipt in pattern.receipts]
    return {"run": run, "items": items, "checkpoint": checkpoint, "events": events, "receipts": receipts}


def _plan(sample: Sample, plan: str, source: Source) -> str:
    """The plan of the sample, with the provider's threads of this source."""
    theirs = sample.provider_thread
    return plan.replace(theirs["id"], source.provider_thread_id).replace(
        theirs["nativeThreadId"], source.native_thread_id
    )


def _receipt(pattern: Properties, source: Source) -> Properties:
    key = new_id(IdKind.RECEIPT)
    if source.runs <= 10:
        source.keys.append(key)
    return pattern | {"key": key}
