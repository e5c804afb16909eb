"""A client of the GraphQL API for tests: one method a mutation, answers as plain dictionaries."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import httpx

PLAN = """
plan {
  outcome strategy reason injected resume { nativeThreadId }
  nativeFork { nativeThreadId lastTurnId laterTerminalTurns }
  transfers { id type status } handoffs { id kind text tokens }
  candidates { outcome strategy taken reason costTokens }
}
"""
THREAD = "id title status depth parentThreadId relationshipToParent rootThreadId provider createdBy"
TRANSFER = """
id type status createdAt createdBy consumedAt sourceProvider targetProvider
sourceThread { id } targetThread { id } consumedByRun { id } supersededBy { id } handoff { id }
sourcePoint { threadId runId checkpointId turnItemId providerThreadRef providerTurnRef }
basePoint { threadId runId } resolution { strategy } failure { code message }
"""
RUN = "id threadId position provider status reason nativeThreadId nativeTurnId stable"


class Refusal(AssertionError):
    """The API refused; `code` is what it said."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(f"{errors[0]['extensions']['code']}: {errors[0]['message']}")
        self.errors = errors
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
        response = self._http.post("/graphql", json={"query": document, "variables": variables})
        answer = response.json()
        if answer.get("errors"):
            raise Refusal(answer["errors"])
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
        started = self.start(thread, message, provider)
        run = started["run"]["id"]
        plan = started["plan"]
        resumed = (plan["resume"] or {}).get("nativeThreadId")
        native_thread, native_turn = native or (resumed or f"native-{key()}", f"turn-{key()}")
        self.started(run, nativeThreadId=native_thread, nativeTurnId=native_turn)
        self.append(run, *items, {"kind": "ASSISTANT_MESSAGE", "text": answer})
        completed = self.complete(run)
        return completed | {"plan": plan, "nativeThreadId": native_thread, "nativeTurnId": native_turn}

    def transfer(self, transfer: str) -> dict[str, Any]:
        return self.execute(f"query ($id: ID!) {{ transfer(id: $id) {{ {TRANSFER} }} }}", id=transfer)["transfer"]
