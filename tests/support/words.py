"""Conversations in which every run answers with a word of its own, so that any text tells which runs it holds."""

from __future__ import annotations

import re
from typing import Any

from tests.support.client import Client, key


def run(service: Client, thread: str, word: str, provider: str = "codex") -> dict[str, Any]:
    """A run whose answer is a word that nothing else has."""
    started = service.start(thread, "go on", provider)
    native = (started["plan"]["resume"] or {}).get("nativeThreadId") or f"native-{word}-{key()}"
    service.started(started["run"]["id"], nativeThreadId=native, nativeTurnId=word)
    service.append(started["run"]["id"], {"kind": "ASSISTANT_MESSAGE", "text": f"<{word}>"})
    service.end("completeRun", started["run"]["id"])
    return started


def conversation(service: Client, *words: str, **given: Any) -> str:
    """A new thread in which these words were answered, on Codex."""
    thread = service.thread(**given)["id"]
    for word in words:
        run(service, thread, word)
    return thread


def native_of(service: Client, thread: str) -> str:
    """The native thread behind a thread."""
    return service.provider_threads(thread)[0]["nativeThreadId"]


def told(plan: dict[str, Any]) -> list[str]:
    """The answers that a plan injects, in order."""
    return re.findall(r"<(\w+)>", plan["injected"] or "")


def words(service: Client, thread: str) -> list[str]:
    """The answers in a thread's history, in order."""
    return [word for text in service.texts(thread) for word in re.findall(r"<(\w+)>", text)]


def fork(service: Client, source: str, **given: Any) -> str:
    return service.fork(source, **given)["thread"]["id"]
