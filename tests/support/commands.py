"""Every command in every way it can go, each with the thread it needs: for tests that break something under it.

`test_every_mutation_is_here` (tests/crash) holds this list to the schema.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.client import HANDOFF, NODE, PLAN, RUN, THREAD, TRANSFER, Client, Refusal


@dataclass(frozen=True)
class Ready:
    """What stands ready for a command: the root of its tree, if there is one, and the input to send."""

    root: str | None
    given: dict[str, Any]


class Prepare(Protocol):
    def __call__(self, client: Client, tag: str, /) -> Ready: ...


@dataclass(frozen=True)
class Case:
    """One command in one situation. `tag` tells trees apart: it is in every name the test itself chooses."""

    name: str
    mutation: str
    selection: str
    prepare: Prepare
    refused: bool = False
    """Whether the right answer is a refusal, which is kept on record."""

    def send(self, client: Client, ready: Ready, key: str | None) -> Any:
        """The answer to the command; of a refusal, its code, its message and whether it may be tried again."""
        named = {} if key is None else {"clientMutationId": key}
        try:
            return client.mutate(self.mutation, self.selection, **ready.given, **named)
        except Refusal as refusal:
            if not self.refused or refusal.code in ("STORAGE_UNAVAILABLE", "INTERNAL_ERROR"):
                raise
            return {"code": refusal.code, "message": refusal.message, "retryable": refusal.retryable}

    def __str__(self) -> str:
        return self.name


_RUN_ANSWER = f"run {{ {RUN} }}"
_START_ANSWER = f"run {{ {RUN} }} {PLAN}"

CASES: list[Case] = []


def _case(name: str, mutation: str, selection: str, *, refused: bool = False) -> Callable[[Prepare], Prepare]:
    def keep(prepare: Prepare) -> Prepare:
        CASES.append(Case(name, mutation, selection, prepare, refused))
        return prepare

    return keep


# The threads that commands begin with.


def _worked(client: Client, tag: str, provider: str = "codex") -> str:
    """A thread with one completed run."""
    thread = client.thread(title="Source")["id"]
    client.whole_run(thread, "Find the bug", "It is in the parser", provider, native=_native(tag, 1))
    return thread


def _native(tag: str, number: int) -> tuple[str, str]:
    return f"native-{tag}-{number}", f"turn-{tag}-{number}"


def _forked(client: Client, tag: str) -> tuple[str, dict[str, Any]]:
    """A thread with one completed run, and an unused fork of it."""
    root = _worked(client, tag)
    return root, client.fork(root)


def _tried(client: Client, tag: str) -> tuple[str, str]:
    """A thread with one completed run, and a fork of it with another."""
    root, fork = _forked(client, tag)
    thread = fork["thread"]["id"]
    client.whole_run(thread, "Try it", "Tried", native=_native(tag, 2))
    return root, thread


def _moved(client: Client, tag: str) -> str:
    """A thread that ran on one provider and then on another."""
    thread = _worked(client, tag)
    client.whole_run(thread, "Mend it", "Mended", "claude", native=_native(tag, 2))
    return thread


def _start(thread: str, provider: str = "codex", **given: Any) -> dict[str, Any]:
    return {"threadId": thread, "provider": provider, "message": "Go on", "executor": "CLIENT"} | given


def _accept(run: str, native: tuple[str, str]) -> dict[str, Any]:
    return {"runId": run, "nativeThreadId": native[0], "nativeTurnId": native[1]}


def _fail(run: str) -> dict[str, Any]:
    return {"runId": run, "failure": {"code": "GONE", "message": "The provider does not have it"}}


# Threads


@_case("createThread", "createThread", f"thread {{ {THREAD} }}")
def _(client: Client, tag: str) -> Ready:
    del client, tag
    return Ready(None, {"title": "New"})


@_case("forkThread", "forkThread", f"thread {{ {THREAD} }} transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    return Ready(root, {"sourceThreadId": root, "title": "Fork"})


@_case("forkThread at an inherited item", "forkThread", f"thread {{ {THREAD} }} transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    item = client.visible(fork["thread"]["id"])[0]["id"]
    return Ready(root, {"sourceThreadId": fork["thread"]["id"], "point": {"turnItemId": item}})


# Starts


@_case("startRun in a new thread", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    del tag
    root = client.thread()["id"]
    return Ready(root, _start(root))


@_case("startRun that resumes", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    return Ready(root, _start(root))


@_case("startRun with a native fork", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, _start(fork["thread"]["id"]))


@_case("startRun with a portable handoff", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, _start(fork["thread"]["id"], "claude"))


@_case("startRun on another provider", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    return Ready(root, _start(root, "claude"))


@_case("startRun back on the first provider", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _moved(client, tag)
    return Ready(root, _start(root))


@_case("startRun that is not supported", "startRun", _START_ANSWER, refused=True)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, _start(fork["thread"]["id"], "acp", strategy="NATIVE_FORK"))


@_case("startRun after one that was not supported", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    with contextlib.suppress(Refusal):
        client.start(fork["thread"]["id"], "Go on", "acp", strategy="NATIVE_FORK", clientMutationId=f"{tag}-earlier")
    return Ready(root, _start(fork["thread"]["id"]))


# Reports of a start


@_case("reportRunStarted of a native fork", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    run = client.start(fork["thread"]["id"], "Go on")["run"]["id"]
    return Ready(root, _accept(run, _native(tag, 2)))


@_case("reportRunStarted of a portable handoff", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    run = client.start(fork["thread"]["id"], "Go on", "claude")["run"]["id"]
    return Ready(root, _accept(run, _native(tag, 2)))


@_case("reportRunStarted on another provider", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    run = client.start(root, "Go on", "claude")["run"]["id"]
    return Ready(root, _accept(run, _native(tag, 2)))


@_case("reportRunStarted of a native fork that failed", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, _fail(client.start(fork["thread"]["id"], "Go on")["run"]["id"]))


@_case("reportRunStarted of a lost provider thread", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    return Ready(root, _fail(client.start(root, "Go on")["run"]["id"]))


@_case("reportRunStarted with no other way left", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    del tag
    root = client.thread()["id"]
    return Ready(root, _fail(client.start(root, "Go on")["run"]["id"]))


@_case("reportRunStarted of a run that was given up", "reportRunStarted", _START_ANSWER, refused=True)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    run = client.start(root, "Go on")["run"]["id"]
    client.end("interruptRun", run)
    return Ready(root, _accept(run, (_native(tag, 1)[0], f"turn-{tag}-2")))


# Runs under way, and their end


def _under_way(client: Client, tag: str) -> tuple[str, str, str]:
    """A thread with a run under way that has one item streaming: the ids of the three."""
    root = client.thread()["id"]
    run = client.running(root, "Find the bug", native=_native(tag, 1))["run"]["id"]
    (item,) = client.append(run, {"kind": "ASSISTANT_MESSAGE", "text": "It", "streaming": True})
    return root, run, item["id"]


@_case("appendTurnItems", "appendTurnItems", "items { id kind text status position }")
def _(client: Client, tag: str) -> Ready:
    root, run, item = _under_way(client, tag)
    items = [
        {"kind": "COMMAND", "text": "make test", "data": {"exitCode": 0}},
        {"id": item, "kind": "ASSISTANT_MESSAGE", "text": "It is in the parser"},
    ]
    return Ready(root, {"runId": run, "items": items})


@_case("heartbeatRun", "heartbeatRun", _RUN_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, run, _item = _under_way(client, tag)
    return Ready(root, {"runId": run})


@_case("completeRun", "completeRun", f"{_RUN_ANSWER} checkpoint {{ id }}")
def _(client: Client, tag: str) -> Ready:
    root, run, _item = _under_way(client, tag)
    return Ready(root, {"runId": run, "usage": {"inputTokens": 7, "outputTokens": 3}})


@_case("failRun", "failRun", _RUN_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, run, _item = _under_way(client, tag)
    return Ready(root, {"runId": run, "reason": "out of memory"})


@_case("interruptRun", "interruptRun", _RUN_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, run, _item = _under_way(client, tag)
    return Ready(root, {"runId": run, "reason": "stopped"})


@_case("completeRun of a run that has ended", "completeRun", f"{_RUN_ANSWER} checkpoint {{ id }}", refused=True)
def _(client: Client, tag: str) -> Ready:
    root, run, _item = _under_way(client, tag)
    client.end("interruptRun", run)
    return Ready(root, {"runId": run})


# Rollbacks


@_case("rollbackThread", "rollbackThread", f"thread {{ {THREAD} }} rolledBackRuns")
def _(client: Client, tag: str) -> Ready:
    root = _moved(client, tag)
    return Ready(root, {"threadId": root, "toRunId": client.run_ids(root)[0]})


@_case("rollbackThread of a fork to its origin", "rollbackThread", f"thread {{ {THREAD} }} rolledBackRuns")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    thread = fork["thread"]["id"]
    client.whole_run(thread, "Try it", "Tried", native=_native(tag, 2))
    return Ready(root, {"threadId": thread, "toCheckpointId": fork["transfer"]["sourcePoint"]["checkpointId"]})


@_case("startRun after a rollback", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _moved(client, tag)
    client.roll_back(root, client.run_ids(root)[0])
    return Ready(root, _start(root, "claude"))


@_case("reportRunStarted after a rollback", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _moved(client, tag)
    client.roll_back(root, client.run_ids(root)[0])
    run = client.start(root, "Again", "claude")["run"]["id"]
    return Ready(root, _accept(run, _native(tag, 3)))


# Merges


@_case("mergeBack", "mergeBack", f"transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    return Ready(root, {"sourceThreadId": fork})


@_case("mergeBack in place of one that waits", "mergeBack", f"transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    client.whole_run(fork, "And more", "Done", native=(_native(tag, 2)[0], f"turn-{tag}-3"))
    return Ready(root, {"sourceThreadId": fork})


@_case("startRun with a merge", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    return Ready(root, _start(root))


@_case("startRun of a merge on another provider", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    return Ready(root, _start(root, "claude"))


@_case("reportRunStarted with a merge", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    run = client.start(root, "Use it")["run"]["id"]
    return Ready(root, _accept(run, (_native(tag, 1)[0], f"turn-{tag}-3")))


@_case("reportRunStarted with a merge of what was rolled back", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    client.whole_run(root, "Mend it", "Mended", native=(_native(tag, 1)[0], f"turn-{tag}-2"))
    fork = client.fork(root)["thread"]["id"]
    client.whole_run(fork, "Try it", "Tried", native=_native(tag, 3))
    client.roll_back(root, client.run_ids(root)[0])
    client.merge_back(fork)
    run = client.start(root, "Use it")["run"]["id"]
    return Ready(root, _accept(run, _native(tag, 4)))


@_case("rollbackThread past a merge", "rollbackThread", f"thread {{ {THREAD} }} rolledBackRuns")
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    client.whole_run(root, "Use it", "Used", native=(_native(tag, 1)[0], f"turn-{tag}-3"))
    return Ready(root, {"threadId": root, "toRunId": client.run_ids(root)[0]})


@_case("rollbackThread of what waits to be merged", "rollbackThread", f"thread {{ {THREAD} }} rolledBackRuns")
def _(client: Client, tag: str) -> Ready:
    root, fork = _tried(client, tag)
    client.merge_back(fork)
    return Ready(root, {"threadId": fork, "toRunId": client.run_ids(root)[0]})


# Subagents

_SPAWN_ANSWER = f"thread {{ {THREAD} }} run {{ {RUN} }} transfer {{ {TRANSFER} }} {PLAN}"
_RESULT_ANSWER = f"run {{ {RUN} }} transfer {{ {TRANSFER} }} handoff {{ {HANDOFF} }} injected"
_CANCEL_ANSWER = f"run {{ {RUN} }} transfer {{ {TRANSFER} }} cancelledRuns"


def _spawning(client: Client, tag: str) -> tuple[str, str]:
    """A thread, and a run of it that works."""
    root = _worked(client, tag)
    return root, client.running(root, "Delegate it", native=(_native(tag, 1)[0], f"turn-{tag}-2"))["run"]["id"]


def _child(client: Client, tag: str, spawner: str, number: int) -> str:
    """The run of a subagent that works."""
    run = client.spawn(spawner)["run"]["id"]
    client.started(run, **dict(zip(("nativeThreadId", "nativeTurnId"), _native(tag, number), strict=True)))
    return run


@_case("spawnSubagent", "spawnSubagent", _SPAWN_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, {"parentRunId": spawner, "task": "Look it up", "provider": "claude", "context": "NONE"})


@_case("spawnSubagent that inherits", "spawnSubagent", _SPAWN_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, {"parentRunId": spawner, "task": "Look it up", "provider": "claude", "context": "INHERIT"})


@_case("reportRunStarted of a subagent", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, _accept(client.spawn(spawner)["run"]["id"], _native(tag, 3)))


@_case("completeSubagent for a run that works", "completeSubagent", _RESULT_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, {"runId": _child(client, tag, spawner, 3), "result": "Line 7"})


@_case("completeSubagent for the next message", "completeSubagent", _RESULT_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    child = _child(client, tag, spawner, 3)
    client.complete(spawner)
    return Ready(root, {"runId": child})


@_case("completeSubagent of one that has ended", "completeSubagent", _RESULT_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    child = _child(client, tag, spawner, 3)
    client.complete(child)
    return Ready(root, {"runId": child})


@_case("completeRun of a subagent", "completeRun", f"{_RUN_ANSWER} checkpoint {{ id }}")
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, {"runId": _child(client, tag, spawner, 3)})


@_case("startRun with a result", "startRun", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    client.complete_subagent(_child(client, tag, spawner, 3), "Line 7", toRunningRun=False)
    client.complete(spawner)
    return Ready(root, _start(root))


@_case("reportRunStarted with a result", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    client.complete_subagent(_child(client, tag, spawner, 3), "Line 7", toRunningRun=False)
    client.complete(spawner)
    run = client.start(root, "Use it")["run"]["id"]
    return Ready(root, _accept(run, (_native(tag, 1)[0], f"turn-{tag}-4")))


@_case("cancelSubagent", "cancelSubagent", _CANCEL_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    child = _child(client, tag, spawner, 3)
    _child(client, tag, child, 4)
    return Ready(root, {"runId": child})


@_case("reportRunStarted of a native fork that took no turn", "reportRunStarted", _START_ANSWER)
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    run = client.start(fork["thread"]["id"], "Try it")["run"]["id"]
    failure = {"code": "OVERLOADED", "message": "Try later"}
    return Ready(root, {"runId": run, "nativeThreadId": _native(tag, 2)[0], "failure": failure})


@_case("recordNativeSubagent", "recordNativeSubagent", f"node {{ {NODE} }}")
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    return Ready(root, {"runId": spawner, "nativeId": f"child-{tag}", "task": "Look it up"})


@_case("recordNativeSubagent that is promoted", "recordNativeSubagent", f"node {{ {NODE} }}")
def _(client: Client, tag: str) -> Ready:
    root, spawner = _spawning(client, tag)
    client.observe(spawner, f"child-{tag}", nativeParentId=f"other-{tag}", title="A scout")
    given = {"runId": spawner, "nativeId": f"child-{tag}", "status": "COMPLETED", "result": "Line 7", "promote": True}
    return Ready(root, given)


# Context ahead of the run


@_case("handoffThread", "handoffThread", f"transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    return Ready(root, {"threadId": root, "provider": "claude"})


@_case("prepareTransfer", "prepareTransfer", f"transfer {{ {TRANSFER} }} handoff {{ {HANDOFF} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, {"transferId": fork["transfer"]["id"], "provider": "claude"})


@_case("reviseHandoff", "reviseHandoff", f"handoff {{ {HANDOFF} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    handoff = client.prepare(fork["transfer"]["id"], "claude")["handoff"]
    return Ready(root, {"handoffId": handoff["id"], "text": "The bug is in the parser."})


# Checkpoints and transfers


@_case("createCheckpoint", "createCheckpoint", "checkpoint { id kind label summary workspace { vcs commit } }")
def _(client: Client, tag: str) -> Ready:
    root = _worked(client, tag)
    workspace = {"vcs": "git", "commit": "abc"}
    return Ready(root, {"threadId": root, "label": "green", "summary": "All tests pass", "workspace": workspace})


@_case("cancelTransfer", "cancelTransfer", f"transfer {{ {TRANSFER} }}")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    return Ready(root, {"transferId": fork["transfer"]["id"]})


# Retention


@_case("archiveThread", "archiveThread", f"thread {{ {THREAD} }} archivedThreads")
def _(client: Client, tag: str) -> Ready:
    root, _fork = _forked(client, tag)
    return Ready(root, {"threadId": root})


@_case("archiveThread of an archived thread", "archiveThread", f"thread {{ {THREAD} }} archivedThreads")
def _(client: Client, tag: str) -> Ready:
    root, fork = _forked(client, tag)
    client.archive(fork["thread"]["id"])
    return Ready(root, {"threadId": fork["thread"]["id"]})
