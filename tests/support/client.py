"""A client of the GraphQL API for tests: one method a mutation, answers as plain dictionaries."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

import httpx

PLAN = """
plan {
  outcome strategy reason injected resume { nativeThreadId }
  nativeFork { nativeThreadId lastTurnId laterTerminalTurns runId }
  transfers { id type status } handoffs { id kind text tokens budgetTokens provider transferId hash payload }
  candidates { outcome strategy taken reason costTokens nativeThreadId nativeTurnId }
}
"""
THREAD = (
    "id title status depth parentThreadId relationshipToParent rootThreadId provider createdBy runCount activeRunId"
)
TRANSFER = """
id type status createdAt createdBy consumedAt sourceProvider targetProvider
sourceThread { id } targetThread { id } consumedByRun { id } supersededBy { id } handoff { id }
result { status text } sourcePoint { threadId runId checkpointId turnItemId providerThreadRef providerTurnRef }
basePoint { threadId runId } resolution { strategy handoffId nativeThreadId } failure { code message }
"""
HANDOFF = "id kind text hash tokens budgetTokens provider transferId payload revisionOfId supersededById"
NODE = "id runId threadId provider nativeId nativeParentId title task status result promotedThread { id }"
RUN = "id threadId position provider status reason nativeThreadId nativeTurnId stable"
VISIBLE = "id runId threadId inherited position kind status text data run { id threadId }"
PAGE = "totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
LINEAGE = f"""
nodes {{ depth thread {{ {THREAD} }} }} edges {{ id kind sourceThreadId targetThreadId transferId }}
truncated {PAGE}
"""


class Refusal(AssertionError):
    """The API refused; `code` is what it said."""

    def __init__(self, errors: list[dict[str, Any]], status: int = 200) -> None:
        super().__init__(f"{errors[0]['extensions']['code']}: {errors[0]['message']}")
        self.errors = errors
        self.status = status
        self.code: str = errors[0]["extensions"]["code"]
        self.retryable: bool = errors[0]["extensions"]["retryable"]
        self.message: str = errors[0]["message"]


def key() -> str:
    """A fresh clientMutationId."""
    return uuid.uuid4().hex


@dataclass
class Client:
    """Synchronous, over HTTP, against the real service at `url`."""

    url: str

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.url, timeout=60)

    def close(self) -> None:
        self._http.close()

    def execute(self, document: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer. Raises `Refusal` when it has errors."""
        return self.post({"query": document, "variables": variables})

    def post(self, body: Any, **headers: str) -> dict[str, Any]:
        """The data of an answer to any body: bytes as they are, the rest as JSON. Raises `Refusal`."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        response = self._http.post("/graphql", content=content, headers={"content-type": "application/json"} | headers)
        answer = response.json()
        if answer.get("errors"):
            raise Refusal(answer["errors"], response.status_code)
        return answer["data"]

    def mutate(self, name: str, selection: str, **given: Any) -> dict[str, Any]:
        """One mutation with its input."""
        kind = name[0].upper() + name[1:]
        document = f"mutation ($input: {kind}Input!) {{ {name}(input: $input) {{ {selection} }} }}"
        return self.execute(document, input=given)[name]

    def thread(self, **given: Any) -> dict[str, Any]:
        return self.mutate("createThread", f"thread {{ {THREAD} }}", **given)["thread"]

    def fork(self, source: str, **given: Any) -> dict[str, Any]:
        return self.mutate(
            "forkThread", f"thread {{ {THREAD} }} transfer {{ {TRANSFER} }}", sourceThreadId=source, **given
        )

    def start(self, thread: str, message: str, provider: str = "codex", **given: Any) -> dict[str, Any]:
        return self.mutate(
            "startRun",
            f"run {{ {RUN} }} {PLAN}",
            threadId=thread,
            message=message,
            provider=provider,
            **({"executor": "CLIENT"} | given),
        )

    def started(self, run: str, **given: Any) -> dict[str, Any]:
        return self.mutate("reportRunStarted", f"run {{ {RUN} }} {PLAN}", runId=run, **given)

    def append(self, run: str, *items: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
        selection = "items { id kind text status position }"
        return self.mutate("appendTurnItems", selection, runId=run, items=list(items), **given)["items"]

    def complete(self, run: str, **given: Any) -> dict[str, Any]:
        return self.mutate("completeRun", f"run {{ {RUN} }} checkpoint {{ id }}", runId=run, **given)

    def end(self, mutation: str, run: str, **given: Any) -> dict[str, Any]:
        return self.mutate(mutation, f"run {{ {RUN} }}", runId=run, **given)["run"]

    def running(
        self, thread: str, message: str, provider: str = "codex", native: tuple[str, str] | None = None
    ) -> dict[str, Any]:
        """A run that its provider has accepted, by the plan. `native` are the ids of its native thread and turn."""
        started = self.start(thread, message, provider)
        resumed = (started["plan"]["resume"] or {}).get("nativeThreadId")
        native_thread, native_turn = native or (resumed or f"native-{key()}", f"turn-{key()}")
        accepted = self.started(started["run"]["id"], nativeThreadId=native_thread, nativeTurnId=native_turn)
        return accepted | {"nativeThreadId": native_thread, "nativeTurnId": native_turn}

    def whole_run(
        self,
        thread: str,
        message: str,
        answer: str = "done",
        provider: str = "codex",
        native: tuple[str, str] | None = None,
        items: tuple[dict[str, Any], ...] = (),
    ) -> dict[str, Any]:
        """A run from its start to its completion. `native` are the ids of its native thread and turn."""
        accepted = self.running(thread, message, provider, native)
        run = accepted["run"]["id"]
        self.append(run, *items, {"kind": "ASSISTANT_MESSAGE", "text": answer})
        return accepted | self.complete(run)

    def merge_back(self, source: str, target: str | None = None, **given: Any) -> dict[str, Any]:
        """The transfer that brings a thread's runs into another, by default into its parent."""
        named = {} if target is None else {"targetThreadId": target}
        return self.mutate("mergeBack", f"transfer {{ {TRANSFER} }}", sourceThreadId=source, **named, **given)[
            "transfer"
        ]

    def hand_over(self, thread: str, provider: str, **given: Any) -> dict[str, Any]:
        """The transfer that the next start on this provider will use."""
        selection = f"transfer {{ {TRANSFER} }}"
        return self.mutate("handoffThread", selection, threadId=thread, provider=provider, **given)["transfer"]

    def prepare(self, transfer: str, provider: str, **given: Any) -> dict[str, Any]:
        """A transfer with the handoff that the next start on this provider will tell."""
        selection = f"transfer {{ {TRANSFER} }} handoff {{ {HANDOFF} }}"
        return self.mutate("prepareTransfer", selection, transferId=transfer, provider=provider, **given)

    def revise(self, handoff: str, text: str, **given: Any) -> dict[str, Any]:
        selection = f"handoff {{ {HANDOFF} }}"
        return self.mutate("reviseHandoff", selection, handoffId=handoff, text=text, **given)["handoff"]

    def get_handoff(self, handoff: str) -> dict[str, Any]:
        return self.execute(f"query ($id: ID!) {{ handoff(id: $id) {{ {HANDOFF} }} }}", id=handoff)["handoff"]

    def roll_back(self, thread: str, run: str, **given: Any) -> dict[str, Any]:
        return self.mutate(
            "rollbackThread", f"thread {{ {THREAD} }} rolledBackRuns", threadId=thread, toRunId=run, **given
        )

    def run_ids(self, thread: str) -> list[str]:
        """The ids of all runs of a thread, those that were rolled back too, oldest first."""
        runs = self.get_thread(thread, "runs(first: 100) { nodes { id } }")["runs"]
        return [run["id"] for run in runs["nodes"]]

    def transfer(self, transfer: str) -> dict[str, Any]:
        return self.execute(f"query ($id: ID!) {{ transfer(id: $id) {{ {TRANSFER} }} }}", id=transfer)["transfer"]

    def transfers(self, thread: str) -> list[dict[str, Any]]:
        """All transfers from or into a thread, newest first."""
        document = f"query ($id: ID!) {{ thread(id: $id) {{ transfers {{ {TRANSFER} }} }} }}"
        return self.execute(document, id=thread)["thread"]["transfers"]

    def get_thread(self, thread: str, selection: str = THREAD) -> dict[str, Any]:
        return self.execute(f"query ($id: ID!) {{ thread(id: $id) {{ {selection} }} }}", id=thread)["thread"]

    def get_run(self, run: str, selection: str = RUN) -> dict[str, Any]:
        return self.execute(f"query ($id: ID!) {{ run(id: $id) {{ {selection} }} }}", id=run)["run"]

    def items(self, run: str) -> list[dict[str, Any]]:
        return self.get_run(run, "items(first: 100) { nodes { id kind text status position data } }")["items"]["nodes"]

    def visible(self, thread: str) -> list[dict[str, Any]]:
        """The history of a thread as people see it, oldest first, read page by page."""
        document = f"""query ($id: ID!, $after: String) {{ thread(id: $id) {{
            visibleItems(first: 100, after: $after) {{ nodes {{ {VISIBLE} }} {PAGE} }}
        }} }}"""
        found: list[dict[str, Any]] = []
        after, more = None, True
        while more:
            page = self.execute(document, id=thread, after=after)["thread"]["visibleItems"]
            found.extend(page["nodes"])
            after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        return found

    def texts(self, thread: str) -> list[str | None]:
        """The texts of a thread's history, oldest first."""
        return [item["text"] for item in self.visible(thread)]

    def lineage(self, thread: str, direction: str = "BOTH", **given: Any) -> dict[str, Any]:
        document = f"""query (
            $thread: ID!, $direction: LineageDirection!, $first: Int, $after: String, $maxDepth: Int
        ) {{
            lineage(threadId: $thread, direction: $direction, first: $first, after: $after, maxDepth: $maxDepth) {{
                {LINEAGE}
            }}
        }}"""
        return self.execute(document, thread=thread, direction=direction, **given)["lineage"]

    def explain(self, thread: str, provider: str, strategy: str | None = None) -> dict[str, Any]:
        """The plan of a start, without the start."""
        explain = "plan: explainStart(threadId: $thread, provider: $provider, strategy: $strategy)"
        document = f"""query ($thread: ID!, $provider: String!, $strategy: TransferStrategy) {{
            {PLAN.replace("plan", explain, 1)}
        }}"""
        return self.execute(document, thread=thread, provider=provider, strategy=strategy)["plan"]

    def checkpoint(self, thread: str, label: str = "a point", **given: Any) -> dict[str, Any]:
        selection = "checkpoint { id threadId runId kind label summary workspace { vcs commit } }"
        return self.mutate("createCheckpoint", selection, threadId=thread, label=label, **given)["checkpoint"]

    def cancel(self, transfer: str, **given: Any) -> dict[str, Any]:
        return self.mutate("cancelTransfer", f"transfer {{ {TRANSFER} }}", transferId=transfer, **given)["transfer"]

    def provider_threads(self, thread: str) -> list[dict[str, Any]]:
        selection = "providerThreads { id provider nativeThreadId status tipRunId turns }"
        return self.get_thread(thread, selection)["providerThreads"]

    def spawn(
        self, parent_run: str, task: str = "Look it up", provider: str = "codex", context: str = "NONE", **given: Any
    ) -> dict[str, Any]:
        """A subagent of a run that works: its thread, its run, the transfer and the plan."""
        return self.mutate(
            "spawnSubagent",
            f"thread {{ {THREAD} }} run {{ {RUN} }} transfer {{ {TRANSFER} }} {PLAN}",
            parentRunId=parent_run,
            task=task,
            provider=provider,
            context=context,
            **given,
        )

    def spawned(self, parent_run: str, task: str = "Look it up", **given: Any) -> dict[str, Any]:
        """A subagent whose provider has accepted its run."""
        spawn = self.spawn(parent_run, task, **given)
        self.started(spawn["run"]["id"], nativeThreadId=f"native-{key()}", nativeTurnId=f"turn-{key()}")
        return spawn

    def complete_subagent(self, run: str, result: str | None = None, **given: Any) -> dict[str, Any]:
        selection = f"run {{ {RUN} }} transfer {{ {TRANSFER} }} handoff {{ {HANDOFF} }} injected"
        return self.mutate("completeSubagent", selection, runId=run, result=result, **given)

    def cancel_subagent(self, run: str, **given: Any) -> dict[str, Any]:
        selection = f"run {{ {RUN} }} transfer {{ {TRANSFER} }} cancelledRuns"
        return self.mutate("cancelSubagent", selection, runId=run, **given)

    def observe(self, run: str, native: str, **given: Any) -> dict[str, Any]:
        """A report on a native child of a run: the child, as it is known then."""
        selection = f"node {{ {NODE} }}"
        return self.mutate("recordNativeSubagent", selection, runId=run, nativeId=native, **given)["node"]

    def results(self, thread: str) -> list[dict[str, Any]]:
        """The results of subagents that came back to a thread, oldest first."""
        found = [transfer for transfer in self.transfers(thread) if transfer["type"] == "SUBAGENT_RESULT"]
        return [transfer for transfer in reversed(found) if transfer["targetThread"]["id"] == thread]

    def archive(self, thread: str, **given: Any) -> dict[str, Any]:
        return self.mutate("archiveThread", f"thread {{ {THREAD} }} archivedThreads", threadId=thread, **given)
