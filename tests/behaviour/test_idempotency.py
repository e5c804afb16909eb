"""`clientMutationId`: the same request again gives the first answer and does nothing twice; for every mutation.

The requests are those of `tests/support/commands.py`: every mutation in every way it can go.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.commands import CASES, Case, Ready
from tests.support.graph import Graph
from tests.support.together import answers, refusals, together

EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=str)
ONE_OF_EACH = pytest.mark.parametrize(
    "case", {case.mutation: case for case in CASES if not case.refused}.values(), ids=str
)

OTHER_INPUT: dict[str, dict[str, Any]] = {
    "createThread": {"title": "another"},
    "forkThread": {"title": "another"},
    "startRun": {"message": "another"},
    "reportRunStarted": {"nativeTurnId": "another"},
    "appendTurnItems": {"items": [{"kind": "OTHER", "text": "another"}]},
    "completeRun": {"usage": {"inputTokens": 1, "outputTokens": 1}},
    "failRun": {"reason": "another"},
    "interruptRun": {"reason": "another"},
    "heartbeatRun": {"runId": "run_00000000-0000-7000-8000-000000000000"},
    "createCheckpoint": {"label": "another"},
    "rollbackThread": {"threadId": "thr_00000000-0000-7000-8000-000000000000"},
    "mergeBack": {"createdBy": "AGENT"},
    "handoffThread": {"provider": "opencode"},
    "prepareTransfer": {"provider": "opencode"},
    "reviseHandoff": {"text": "another"},
    "spawnSubagent": {"task": "another"},
    "completeSubagent": {"result": "another"},
    "cancelSubagent": {"reason": "another"},
    "recordNativeSubagent": {"title": "another"},
    "cancelTransfer": {"transferId": "trf_00000000-0000-7000-8000-000000000000"},
    "archiveThread": {"threadId": "thr_00000000-0000-7000-8000-000000000000"},
}


def go_on(service: Client, root: str | None) -> None:
    """Ends what works in a tree and runs each of its threads once more on another provider."""
    for node in service.lineage(root)["nodes"] if root else ():
        thread, run = node["thread"]["id"], node["thread"]["activeRunId"]
        if run is not None:
            if service.get_run(run)["status"] == "STARTING":
                service.end("failRun", run)
            else:
                service.complete(run)
        if node["thread"]["status"] == "ARCHIVED":
            continue
        service.whole_run(thread, "later", "much later", "opencode")


@EVERY_CASE
def test_the_same_request_again_gives_the_first_answer_and_writes_nothing(
    service: Client, graph: Graph, case: Case
) -> None:
    ready, name = case.prepare(service, key()), key()
    first = case.send(service, ready, name)
    with graph.growth() as written:
        assert case.send(service, ready, name) == first
    assert written == {}

    go_on(service, ready.root)

    with graph.growth() as written:
        assert case.send(service, ready, name) == first
    assert written == {}


@ONE_OF_EACH
def test_eight_at_once_are_done_once_and_all_get_the_answer(service: Client, graph: Graph, case: Case) -> None:
    alone, crowded = case.prepare(service, key()), case.prepare(service, key())
    with graph.growth() as once:
        case.send(service, alone, key())
    name = key()

    with graph.growth() as written:
        made = together(8, lambda _: case.send(service, crowded, name))

    assert made == [made[0]] * 8
    assert written == once


@ONE_OF_EACH
def test_the_same_name_with_other_input_is_a_conflict(service: Client, graph: Graph, case: Case) -> None:
    ready, name = case.prepare(service, key()), key()
    first = case.send(service, ready, name)
    other = Ready(ready.root, ready.given | OTHER_INPUT[case.mutation])

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        case.send(service, other, name)

    assert (refused.value.code, refused.value.retryable) == ("IDEMPOTENCY_CONFLICT", False)
    assert written == {}
    assert case.send(service, ready, name) == first


@ONE_OF_EACH
def test_the_same_name_with_another_mutation_is_a_conflict(service: Client, graph: Graph, case: Case) -> None:
    ready, name = case.prepare(service, key()), key()
    case.send(service, ready, name)
    other = "cancelTransfer" if case.mutation == "createThread" else "createThread"
    given = {"transferId": OTHER_INPUT["cancelTransfer"]["transferId"]} if other == "cancelTransfer" else {}

    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.mutate(other, "clientMutationId", clientMutationId=name, **given)

    assert refused.value.code == "IDEMPOTENCY_CONFLICT"
    assert written == {}


def test_of_different_requests_with_one_name_at_once_one_is_done(service: Client, graph: Graph) -> None:
    for _ in range(5):
        name = key()
        with graph.growth() as written:
            made = together(4, lambda number, name=name: service.thread(title=f"{number}", clientMutationId=name))

        assert len(answers(made)) == 1
        assert {refusal.code for refusal in refusals(made)} == {"IDEMPOTENCY_CONFLICT"}
        assert written == {"Thread": 1, "CommandReceipt": 1, "Event": 1}


def test_every_mutation_of_the_schema_is_here(service: Client) -> None:
    fields = service.execute("{ __schema { mutationType { fields { name } } } }")["__schema"]["mutationType"]["fields"]

    assert {field["name"] for field in fields} == {case.mutation for case in CASES} == set(OTHER_INPUT)


def test_an_append_that_left_an_item_streaming_is_answered_as_it_was_then(service: Client) -> None:
    run, name = service.running(service.thread()["id"], "ask")["run"]["id"], key()
    half = {"kind": "ASSISTANT_MESSAGE", "text": "half", "streaming": True}
    (first,) = service.append(run, half, clientMutationId=name)
    service.append(run, {"id": first["id"], "kind": "ASSISTANT_MESSAGE", "text": "half and the rest"})

    assert service.append(run, half, clientMutationId=name) == [first]

    service.complete(run)
    assert service.append(run, half, clientMutationId=name) == [first]
    assert service.items(run)[1]["text"] == "half and the rest"


def test_the_answer_names_the_request(service: Client) -> None:
    name = f"a name of my own, {key()} ✓"

    assert service.mutate("createThread", "clientMutationId", clientMutationId=name) == {"clientMutationId": name}
    assert service.mutate("createThread", "clientMutationId") == {"clientMutationId": None}


def test_without_a_name_each_request_is_a_new_one(service: Client) -> None:
    assert service.thread(title="same")["id"] != service.thread(title="same")["id"]


@pytest.mark.parametrize(
    ("name", "code"), [("", "INVALID_INPUT"), ("x" * 201, "LIMIT_EXCEEDED"), ("a\0b", "INVALID_INPUT")]
)
def test_a_name_that_is_none_is_refused(service: Client, name: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        service.thread(clientMutationId=name)

    assert refused.value.code == code
    assert "clientMutationId" in refused.value.message
