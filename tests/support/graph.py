"""The graph behind the service, by Cypher: for what the record must hold and the API does not show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import neo4j

from plait.localdb import Endpoint


@dataclass
class Graph:
    """Statements on the run's one Neo4j."""

    endpoint: Endpoint

    def __post_init__(self) -> None:
        self._driver = neo4j.GraphDatabase.driver(self.endpoint.uri, auth=self.endpoint.auth)

    def close(self) -> None:
        self._driver.close()

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with self._driver.session(database=self.endpoint.database) as session:
            return session.run(statement, parameters).data()  # pyright: ignore[reportArgumentType]

    def values(self, statement: str, **parameters: Any) -> list[Any]:
        """The one column of a statement."""
        return [next(iter(row.values())) for row in self.rows(statement, **parameters)]

    def value(self, statement: str, **parameters: Any) -> Any:
        """The one value of a statement."""
        (value,) = self.values(statement, **parameters)
        return value

    def plan(self, statement: str) -> list[str]:
        """The steps that Neo4j would take for a statement."""
        with self._driver.session(database=self.endpoint.database) as session:
            plan = session.run(f"EXPLAIN {statement}").consume().plan  # pyright: ignore[reportArgumentType]
        steps: list[Any] = [plan]
        found: list[str] = []
        while steps:
            step = steps.pop()
            found.append(step["operatorType"])
            steps.extend(step.get("children", ()))
        return found

    def counts(self) -> Counter[str]:
        """How many nodes there are of each label, and relationships of each type (written `-TYPE->`)."""
        # One term a name: Neo4j keeps these counts, and answers without looking at a node.
        labels = [
            f"MATCH (:`{name}`) RETURN '{name}' AS name, count(*) AS n" for name in self.values("CALL db.labels()")
        ]
        types = [
            f"MATCH ()-[:`{name}`]->() RETURN '-{name}->' AS name, count(*) AS n"
            for name in self.values("CALL db.relationshipTypes()")
        ]
        return Counter({row["name"]: row["n"] for row in self.rows(" UNION ALL ".join(labels + types))})

    @contextmanager
    def growth(self) -> Iterator[dict[str, int]]:
        """What the block adds to the graph and takes from it, by label and type; empty when it writes nothing."""
        before = self.counts()
        change: dict[str, int] = {}
        yield change
        after = self.counts()
        change |= {name: after[name] - before[name] for name in before | after if after[name] != before[name]}

    def events(self, thread: str) -> list[dict[str, Any]]:
        """The events of a thread, in the order of their tree."""
        return self.values(
            "MATCH (e:Event {threadId: $thread}) WITH e ORDER BY e.seq RETURN e {.*}",
            thread=thread,
        )
