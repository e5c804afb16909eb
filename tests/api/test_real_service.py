"""The API over the real service: every field answers, pages join, and what was stored comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from graphql import (
    GraphQLObjectType,
    OperationDefinitionNode,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    parse,
    print_ast,
)

from plait.api.graphiql import EXAMPLES
from plait.api.schema import core_schema
from tests.support.client import PLAN, Client, Refusal, key

UNKNOWN = "01890000-0000-7000-8000-000000000001"


@dataclass(frozen=True)
class Story:
    """A thread with a run and a checkpoint, and a fork of it that went on elsewhere."""

    thread: str
    run: str
    item: str
    checkpoint: str
    fork: str
    transfer: str
    told: str
    handoff: str
    provider_thread: str
    execution_node: str


@pytest.fixture(scope="module")
def story(service: Client) -> Story:
    thread = service.thread(title="source")["id"]
    usage = {"inputTokens": 5, "outputTokens": 7}
    accepted = service.running(thread, "first")["run"]["id"]
    item = service.append(accepted, {"kind": "COMMAND", "text": "ls", "data": {"exit": 0}})[0]["id"]
    service.complete(accepted, usage=usage)
    checkpoint = service.checkpoint(thread, summary="so far", workspace={"vcs": "git", "commit": "abc"})["id"]
    forked = service.fork(thread, point={"checkpointId": checkpoint})
    told = service.start(forked["thread"]["id"], "go on", "claude")
    service.started(told["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId="turn")
    return Story(
        thread=thread,
        run=accepted,
        item=item,
        checkpoint=checkpoint,
        fork=forked["thread"]["id"],
        transfer=forked["transfer"]["id"],
        told=told["run"]["id"],
        handoff=told["plan"]["handoffs"][0]["id"],
        provider_thread=service.provider_threads(thread)[0]["id"],
        execution_node=service.observe(accepted, f"child-{key()}", status="COMPLETED", promote=True)["id"],
    )


def selection(type: GraphQLObjectType, depth: int) -> str:
    """Every field of a type that needs no argument, and of what they lead to."""
    parts = ["__typename"]
    for name, field in type.fields.items():
        if any(is_required_argument(argument) for argument in field.args.values()):
            continue
        inner = get_named_type(field.type)
        if is_leaf_type(inner):
            parts.append(name)
        elif isinstance(inner, GraphQLObjectType) and depth:
            parts.append(f"{name} {{ {selection(inner, depth - 1)} }}")
    return " ".join(parts)


FIELDS = [
    ("thread", "Thread", "thread"),
    ("fork", "Thread", "thread"),
    ("run", "Run", "run"),
    ("told", "Run", "run"),
    ("checkpoint", "Checkpoint", "checkpoint"),
    ("transfer", "ContextTransfer", "transfer"),
    ("handoff", "ContextHandoff", "handoff"),
    ("item", "TurnItem", "node"),
    ("provider_thread", "ProviderThread", "node"),
    ("execution_node", "ExecutionNode", "node"),
]


@pytest.mark.parametrize(("record", "name", "field"), FIELDS)
def test_every_field_answers(service: Client, story: Story, record: str, name: str, field: str) -> None:
    type = core_schema().type_map[name]
    assert isinstance(type, GraphQLObjectType)
    for inner in type.fields:  # one at a time: all of them at once are more than one document may ask for
        only = GraphQLObjectType(name, {inner: type.fields[inner]})
        document = f"query ($id: ID!) {{ {field}(id: $id) {{ ... on {name} {{ {selection(only, 2)} }} }} }}"
        answer = service.execute(document, id=getattr(story, record))[field]
        assert answer["__typename"] == name


@pytest.mark.parametrize(("record", "name", "field"), FIELDS)
def test_every_record_is_a_node(service: Client, story: Story, record: str, name: str, field: str) -> None:
    wanted = getattr(story, record)
    node = service.execute("query ($id: ID!) { node(id: $id) { __typename id } }", id=wanted)["node"]
    assert node == {"__typename": name, "id": wanted}
    with pytest.raises(Refusal) as unknown:
        service.execute("query ($id: ID!) { node(id: $id) { id } }", id=f"{wanted[:3]}_{UNKNOWN}")
    assert unknown.value.code == "NOT_FOUND"
    if field != "node":
        with pytest.raises(Refusal) as other:
            service.execute(f"query ($id: ID!) {{ {field}(id: $id) {{ id }} }}", id=f"evt_{UNKNOWN}")
        assert other.value.code == "INVALID_INPUT"


def test_the_examples_of_graphiql_work_in_their_order(service: Client) -> None:
    variables: dict[str, str] = {"native": f"native-{key()}"}
    for operation in parse(EXAMPLES).definitions:
        assert isinstance(operation, OperationDefinitionNode)
        assert operation.name is not None
        wanted = {definition.variable.name.value for definition in operation.variable_definitions or ()}
        body = {"query": print_ast(operation), "variables": {name: variables[name] for name in wanted}}

        answer = service.post(body)

        if operation.name.value == "NewThread":
            variables["thread"] = answer["createThread"]["thread"]["id"]
        elif operation.name.value == "FirstMessage":
            variables["run"] = answer["startRun"]["run"]["id"]
        elif operation.name.value == "Lineage":
            assert len(answer["lineage"]["edges"]) == 1
        elif operation.name.value == "History":
            texts = [item["text"] for item in answer["thread"]["visibleItems"]["nodes"]]
            assert texts == ["Write a parser.", "Here it is."]


def test_a_run_keeps_its_plan(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "one")
    fork = service.fork(thread)["thread"]["id"]
    given = service.start(fork, "two", "claude")
    assert given["plan"]["injected"]
    kept = service.get_run(given["run"]["id"], PLAN)["plan"]
    assert kept == given["plan"]


def test_a_run_tells_what_it_used_and_was_asked(service: Client, story: Story) -> None:
    run = service.get_run(story.run, "message usage { inputTokens outputTokens } checkpoints { kind }")
    assert run["message"] == "first"
    assert run["usage"] == {"inputTokens": 5, "outputTokens": 7}
    assert [checkpoint["kind"] for checkpoint in run["checkpoints"]] == ["EXPLICIT", "AUTOMATIC"]


def pages(service: Client, document: str, **variables: Any) -> tuple[list[str], int]:
    """The ids on all pages, and the number of pages; what the pages tell of themselves must fit."""
    found: list[str] = []
    count, after, more = 0, None, True
    while more:
        page = service.execute(document, after=after, **variables)["owner"]["page"]
        assert [edge["node"]["id"] for edge in page["edges"]] == [node["id"] for node in page["nodes"]]
        assert page["pageInfo"]["hasPreviousPage"] is (after is not None)
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]
        found += [node["id"] for node in page["nodes"]]
        count += 1
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        if not more:
            assert page["totalCount"] == len(found)
    return found, count


CONNECTION = "edges { cursor node { id } } nodes { id } totalCount"
PAGE_INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_join(service: Client, story: Story, size: int) -> None:
    for field, owner in (("runs", story.thread), ("visibleItems", story.fork)):
        document = (
            f"query ($id: ID!, $first: Int, $after: String) {{ owner: thread(id: $id) "
            f"{{ page: {field}(first: $first, after: $after) {{ {CONNECTION} {PAGE_INFO} }} }} }}"
        )
        found, count = pages(service, document, id=owner, first=size)
        assert len(set(found)) == len(found)
        assert count == max(1, -(-len(found) // size))


def test_a_cursor_belongs_to_its_list(service: Client, story: Story) -> None:
    end = "pageInfo { endCursor }"
    cursor = service.get_thread(story.thread, f"runs {{ {end} }}")["runs"]["pageInfo"]["endCursor"]
    for thread, field in ((story.fork, "runs"), (story.thread, "visibleItems")):
        with pytest.raises(Refusal) as refused:
            service.get_thread(thread, f'{field}(after: "{cursor}") {{ totalCount }}')
        assert refused.value.code == "INVALID_INPUT"


def test_mutations_of_one_request_see_each_other(service: Client) -> None:
    thread = service.thread()["id"]
    run = f"run_{UNKNOWN[:-12]}{key()[:12]}"
    document = """mutation ($thread: ID!, $run: ID!) {
        a: startRun(input: {threadId: $thread, id: $run, provider: "codex", message: "m", executor: CLIENT}) {
            run { status thread { activeRun { status } } }
        }
        b: failRun(input: {runId: $run}) { run { status thread { activeRun { status } runs { totalCount } } } }
    }"""
    answer = service.execute(document, thread=thread, run=run)
    assert answer["a"]["run"] == {"status": "STARTING", "thread": {"activeRun": {"status": "STARTING"}}}
    assert answer["b"]["run"] == {"status": "FAILED", "thread": {"activeRun": None, "runs": {"totalCount": 1}}}


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "a\0b",
        "\u202e\u2066",
        "👩‍👩‍👧‍👧",
        "e\u0301",
        "'; MATCH (n) DETACH DELETE n //",
        "{{ $x }} \\ \" '",
        "\r\n\t",
    ],
)
def test_texts_come_back_as_they_were(service: Client, story: Story, text: str) -> None:
    data = {text: [text, None, True, 0, -1.5, 2**63 - 1, {}]}
    service.append(story.told, {"kind": "OTHER", "text": text, "data": data})
    stored = service.items(story.told)[-1]
    assert (stored["text"], stored["data"]) == (text, data)
    if "\0" not in text:
        assert service.thread(title=text)["title"] == text
