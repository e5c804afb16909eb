"""Codex as a client of Plait: ask for a plan, do what it says on the real Codex program, report what happened.

    python examples/codex_client.py                            a conversation, a fork of it, and the fork's first run
    python examples/codex_client.py --thread thr_… "message"   one run in a thread that exists, by whatever plan it has

Plait must run (`make serve`). The program is that of `pip install openai-codex`, with your own Codex login. Agents may
read this folder and change nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

from codex_app_server import CodexAppServer, CodexError, Turn

HEARTBEAT_SECONDS = 30
TRIES = 5
PLAN = "plan { outcome reason injected resume { nativeThreadId } nativeFork { nativeThreadId lastTurnId } }"


class Plait:
    """The GraphQL API of the service at `url`."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/graphql"

    def query(self, document: str, **variables: object) -> dict[str, Any]:
        """The data of an answer. Ends the example with the reason when Plait refuses."""
        body = json.dumps({"query": document, "variables": variables}).encode()
        for again in range(1, TRIES + 1):
            try:
                request = urllib.request.Request(self._url, body, {"content-type": "application/json"})
                with urllib.request.urlopen(request, timeout=60) as response:
                    answer = json.load(response)
            except urllib.error.HTTPError as error:
                answer = json.load(error)
            except urllib.error.URLError as error:
                answer = {"errors": [{"message": f"{self._url}: {error}", "extensions": {"retryable": True}}]}
            if not answer.get("errors"):
                return answer["data"]
            refusal = answer["errors"][0]
            if not refusal["extensions"]["retryable"] or again == TRIES:
                raise SystemExit(f"Plait refuses: {refusal['message']}")
            time.sleep(again)
        raise AssertionError

    def mutate(self, name: str, selection: str, **given: object) -> dict[str, Any]:
        """One mutation. Its `clientMutationId` makes it safe to send again: it is done once."""
        kind = f"{name[0].upper()}{name[1:]}Input"
        document = f"mutation ($input: {kind}!) {{ {name}(input: $input) {{ {selection} }} }}"
        return self.query(document, input={"clientMutationId": uuid.uuid4().hex} | given)[name]


def run_message(plait: Plait, codex: CodexAppServer, thread_id: str, message: str, inject: str) -> str:
    """One run from its plan to its end; returns its id."""
    answer = plait.mutate(
        "startRun", f"run {{ id }} {PLAN}", threadId=thread_id, provider="codex", executor="CLIENT", message=message
    )
    run_id, plan = answer["run"]["id"], answer["plan"]
    print(f"{thread_id}: {message}")
    turn = start_turn(plait, codex, run_id, plan, message, inject)
    for item in codex.items(turn, HEARTBEAT_SECONDS):
        if item is None:
            # A run that nobody is heard of is given up.
            plait.mutate("heartbeatRun", "run { id }", runId=run_id)
        elif item["type"] != "userMessage":
            plait.mutate("appendTurnItems", "items { id }", runId=run_id, items=[as_turn_item(item)])
            print(f"  {item['type']}: {item.get('text') or item.get('command') or ''}")
    end_run(plait, run_id, turn)
    return run_id


def start_turn(
    plait: Plait, codex: CodexAppServer, run_id: str, plan: dict[str, Any], message: str, inject: str
) -> Turn:
    """Start the turn as planned. Where a native way fails, Plait is told and plans anew: never a silent empty start."""
    while True:
        print(f"  {run_id} {plan['outcome']}: {plan['reason']}")
        try:
            native_thread = open_native_thread(codex, plan)
            words = message
            if plan["injected"] and inject == "item":
                codex.tell(native_thread, plan["injected"])
            elif plan["injected"]:
                words = f"{plan['injected']}\n\n{message}"
            turn = codex.start_turn(native_thread, words)
        except CodexError as error:
            print(f"  Codex refuses: {error}")
            failure = {"code": error.code, "message": str(error)}
            answer = plait.mutate("reportRunStarted", f"run {{ status }} {PLAN}", runId=run_id, failure=failure)
            if answer["run"]["status"] == "FAILED":
                raise SystemExit("No way is left to start this run.") from error
            plan = answer["plan"]
            continue
        # From here on the run is in the thread's history, and what the plan carried counts as told.
        plait.mutate("reportRunStarted", "run { id }", runId=run_id, nativeThreadId=native_thread, nativeTurnId=turn.id)
        print(f"  native thread {native_thread}, turn {turn.id}")
        return turn


def open_native_thread(codex: CodexAppServer, plan: dict[str, Any]) -> str:
    """The native thread a plan names: one resumed, a fork of one, or a new one."""
    if plan["resume"]:
        return codex.resume_thread(plan["resume"]["nativeThreadId"])
    if plan["nativeFork"]:
        return codex.fork_thread(plan["nativeFork"]["nativeThreadId"], plan["nativeFork"]["lastTurnId"])
    return codex.start_thread()


def as_turn_item(item: dict[str, Any]) -> dict[str, Any]:
    """What Codex says of a finished item, in the words of Plait."""
    match item["type"]:
        case "agentMessage":
            return {"kind": "ASSISTANT_MESSAGE", "text": item["text"]}
        case "reasoning":
            return {"kind": "REASONING", "text": "\n".join(item["summary"] or item["content"])}
        case "plan":
            return {"kind": "PLAN", "text": item["text"]}
        case "commandExecution":
            facts = {key: item[key] for key in ("command", "cwd", "exitCode")}
            return {"kind": "COMMAND", "data": facts | {"output": item["aggregatedOutput"]}}
        case "fileChange":
            changes = [
                {"path": change["path"], "change": change["kind"]["type"], "diff": change["diff"]}
                for change in item["changes"]
            ]
            return {"kind": "FILE_CHANGE", "data": {"changes": changes}}
        case "mcpToolCall":
            facts = {"callId": item["id"], "name": f"{item['server']}.{item['tool']}", "input": item["arguments"]}
            output = item["error"] or (item["result"] or {}).get("content")
            return {"kind": "TOOL_CALL", "data": facts | {"output": output, "status": item["status"]}}
        case "contextCompaction":
            return {"kind": "COMPACTION", "data": item}
        case _:
            return {"kind": "OTHER", "data": item}


def end_run(plait: Plait, run_id: str, turn: Turn) -> None:
    """Report how the turn ended."""
    match turn.status:
        case "completed":
            usage = {"inputTokens": turn.input_tokens, "outputTokens": turn.output_tokens}
            plait.mutate("completeRun", "run { id }", runId=run_id, usage=usage)
        case "interrupted":
            plait.mutate("interruptRun", "run { id }", runId=run_id, reason=turn.error)
        case _:
            plait.mutate("failRun", "run { id }", runId=run_id, reason=turn.error)
    print(f"  {turn.status} {turn.error or ''}".rstrip())


def converse(plait: Plait, codex: CodexAppServer, inject: str) -> None:
    """Two runs, a fork at the first, and the fork's first run: Codex forks its own thread for it."""
    thread = plait.mutate("createThread", "thread { id }", title="Two questions")["thread"]["id"]
    first = run_message(plait, codex, thread, "Name a prime number larger than 10.", inject)
    run_message(plait, codex, thread, "And the next one?", inject)
    answer = plait.mutate("forkThread", "thread { id } transfer { id }", sourceThreadId=thread, point={"runId": first})
    fork, transfer = answer["thread"]["id"], answer["transfer"]["id"]
    print(f"{fork}: forked from {thread} at {first}; {transfer} is pending")
    run_message(plait, codex, fork, "And the one before it?", inject)
    document = "query ($id: ID!) { transfer(id: $id) { status resolution { strategy } } }"
    resolved = plait.query(document, id=transfer)["transfer"]
    print(f"{transfer}: {resolved['resolution']['strategy']}, {resolved['status']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("message", nargs="?", help="what to say in the thread of --thread")
    parser.add_argument("--thread", help="a thread that exists; without it, a conversation of the example's own")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="where Plait is (%(default)s)")
    parser.add_argument("--model", help="the Codex model")
    parser.add_argument(
        "--inject", choices=["item", "before-message"], default="item", help="how a handoff is told (%(default)s)"
    )
    given = parser.parse_args()
    if (given.thread is None) != (given.message is None):
        parser.error("--thread and a message go together")
    plait = Plait(given.url)
    with CodexAppServer(os.getcwd(), given.model) as codex:
        if given.thread:
            run_message(plait, codex, given.thread, given.message, given.inject)
        else:
            converse(plait, codex, given.inject)


if __name__ == "__main__":
    main()
