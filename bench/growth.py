"""Trees that repeat a pattern: the service makes some rounds of it, the rest is written as it would have gone on.

Two rounds, one after the other, tell all there is to know of the next: ids of a round's own become fresh ones, ids of
the round before become those of the one before the new one, and every number goes on by what it grew by.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any, NamedTuple, cast

import orjson
from neo4j import AsyncDriver

from bench.engine import Engine
from bench.report import progress
from bench.sample import Properties
from bench.statements import one, write
from plait.commands.execution import new_id
from plait.domain.ids import IdKind
from tests.support.client import Client

Names = tuple[str, ...]
"""Ids that a round needs of the one before, or the question of the last one."""

_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}(?![0-9a-f])")
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])|(?<![0-9])[0-9]{9}(?![0-9])")
"""A hash, or the nine digits of one that make the fence of a handoff."""
_NODES_A_TRANSACTION = 2_000
_CHECKED_ROUNDS = 5
_SHOWN = 3
_ANSWERS = {"plan", "result"}
"""Properties that keep an answer for whoever asks again. They name what was there then, so no pattern has them all."""


class Recorder(Client):
    """A client that knows the keys of its commands, and so the receipts they leave."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keys: list[str] = []

    def mutate(self, name: str, selection: str, **given: Any) -> dict[str, Any]:
        key = _fresh("-")
        self.keys.append(key)
        return super().mutate(name, selection, clientMutationId=key, **given)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tree is made through the API. The names that begin with its root; then each round's from the last one's."""

    begin: Callable[[Recorder], Names]
    go_on: Callable[[Recorder, Names], Names]


async def grow(engine: Engine, plan: Plan, rounds: int, what: str) -> tuple[Names, Names]:
    """Makes a tree of as many rounds; returns the names it began with and those of its last round."""
    began, last, _ = await _grow(engine, plan, rounds, what)
    return began, last


async def check_growth(engine: Engine, plan: Plan) -> None:
    """Raises `AssertionError` when a tree that was grown is not what the service makes.

    All of it is compared: every record, relationship and value, but for ids, times, and answers that are kept.
    """
    client = Recorder(engine.url)
    try:
        began = names = plan.begin(client)
        for _ in range(_CHECKED_ROUNDS):
            names = plan.go_on(client, names)
    finally:
        client.close()
    made = _faces(await _read(engine.driver, began[0], client.keys))
    grown_from, _, keys = await _grow(engine, plan, _CHECKED_ROUNDS, "Checking the growth of a tree")
    grown = _faces(await _read(engine.driver, grown_from[0], keys))
    more, less = ("; ".join([*some][:_SHOWN]) for some in (grown - made, made - grown))
    assert grown == made, f"a tree that was grown differs; it has in excess: {more}; it lacks: {less}"


class _Tree(NamedTuple):
    nodes: dict[str, Properties]
    """By what the database calls them: `labels` and `properties`."""
    relationships: dict[str, Properties]


async def _read(driver: AsyncDriver, root_id: str, keys: list[str]) -> _Tree:
    found = await one(driver, "tree", threadId=root_id, keys=keys)
    return _Tree(*({entry["at"]: entry for entry in found[kind]} for kind in ("nodes", "relationships")))


async def _grow(engine: Engine, plan: Plan, rounds: int, what: str) -> tuple[Names, Names, list[str]]:
    driver, client = engine.driver, Recorder(engine.url)
    try:
        began = plan.begin(client)
        trees = [await _read(driver, began[0], client.keys)]
        told = [began]
        for _ in range(2):
            told.append(plan.go_on(client, told[-1]))
            trees.append(await _read(driver, began[0], client.keys))
    finally:
        client.close()
    pattern = _Pattern(trees, told)
    step, keys = pattern.recorded, [*client.keys]
    with progress(what, rounds) as done:
        for first in range(3, rounds + 1, pattern.rounds_a_transaction):
            steps = [step]
            for _ in range(first, min(first + pattern.rounds_a_transaction, rounds + 1)):
                steps.append(steps[-1].next())
            await _write(driver, pattern, steps)
            step = steps[-1]
            keys += [key for written in steps[1:] for key in pattern.keys(written)]
            done(len(steps) - 1)
    await write(driver, "update_nodes", rows=pattern.beginnings(step))
    return began, pattern.names(step), keys


@dataclass(slots=True)
class _Step:
    """One round: how many after the one that was recorded last, its own ids, those of the round before, its nodes."""

    number: int
    own: list[str]
    before: list[str]
    nodes: list[str] = field(default_factory=list[str])

    def next(self) -> _Step:
        return _Step(self.number + 1, [_fresh(old) for old in self.own], self.own)


_Value = Callable[[_Step], Any]


class _Pattern:
    """What one round adds to a tree, read off two that follow each other."""

    def __init__(self, trees: list[_Tree], told: list[Names]) -> None:
        beginning, first, second = trees
        a = _added(beginning.nodes, first.nodes)
        b = _added(first.nodes, second.nodes)
        assert [n["labels"] for n in a] == [n["labels"] for n in b], "the two rounds do not make the same records"
        known = set(_ids_in(beginning.nodes.values()))
        before = list(dict.fromkeys(found for found in _ids_in(a) if found not in known))
        known.update(before)
        own = list(dict.fromkeys(found for found in _ids_in(b) if found not in known))
        assert len(own) == len(before), "the two rounds do not make the same ids"
        self._own = {found: at for at, found in enumerate(own)}
        self._before = {found: at for at, found in enumerate(before)}
        self.recorded = _Step(0, own, before, [node["at"] for node in b])
        self.rounds_a_transaction = max(1, _NODES_A_TRANSACTION // len(b))
        self._labels = [node["labels"] for node in b]
        self._nodes = [self._value(x["properties"], y["properties"]) for x, y in zip(a, b, strict=True)]
        places = {node["at"]: (0, at) for at, node in enumerate(b)}
        places |= {node["at"]: (1, at) for at, node in enumerate(a)}
        self._relationships = [
            (entry["kind"], self._end(entry["source"], places), self._end(entry["target"], places), self._same(entry))
            for entry in _added(first.relationships, second.relationships)
        ]
        self._names = [self._value(x, y) for x, y in zip(told[-2], told[-1], strict=True)]
        self._beginnings = self._grown(beginning, first, second)

    def nodes(self, step: _Step) -> list[Properties]:
        return [
            {"labels": labels, "properties": value(step)}
            for labels, value in zip(self._labels, self._nodes, strict=True)
        ]

    def relationships(self, step: _Step, before: _Step) -> list[Properties]:
        ends = (step.nodes, before.nodes)

        def end(place: tuple[int, int] | str) -> str:
            return place if isinstance(place, str) else ends[place[0]][place[1]]

        return [
            {"kind": kind, "source": end(source), "target": end(target), "properties": value(step)}
            for kind, source, target, value in self._relationships
        ]

    def beginnings(self, step: _Step) -> list[Properties]:
        """The nodes that the tree began with, as they stand after a round."""
        return [{"at": at, "properties": value(step)} for at, value in self._beginnings.items()]

    def names(self, step: _Step) -> Names:
        return tuple(value(step) for value in self._names)

    def keys(self, step: _Step) -> Iterator[str]:
        return (
            value(step)["key"]
            for labels, value in zip(self._labels, self._nodes, strict=True)
            if labels == ["CommandReceipt"]
        )

    def _grown(self, beginning: _Tree, first: _Tree, second: _Tree) -> dict[str, _Value]:
        both = {at: (first.nodes[at]["properties"], second.nodes[at]["properties"]) for at in first.nodes}
        changed = {at: (x, y) for at, (x, y) in both.items() if at in beginning.nodes or _face(x) != _face(y)}
        assert all(at in beginning.nodes for at in changed), "a round changes what the one before it has made"
        return {at: self._value(x, y) for at, (x, y) in changed.items()}

    def _end(self, at: str, places: dict[str, tuple[int, int]]) -> tuple[int, int] | str:
        return places.get(at, at)

    def _same(self, entry: Properties) -> _Value:
        return self._value(entry["properties"], entry["properties"])

    def _value(self, a: object, b: object) -> _Value:
        """What stands where `a` stood in the first round, and `b` in the second."""
        if isinstance(a, dict) and isinstance(b, dict):
            x, y = cast(Properties, a), cast(Properties, b)
            # Answers keep their numbers: they are long, and nothing that is measured reads them.
            parts = {key: self._value(value if key in _ANSWERS else x.get(key), value) for key, value in y.items()}
            return lambda step: {key: part(step) for key, part in parts.items()}
        if isinstance(b, list):
            ys = cast("list[object]", b)
            xs = cast("list[object]", a) if isinstance(a, list) else ys
            entries = [self._value(x, y) for x, y in zip(xs if len(xs) == len(ys) else ys, ys, strict=True)]
            return lambda step: [entry(step) for entry in entries]
        if isinstance(a, int) and isinstance(b, int) and a != b and not isinstance(b, bool):
            return lambda step: b + step.number * (b - a)
        if isinstance(b, str):
            return self._text(a if isinstance(a, str) else b, b)
        return lambda step: b

    def _text(self, a: str, b: str) -> _Value:
        if _face(a) != _face(b) and b[:1] in "{[" and a[:1] == b[:1]:
            inside = self._value(orjson.loads(a), orjson.loads(b))
            return lambda step: orjson.dumps(inside(step)).decode()
        both = zip(_split(a), _split(b), strict=True) if _face(a) == _face(b) else ((x, x) for x in _split(b))
        pieces = [self._id(x, y) if at % 2 else y for at, (x, y) in enumerate(both)]
        if len(pieces) == 1:
            return lambda step: b
        return lambda step: "".join(piece if isinstance(piece, str) else piece(step) for piece in pieces)

    def _id(self, earlier: str, found: str) -> _Value:
        if (own := self._own.get(found)) is not None:
            return lambda step: step.own[own]
        if (before := self._before.get(found)) is not None:
            return lambda step: step.before[before]
        assert earlier == found, "a round needs more than the round before it"
        return lambda step: found


async def _write(driver: AsyncDriver, pattern: _Pattern, steps: list[_Step]) -> None:
    """Writes all steps but the first, which is there."""
    rows = [pattern.nodes(step) for step in steps[1:]]
    made = iter((await one(driver, "grow_nodes", rows=[row for each in rows for row in each]))["ids"])
    for step, each in zip(steps[1:], rows, strict=True):
        step.nodes = [next(made) for _ in each]
    between = [pattern.relationships(step, before) for before, step in pairwise(steps)]
    await write(driver, "grow_relationships", rows=[row for each in between for row in each])


def _added(before: dict[str, Properties], after: dict[str, Properties]) -> list[Properties]:
    """What is new, in the order it was made: ids of Plait's own making, and the keys of a `Recorder`, tell it."""
    number = count()
    new = [entry for at, entry in after.items() if at not in before]
    return sorted(new, key=lambda entry: (entry.get("labels", []), _made(entry["properties"]), next(number)))


def _made(properties: Properties) -> str:
    return str(properties.get("id") or properties.get("key") or "").rpartition("_")[2]


def _ids_in(entries: Iterable[Properties]) -> Iterator[str]:
    for entry in entries:
        for _, value in sorted(entry["properties"].items()):
            for text in cast("list[object]", value) if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    yield from _UUID.findall(text)


def _split(text: str) -> list[str]:
    """Text, id, text, id, …, text."""
    pieces: list[str] = []
    at = 0
    for found in _UUID.finditer(text):
        pieces += (text[at : found.start()], found.group())
        at = found.end()
    return [*pieces, text[at:]]


def _fresh(like: str) -> str:
    """A new UUID in the writing of another one; each sorts after those made before."""
    made = new_id(IdKind.RECEIPT).partition("_")[2]
    return made if "-" in like else uuid.UUID(made).hex


def _faces(tree: _Tree) -> Counter[str]:
    """All records and relationships of a tree, with every value but ids, hashes, times and answers."""
    kinds = {at: node["labels"] for at, node in tree.nodes.items()}
    faces = [[node["labels"], _face(node["properties"])] for node in tree.nodes.values()]
    faces += [
        [entry["kind"], kinds[entry["source"]], kinds[entry["target"]], _face(entry["properties"])]
        for entry in tree.relationships.values()
    ]
    return Counter(orjson.dumps(face, option=orjson.OPT_SORT_KEYS).decode() for face in faces)


def _face(value: object) -> object:
    if isinstance(value, dict):
        parts = cast(Properties, value)
        return {key: type(part).__name__ if key in _ANSWERS else _face(part) for key, part in parts.items()}
    if isinstance(value, list):
        return [_face(part) for part in cast("list[object]", value)]
    if isinstance(value, str):
        return _HASH.sub("#", _UUID.sub("*", value))
    return value if isinstance(value, int | float | None) else type(value).__name__
