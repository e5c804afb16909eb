"""The Codex app-server as a child process: JSON-RPC by lines on its standard input and output.

Only what a client of Plait needs of it: open a native thread (new, resumed, forked), tell it context, run one turn.
Needs `pip install openai-codex`, which brings the program. It uses the Codex login and settings of the caller
(`CODEX_HOME`).
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from codex_cli_bin import bundled_codex_path

CALL_LIMIT_SECONDS = 60
"""A call that is not answered by then counts as failed: the program may leave one unanswered."""

# The example never lets an agent write files or ask for leave to.
_CAREFUL = {"approvalPolicy": "never", "sandbox": "read-only"}


class CodexError(Exception):
    """The program refused a call, or is gone; `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Turn:
    """One turn of a native thread. `status` is set when it has ended: completed, interrupted or failed."""

    thread_id: str
    id: str
    status: str | None = None
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class CodexAppServer:
    """Runs until the block ends. `folder` is where its agents work."""

    def __init__(self, folder: str, model: str | None = None) -> None:
        self._options = _CAREFUL | {"cwd": folder} | ({"model": model} if model else {})
        self._process = subprocess.Popen(
            [bundled_codex_path(), "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            bufsize=1,
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._notes: queue.Queue[dict[str, Any]] = queue.Queue()
        self._calls = 0
        self._writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True, name="codex").start()

    def __enter__(self) -> Self:
        try:
            self.call(
                "initialize",
                clientInfo={"name": "plait-example", "title": "Plait example", "version": "1"},
                capabilities={"experimentalApi": True},
            )
            self._send({"method": "initialized"})
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the program. Its threads stay on its disk, to be resumed."""
        self._process.terminate()
        self._process.wait()

    def start_thread(self) -> str:
        """A new native thread; returns its id."""
        return self.call("thread/start", **self._options)["thread"]["id"]

    def resume_thread(self, thread_id: str) -> str:
        """Take up a native thread, of this process or an earlier one. Raises `CodexError` when it is gone."""
        return self.call("thread/resume", threadId=thread_id, excludeTurns=True, **self._options)["thread"]["id"]

    def fork_thread(self, thread_id: str, last_turn_id: str) -> str:
        """A new native thread that knows another one through `last_turn_id`, inclusive; returns the new id."""
        answer = self.call(
            "thread/fork", threadId=thread_id, lastTurnId=last_turn_id, excludeTurns=True, **self._options
        )
        return answer["thread"]["id"]

    def tell(self, thread_id: str, text: str) -> None:
        """Add a text to what the model sees, as an item of its own. The thread must be idle, or it is lost."""
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        self.call("thread/inject_items", threadId=thread_id, items=[item])

    def start_turn(self, thread_id: str, text: str) -> Turn:
        """Returns once the program has accepted the turn. The thread must be idle: a busy one would be steered."""
        answer = self.call("turn/start", threadId=thread_id, input=[{"type": "text", "text": text}])
        return Turn(thread_id, answer["turn"]["id"])

    def items(self, turn: Turn, silence_seconds: float) -> Iterator[dict[str, Any] | None]:
        """The finished items of a turn until it has ended; None each time nothing came for `silence_seconds`."""
        while turn.status is None:
            try:
                note = self._notes.get(timeout=silence_seconds)
            except queue.Empty:
                yield None
                continue
            if note["method"] == "":
                turn.status, turn.error = "failed", "the Codex program has ended"
            # Forks have the turn ids of their source: only thread and turn together name a turn.
            elif note["params"].get("threadId") == turn.thread_id:
                yield from _take(note["method"], note["params"], turn)

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """The result of one call. Raises `CodexError`."""
        self._calls += 1
        self._send({"id": self._calls, "method": method, "params": params})
        deadline = time.monotonic() + CALL_LIMIT_SECONDS
        while True:
            try:
                answer = self._answers.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise CodexError("TIMED_OUT", f"{method} was not answered within {CALL_LIMIT_SECONDS} s") from None
            if answer["id"] is None:
                self._answers.put(answer)
                raise CodexError("GONE", "the Codex program has ended")
            if answer["id"] == self._calls:
                break
        if "error" in answer:
            raise CodexError(f"CODEX_{answer['error']['code']}", f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(json.dumps(message) + "\n")
        except OSError as error:
            raise CodexError("GONE", "the Codex program has ended") from error

    def _read(self) -> None:
        """Sort what the program says: answers to calls, notes, and questions, which this client does not answer."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self._answers.put(message)
            elif "id" not in message:
                self._notes.put(message)
            else:
                self._send({"id": message["id"], "error": {"code": -32601, "message": "not supported"}})
        self._answers.put({"id": None})
        self._notes.put({"method": ""})


def _take(method: str, params: dict[str, Any], turn: Turn) -> Iterator[dict[str, Any]]:
    """What a note of the turn's thread changes in it, and the item it finishes, if any."""
    if method == "item/completed" and params["turnId"] == turn.id:
        yield params["item"]
    elif method == "thread/tokenUsage/updated" and params["turnId"] == turn.id:
        usage = params["tokenUsage"]["last"]
        turn.input_tokens += usage["inputTokens"]
        turn.output_tokens += usage["outputTokens"]
    elif method == "turn/completed" and params["turn"]["id"] == turn.id:
        # A model that can't be reached is no error of a call: the turn is accepted, and ends as failed.
        turn.status = params["turn"]["status"]
        turn.error = (params["turn"]["error"] or {}).get("message")
