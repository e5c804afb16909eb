"""A small thread and a fork of it, made through the API: the pattern that generated ones are held against."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

import orjson
from neo4j import AsyncDriver

from bench.engine import Engine
from bench.statements import one
from tests.support.client import Client

Properties = dict[str, Any]
Shape = tuple[Counter[str], Counter[str]]

RUNS = 3
"""Of the sample; its first run is planned otherwise than those after it, which are all alike."""


@dataclass(frozen=True, slots=True)
class RunSample:
    """The nodes of one completed run: its items by position, its events and receipts in the order they were made."""

    run: Properties
    items: list[Properties]
    checkpoint: Properties
    events: list[Properties]
    receipts: list[Properties]


@dataclass(frozen=True, slots=True)
class ForkSample:
    """The nodes of one fork and its edge."""

    thread: Properties
    transfer: Properties
    edge: Properties
    event: Properties
    receipt: Properties


@dataclass(frozen=True, slots=True)
class Sample:
    """A root thread with `RUNS` runs, and a fork of another one like it."""

    thread: Properties
    provider_thread: Properties
    event: Properties
    receipt: Properties
    first: RunSample
    later: RunSample
    fork: ForkSample
    shape: Shape
    forked_shape: Shape


async def make_sample(engine: Engine) -> Sample:
    """Makes the threads through the API and reads them back."""
    client = Client(engine.url)
    try:
        thread_id, run_ids, keys = _thread(client)
        forked_id, _, forked_keys = _thread(client)
        fork_key = _key()
        fork_id = client.fork(forked_id, clientMutationId=fork_key)["thread"]["id"]
    finally:
        client.close()
    driver = engine.driver
    thread = await one(driver, "sample_thread", threadId=thread_id, key=keys[0])
    runs = [
        RunSample(**await one(driver, "sample_run", runId=run_id, keys=keys[1 + 4 * n : 5 + 4 * n]))
        for n, run_id in enumerate(run_ids)
    ]
    return Sample(
        thread=thread["thread"],
        provider_thread=thread["providerThread"],
        event=thread["event"],
        receipt=thread["receipt"],
        first=runs[0],
        later=runs[-1],
        fork=ForkSample(**await one(driver, "sample_fork", threadId=fork_id, key=fork_key)),
        shape=await shape_of(driver, thread_id, keys),
        forked_shape=await shape_of(driver, forked_id, [*forked_keys, fork_key]),
    )


def _thread(client: Client) -> tuple[str, list[str], list[str]]:
    """A thread, the ids of its runs, and the keys of its commands: one, then four a run."""
    keys = [_key()]
    thread_id = client.thread(title="A thread", clientMutationId=keys[0])["id"]
    run_ids: list[str] = []
    native = f"native-{_key()}"
    for number in range(RUNS):
        mine = [_key() for _ in range(4)]
        run_id = client.start(thread_id, "A message", clientMutationId=mine[0])["run"]["id"]
        client.started(run_id, nativeThreadId=native, nativeTurnId=f"turn-{number}-{native}", clientMutationId=mine[1])
        client.append(run_id, {"kind": "ASSISTANT_MESSAGE", "text": "An answer"}, clientMutationId=mine[2])
        client.complete(run_id, clientMutationId=mine[3])
        run_ids.append(run_id)
        keys += mine
    return thread_id, run_ids, keys


async def shape_of(driver: AsyncDriver, thread_id: str, keys: list[str]) -> Shape:
    """What there is around a thread: how many nodes and relationships of each kind, with which properties."""
    found = await one(driver, "shape", threadId=thread_id, keys=keys)
    return _counted(found["nodes"]), _counted(found["relationships"])


def _counted(entries: list[list[object]]) -> Counter[str]:
    return Counter(
        orjson.dumps([sorted(cast("list[str]", p)) if isinstance(p, list) else p for p in entry]).decode()
        for entry in entries
    )


def require_same(generated: Shape, made: Shape, what: str) -> None:
    """Raises `AssertionError` when a generated part of the graph is not of the shape that the service writes."""
    for kind, ours, theirs in zip(("nodes", "relationships"), generated, made, strict=True):
        more, less = ours - theirs, theirs - ours
        assert ours == theirs, (
            f"{what}: the generator is out of date; the {kind} it makes in excess: {dict(more)}, "
            f"those it does not make: {dict(less)}"
        )


def _key() -> str:
    return uuid.uuid4().hex
