"""Every query of the schema as a document that can be sent, made from the schema itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.client import Client, key

_SCHEMA = """{ __schema { queryType { fields {
  name type { ...type } args { name defaultValue type { ...type } }
} } } }
fragment type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
"""


@dataclass(frozen=True)
class Query:
    """A query with its required arguments filled in."""

    name: str
    document: str
    variables: dict[str, Any]

    def send(self, client: Client) -> Any:
        return client.execute(self.document, **self.variables)[self.name]


def every_query(client: Client) -> list[Query]:
    """Each query once, asking for records that are there."""
    values = _records(client)
    fields = client.execute(_SCHEMA)["__schema"]["queryType"]["fields"]
    return [_query(field, values) for field in fields]


def _records(client: Client) -> dict[str, Any]:
    """A value for each required argument, by `query.argument` or by `argument`; and what they name."""
    thread = client.thread(title="A thread to ask for")["id"]
    run = client.whole_run(thread, "Find the bug", native=(f"native-{key()}", f"turn-{key()}"))
    fork = client.fork(thread)
    handed = client.start(fork["thread"]["id"], "Go on", "claude")
    return {
        "thread.id": thread,
        "run.id": run["run"]["id"],
        "checkpoint.id": run["checkpoint"]["id"],
        "transfer.id": fork["transfer"]["id"],
        "handoff.id": handed["plan"]["handoffs"][0]["id"],
        "node.id": thread,
        "threadId": thread,
        "threadIds": [thread, fork["thread"]["id"]],
        "from": thread,
        "to": fork["thread"]["id"],
        "base": thread,
        "head": fork["thread"]["id"],
        "provider": "codex",
    }


def _query(field: dict[str, Any], values: dict[str, Any]) -> Query:
    name = field["name"]
    wanted = [arg for arg in field["args"] if arg["type"]["kind"] == "NON_NULL" and arg["defaultValue"] is None]
    given: dict[str, Any] = {}
    for arg in wanted:
        known = f"{name}.{arg['name']}" if f"{name}.{arg['name']}" in values else arg["name"]
        assert known in values, f"tests/support/queries.py needs a value for {arg['name']} of {name}"
        given[arg["name"]] = values[known]
    declared = ", ".join(f"${arg['name']}: {_written(arg['type'])}" for arg in wanted)
    passed = ", ".join(f"{arg['name']}: ${arg['name']}" for arg in wanted)
    head = f"query ({declared})" if wanted else "query"
    arguments = f"({passed})" if wanted else ""
    selection = " { __typename }" if _named(field["type"])["kind"] in ("OBJECT", "INTERFACE", "UNION") else ""
    return Query(name, f"{head} {{ {name}{arguments}{selection} }}", given)


def _written(kind: dict[str, Any]) -> str:
    if kind["kind"] == "NON_NULL":
        return f"{_written(kind['ofType'])}!"
    if kind["kind"] == "LIST":
        return f"[{_written(kind['ofType'])}]"
    return kind["name"]


def _named(kind: dict[str, Any]) -> dict[str, Any]:
    while kind.get("ofType"):
        kind = kind["ofType"]
    return kind
