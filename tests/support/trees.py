"""The whole graph, tree by tree, in a form in which two trees with the same history read the same.

Ids become numbered names in the order in which they were made (`thr#1`, `run#2`); times, hashes of inputs, the nonce
of a handoff and the hash that fits its text become marks; the names a test chose for one tree (native ids, command
keys) lose what tells the trees apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.support.graph import Graph

_ID = re.compile(r"\b(thr|run|itm|cpt|pvt|exe|trf|hnd|rcp|evt)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_NONCE = re.compile(r"(?<!\d)\d{9}(?!\d)")

_NODES = "MATCH (n) WHERE NOT n:SchemaMigration RETURN elementId(n) AS key, labels(n) AS labels, n {.*} AS properties"
_EDGES = """
MATCH (a)-[e]->(b)
RETURN elementId(a) AS source, type(e) AS type, e {.*} AS properties, elementId(b) AS target
"""


class Tree:
    """What belongs together: nodes that edges join, with the events and receipts that tell of them."""

    def __init__(self, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
        self._nodes = nodes
        self._edges = edges
        self._names: dict[str, str] = {}
        for prefix in sorted({found.split("_")[0] for found in self.ids()}):
            made = sorted(found for found in self.ids() if found.startswith(f"{prefix}_"))
            self._names |= {found: f"{prefix}#{number}" for number, found in enumerate(made, 1)}

    def ids(self) -> set[str]:
        """The ids of its nodes, and the keys of commands that came without one."""
        own = {str(node["properties"].get("id") or node["properties"].get("key")) for node in self._nodes}
        return {found for found in own if _ID.fullmatch(found)}

    def nodes(self, label: str) -> list[dict[str, Any]]:
        """The properties of its nodes of a label."""
        return [node["properties"] for node in self._nodes if label in node["labels"]]

    def lines(self, tag: str) -> list[str]:
        """Every node and every edge, a line each, sorted; `tag` is what the test put into the names it chose."""
        name_of = {node["key"]: self.plain(self._name(node), tag) for node in self._nodes}
        lines = [f"{name_of[node['key']]} {self._shown(node['properties'], tag)}" for node in self._nodes]
        for edge in self._edges:
            source, target = name_of[edge["source"]], name_of[edge["target"]]
            lines.append(f"{source} -{edge['type']}-> {target} {self._shown(edge['properties'], tag)}")
        return sorted(lines)

    def plain(self, value: Any, tag: str) -> Any:
        """Any value of an answer or a property, without what tells this tree from its like."""
        if isinstance(value, dict):
            return {key: self.plain(inner, tag) for key, inner in _without_hash(value).items()}
        if isinstance(value, list):
            return [self.plain(inner, tag) for inner in value]
        if isinstance(value, str):
            named = _ID.sub(lambda found: self._names.get(found[0], found[0]), value)
            return _NONCE.sub("NONCE", _TIME.sub("TIME", named)).replace(tag or "\0", "TAG")
        return value

    def _name(self, node: dict[str, Any]) -> str:
        properties = node["properties"]
        return f"{'+'.join(sorted(node['labels']))} {properties.get('id') or properties.get('key')}"

    def _shown(self, properties: dict[str, Any], tag: str) -> str:
        shown = {
            key: "HASH" if key == "inputHash" else "TIME" if hasattr(value, "iso_format") else self.plain(value, tag)
            for key, value in sorted(_without_hash(properties).items())
        }
        return repr(shown)


class Forest:
    """All trees of a graph, as it was when this was made."""

    def __init__(self, graph: Graph) -> None:
        nodes = graph.rows(_NODES)
        self._leader = {node["key"]: node["key"] for node in nodes}
        owner = {node["properties"]["id"]: node["key"] for node in nodes if "id" in node["properties"]}
        edges = graph.rows(_EDGES)
        for edge in edges:
            self._join(edge["source"], edge["target"])
        for node in nodes:
            for told in _told_of(node):
                if told in owner:
                    self._join(node["key"], owner[told])
        self._groups: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {}
        for node in nodes:
            self._groups.setdefault(self._find(node["key"]), ([], []))[0].append(node)
        for edge in edges:
            self._groups[self._find(edge["source"])][1].append(edge)
        self._claimed: set[str] = set()
        self._owner = owner
        self._keys = {node["properties"]["key"]: node["key"] for node in nodes if "CommandReceipt" in node["labels"]}

    def tree(self, root: str | None, tag: str) -> Tree:
        """The tree around the node with the id `root`, and around the receipts whose keys begin with `tag`."""
        members = [node for key, node in self._keys.items() if key.startswith(f"{tag}-")]
        if root in self._owner:
            members.append(self._owner[root])
        mine = sorted({self._find(member) for member in members})
        self._claimed.update(mine)
        nodes = [node for group in mine for node in self._groups[group][0]]
        edges = [edge for group in mine for edge in self._groups[group][1]]
        return Tree(nodes, edges)

    def unclaimed(self) -> list[str]:
        """What is in no tree that was asked for."""
        stray = [group for key, group in self._groups.items() if key not in self._claimed]
        return [line for nodes, edges in stray for line in Tree(nodes, edges).lines("")]

    def _find(self, key: str) -> str:
        while self._leader[key] != key:
            key = self._leader[key]
        return key

    def _join(self, one: str, other: str) -> None:
        self._leader[self._find(one)] = self._find(other)


def _without_hash(record: dict[str, Any]) -> dict[str, Any]:
    """A handoff's text begins with a nonce of its own, so its hash differs, too; a wrong one stays as it is."""
    text = record.get("text")
    if isinstance(text, str) and record.get("hash") == hashlib.sha256(text.encode()).hexdigest():
        return record | {"hash": "HASH OF THE TEXT"}
    return record


def _told_of(node: dict[str, Any]) -> Iterator[str]:
    """The records that a node without edges tells of."""
    properties = node["properties"]
    if "Event" in node["labels"]:
        yield properties["rootThreadId"]
    if "CommandReceipt" in node["labels"]:
        for found in _ID.finditer(properties.get("result") or ""):
            yield found[0]


def consecutive(numbers: Iterable[int]) -> bool:
    """Whether they are 1, 2, 3 … without a gap or a repeat."""
    found = sorted(numbers)
    return found == list(range(1, len(found) + 1))
