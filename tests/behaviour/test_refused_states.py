"""Requests that are right in themselves and wrong as things stand: a code, a sentence, nothing written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.graph import Graph
from tests.support.refusals import check_sentence


def code_of(service: Client, graph: Graph, mutation: str, **given: Any) -> str:
    with graph.growth() as written, pytest.raises(Refusal) as refused:
        service.mutate(mutation, "clientMutationId", **given)
    check_sentence(refused.value)
    assert written == {}
    return refused.value.code


def test_an_archived_thread_takes_nothing_new_and_can_be_read(service: Client, graph: Graph) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "ask", "answer")
    service.archive(thread)

    start = {"threadId": thread, "message": "m", "provider": "codex", "executor": "CLIENT"}
    assert code_of(service, graph, "startRun", **start) == "THREAD_ARCHIVED"
    assert code_of(service, graph, "forkThread", sourceThreadId=thread) == "THREAD_ARCHIVED"
    assert code_of(service, graph, "createCheckpoint", threadId=thread, label="l") == "THREAD_ARCHIVED"
    assert service.get_thread(thread)["status"] == "ARCHIVED"
    assert service.texts(thread) == ["ask", "answer"]
    assert service.lineage(thread)["totalCount"] == 1


def test_a_run_that_no_provider_accepted(service: Client, graph: Graph) -> None:
    run = service.start(service.thread()["id"], "ask")["run"]["id"]

    items = [{"kind": "OTHER", "text": "x"}]
    assert code_of(service, graph, "appendTurnItems", runId=run, items=items) == "RUN_NOT_STARTED"
    assert code_of(service, graph, "completeRun", runId=run) == "RUN_NOT_STARTED"


def test_checkpoints(service: Client, graph: Graph) -> None:
    thread, other = service.thread()["id"], service.thread()["id"]
    foreign = service.whole_run(other, "ask")["run"]["id"]
    given = {"threadId": thread, "label": "here"}

    assert code_of(service, graph, "createCheckpoint", **given) == "NO_STABLE_POINT"
    assert code_of(service, graph, "createCheckpoint", **given, runId=foreign) == "INVALID_INPUT"
    run = service.running(thread, "ask")["run"]["id"]
    assert code_of(service, graph, "createCheckpoint", **given) == "RUN_ACTIVE"
    assert code_of(service, graph, "createCheckpoint", **given, runId=run) == "RUN_ACTIVE"


def test_ids_that_are_taken(service: Client, graph: Graph) -> None:
    thread = service.thread()["id"]
    run = service.whole_run(thread, "ask")["run"]["id"]
    other = service.thread()["id"]
    start = {"threadId": other, "message": "m", "provider": "codex", "executor": "CLIENT", "id": run}

    assert code_of(service, graph, "createThread", id=thread) == "ID_TAKEN"
    assert code_of(service, graph, "forkThread", sourceThreadId=thread, id=thread) == "ID_TAKEN"
    assert code_of(service, graph, "startRun", **start) == "ID_TAKEN"
    with pytest.raises(Refusal, match="The id given for the new run belongs to another run already"):
        service.mutate("startRun", "clientMutationId", **start)


def test_an_item_that_is_finished_or_another_runs(service: Client, graph: Graph) -> None:
    run = service.running(service.thread()["id"], "ask")["run"]["id"]
    other = service.running(service.thread()["id"], "ask")["run"]["id"]
    done, streaming = service.append(
        run, {"kind": "OTHER", "text": "done"}, {"kind": "OTHER", "text": "half", "streaming": True}
    )

    for to, item in ((run, done), (other, done), (other, streaming)):
        items = [{"id": item["id"], "kind": "OTHER", "text": "changed"}]
        assert code_of(service, graph, "appendTurnItems", runId=to, items=items) == "ID_TAKEN"
    assert [item["text"] for item in service.items(run)] == ["ask", "done", "half"]


def test_an_id_of_ones_own_is_used(service: Client) -> None:
    made = {prefix: f"{prefix}_{'00000000-0000-7000-8000-'}{key()[:12]}" for prefix in ("thr", "run", "itm")}

    assert service.thread(id=made["thr"])["id"] == made["thr"]
    assert service.start(made["thr"], "ask", id=made["run"])["run"]["id"] == made["run"]
    service.started(made["run"])
    (item,) = service.append(made["run"], {"id": made["itm"], "kind": "OTHER", "text": "x"})
    assert item["id"] == made["itm"]
