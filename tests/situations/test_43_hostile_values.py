"""43. An id, a title, a sort field or a depth was pasted into a statement.

Here values are parameters and names come from closed lists; a hostile value comes back as it was stored.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph

HOSTILE = [
    "x'}) MATCH (n) DETACH DELETE n //",
    'x"}) MATCH (n) DETACH DELETE n //',
    "`Thread`) DETACH DELETE (`",
    "$title {threadId} ${threadId} %s {0} \\u0027 \\",
    "*:* OR title:[* TO *] AND NOT (a~2^4) /.*/ && || ! { } [ ]",
    "'; DROP CONSTRAINT thread_id; //",
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_in_every_free_field_comes_back_as_it_was_stored(
    service: Client, graph: Graph, value: str
) -> None:
    with graph.growth() as written:
        thread = service.thread(title=value, clientMutationId=value + key())
        run = service.start(thread["id"], value, model=value)["run"]["id"]
        native = value + key()
        accepted = service.started(run, nativeThreadId=native, nativeTurnId=value)
        data = {value: [value, {value: value}]}
        (item,) = service.append(run, {"kind": "OTHER", "text": value, "data": data})
        service.end("failRun", run, reason=value)
        workspace = {"vcs": value, "commit": value}
        point = service.checkpoint(thread["id"], value, summary=value, workspace=workspace)
        fork = service.fork(thread["id"], title=value, point={"checkpointId": point["id"]})["thread"]

    assert service.get_thread(thread["id"])["title"] == service.get_thread(fork["id"])["title"] == value
    ended = service.get_run(run, "message model reason nativeThreadId nativeTurnId")
    assert ended == {
        "message": value,
        "model": value,
        "reason": value,
        "nativeThreadId": native,
        "nativeTurnId": value,
    }
    assert accepted["run"]["nativeThreadId"] == native
    (stored,) = [shown for shown in service.visible(fork["id"]) if shown["id"] == item["id"]]
    assert (stored["text"], stored["data"]) == (value, data)
    assert (point["label"], point["summary"], point["workspace"]) == (value, value, workspace)
    assert (written["Thread"], written["Run"], written["TurnItem"]) == (2, 1, 2)
    assert all(number > 0 for number in written.values())


@pytest.mark.parametrize("value", HOSTILE)
def test_a_search_takes_words_as_words(service: Client, value: str) -> None:
    mark = key()
    thread = service.thread(title=f"{mark} {value}")["id"]
    document = "query ($words: String!) { threads(search: $words) { nodes { id } totalCount } }"

    found = service.execute(document, words=f"{mark} {value}")["threads"]
    other = service.execute(document, words=f"no{mark} {value}")["threads"]

    assert (found["totalCount"], [node["id"] for node in found["nodes"]]) == (1, [thread])
    assert other == {"totalCount": 0, "nodes": []}


@pytest.mark.parametrize("value", [*HOSTILE, "codex' OR 1=1"])
@pytest.mark.parametrize(
    "query",
    [
        "thread(id: $value) { id }",
        "node(id: $value) { id }",
        "lineage(threadId: $value) { totalCount }",
        "threads(after: $value) { totalCount }",
        "threads(filter: { rootThreadId: $value }) { totalCount }",
        "threads(filter: { provider: $value }) { totalCount }",
    ],
)
def test_what_must_be_an_id_a_key_or_a_cursor_is_refused_when_it_is_none(
    service: Client, graph: Graph, query: str, value: str
) -> None:
    kind = "String" if "after" in query or "provider" in query else "ID!"
    with pytest.raises(Refusal) as refused:
        service.execute(f"query ($value: {kind}) {{ {query} }}", value=value)

    assert refused.value.code == "INVALID_INPUT"


@pytest.mark.parametrize(
    ("variables", "kind", "query"),
    [
        ({"v": "FORK|NEXT_RUN*"}, "[LineageEdgeKind!]", "kinds: $v"),
        ({"v": "1..9"}, "Int", "maxDepth: $v"),
        ({"v": "createdAt DESC"}, "LineageDirection!", "direction: $v"),
    ],
)
def test_names_and_depths_come_from_closed_lists(
    service: Client, variables: dict[str, Any], kind: str, query: str
) -> None:
    thread = service.thread()["id"]
    document = f"query ($v: {kind}, $t: ID!) {{ lineage(threadId: $t, {query}) {{ totalCount }} }}"

    with pytest.raises(Refusal) as refused:
        service.execute(document, t=thread, **variables)

    assert refused.value.code == "INVALID_INPUT"
