"""The document of the graph, held against the records of the service and against a real graph made by it."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any

import neo4j.time
import pytest

from plait.domain import model
from plait.domain.ids import IdKind
from plait.graph.statements import cypher_folder
from tests.support.client import Client
from tests.support.graph import Graph
from tests.support.markdown import CHECKOUT, section, table
from tests.support.sample_tree import make_sample_tree

TEXT = (CHECKOUT / "docs" / "graph-model.md").read_text(encoding="utf-8")
COMMANDS = CHECKOUT / "service" / "plait" / "commands"

RECORDS: dict[str, type[model.Record]] = {
    "Thread": model.Thread,
    "Run": model.Run,
    "TurnItem": model.TurnItem,
    "Checkpoint": model.Checkpoint,
    "ProviderThread": model.ProviderThread,
    "ExecutionNode": model.ExecutionNode,
    "ContextTransfer": model.Transfer,
    "ContextHandoff": model.Handoff,
    "Event": model.Event,
}
OTHER_LABELS = ("CommandReceipt", "SchemaMigration")
WORDS = {str: "text", int: "number", bool: "flag", datetime: "time", tuple: "list"}
VALUES = {"text": str, "number": int, "flag": bool, "time": neo4j.time.DateTime, "list": list}


def documented(label: str) -> dict[str, str]:
    """The properties of a label, with their types."""
    return {row[0].strip("`"): row[1] for row in table(section(TEXT, f"## {label}"))}


def relationships() -> dict[tuple[str, str, str], set[str]]:
    """Every relationship, with its properties."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for pattern, properties in re.findall(r"^\| `(\(.+?\))` \| (.+?) \|", TEXT, re.MULTILINE):
        ends = re.fullmatch(r"\((\w+)\)-\[:(\w+)\]->\((\w+)\)", pattern)
        assert ends is not None, pattern
        found[ends.group(1, 2, 3)] = set(re.findall(r"`(\w+)`", properties))
    return found


@pytest.mark.parametrize("label", RECORDS)
def test_the_properties_of_a_label_are_those_of_its_record(label: str) -> None:
    fields = RECORDS[label].model_fields.values()

    expected = {field.alias: in_words(field.annotation) for field in fields}

    assert documented(label) == expected


def in_words(annotation: Any) -> str:
    """A field's type as the document says it."""
    optional = typing.get_origin(annotation) is types.UnionType
    inner = next(a for a in typing.get_args(annotation) if a is not types.NoneType) if optional else annotation
    inner = typing.get_origin(inner) or inner
    if isinstance(inner, type) and issubclass(inner, StrEnum):
        words = ", ".join(f"`{member.value}`" for member in inner)
    else:
        words = WORDS[inner]
    return f"{words}, optional" if optional else words


def test_every_id_shows_the_prefix_it_begins_with() -> None:
    prefixes = {
        row[2].strip("`").removesuffix("_…") for label in RECORDS for row in table(section(TEXT, f"## {label}"))[:1]
    }

    # Receipts have a key.
    assert prefixes == {kind.value for kind in IdKind} - {"rcp"}


def test_the_types_of_events_are_those_that_commands_record() -> None:
    (told,) = [row[2] for row in table(section(TEXT, "## Event")) if row[0] == "`type`"]
    sources = "\n".join(file.read_text(encoding="utf-8") for file in COMMANDS.glob("*.py"))

    recorded = set(re.findall(r'\.record\(\s*f?"([\w.{}]+)"', sources))

    ends = {f"run.{end}" for end in ("completed", "failed", "interrupted")}
    assert set(re.findall(r"`([\w.]+)`", told)) == recorded - {"run.{status.value}"} | ends


@pytest.fixture(scope="module")
def tree(service: Client, graph: Graph) -> str:
    """The root of a tree with one of everything."""
    sample = make_sample_tree(service)
    root = sample.thread["root"]
    # What the sample has not: points named by a checkpoint and by an item, a delta, a merge, a transfer that took
    # the place of a failed one.
    point = service.checkpoint(root, "reviewed", summary="Fine.", workspace={"vcs": "git", "commit": "abc"})
    service.fork(root, point={"checkpointId": point["id"]})
    service.fork(root, point={"turnItemId": service.items(sample.run["r1"])[0]["id"]})
    merge = service.merge_back(sample.thread["told"])
    service.revise(service.prepare(merge["id"], "codex")["handoff"]["id"], "It has tests now.")
    service.whole_run(root, "Fix it.", provider="codex")
    spawner = service.running(root, "Delegate it.")["run"]["id"]
    service.complete_subagent(service.spawned(spawner)["run"]["id"], "It is done.")
    scout = f"scout-{root}"
    service.observe(spawner, scout, title="A scout", task="Look.", status="COMPLETED", result="Seen.", promote=True)
    service.observe(spawner, f"{scout}-2", nativeParentId=scout)
    fork = service.start(sample.thread["again"], "Hello?", "codex")["run"]["id"]
    service.started(fork, nativeThreadId=f"fork-{root}", failure={"code": "OVERLOADED", "message": "Try later."})
    service.start(sample.thread["refused"], "Hello again?", "claude", model="a model")
    return root


def test_every_label_and_property_of_a_real_tree_is_documented_with_its_type(graph: Graph, tree: str) -> None:
    labels: set[str] = set()
    for node in nodes(graph, tree):
        (label,) = node["labels"]
        labels.add(label)
        properties = documented(label)
        for name, value in node["properties"].items():
            assert name in properties, f"{label}.{name}"
            words = properties[name].removesuffix(", optional")
            fits = value in re.findall(r"`(\w+)`", words) if "`" in words else isinstance(value, VALUES[words])
            assert fits, f"{label}.{name} is {value!r}, documented as {properties[name]}"
        required = {name for name, words in properties.items() if not words.endswith("optional")}
        assert required <= node["properties"].keys(), label
    assert labels == {*RECORDS, *OTHER_LABELS}


def test_every_relationship_of_a_real_tree_is_documented_and_every_documented_one_occurs(
    graph: Graph, tree: str
) -> None:
    occurring: dict[tuple[str, str, str], set[str]] = {}
    for edge in edges(graph, tree):
        occurring.setdefault((edge["start"], edge["type"], edge["end"]), set()).update(edge["properties"])

    assert occurring == relationships()


def test_the_questions_are_the_analysts_files() -> None:
    rows = table(section(TEXT, "## Questions"))

    for link, question in rows:
        name = re.match(r"\[(\w+)\]", link)
        assert name is not None
        text = (cypher_folder() / "analysts" / f"{name[1]}.cypher").read_text(encoding="utf-8")
        header = " ".join(line.removeprefix("// ") for line in text.partition("// $")[0].splitlines())
        assert header.startswith(question), name[1]
    files = {file.stem for file in (cypher_folder() / "analysts").glob("*.cypher")}
    assert {re.findall(r"\w+", link)[0] for link, _ in rows} == files


def nodes(graph: Graph, root: str) -> Iterator[dict[str, Any]]:
    statement = "MATCH (n) WHERE elementId(n) IN $ids RETURN labels(n) AS labels, properties(n) AS properties"
    yield from graph.rows(statement, ids=list(reached(graph, root)))
    alone = """
    MATCH (n:Event {rootThreadId: $root}) RETURN labels(n) AS labels, properties(n) AS properties
    UNION ALL
    MATCH (n:SchemaMigration) RETURN labels(n) AS labels, properties(n) AS properties
    UNION ALL
    MATCH (n:CommandReceipt) WHERE n.result IS NOT NULL
    RETURN labels(n) AS labels, properties(n) AS properties LIMIT 100
    """
    yield from graph.rows(alone, root=root)


def edges(graph: Graph, root: str) -> Iterator[dict[str, Any]]:
    statement = """
    MATCH (a)-[e]->(b) WHERE elementId(a) IN $ids
    RETURN labels(a)[0] AS start, type(e) AS type, labels(b)[0] AS end, keys(e) AS properties
    """
    yield from graph.rows(statement, ids=list(reached(graph, root)))


def reached(graph: Graph, root: str) -> set[str]:
    """Every node that a tree hangs together with."""
    found = set(graph.values("MATCH (t:Thread {id: $root}) RETURN elementId(t)", root=root))
    new = found
    while new:
        around = "MATCH (n)--(m) WHERE elementId(n) IN $ids RETURN DISTINCT elementId(m)"
        new = set(graph.values(around, ids=list(new))) - found
        found = found | new
    return found
