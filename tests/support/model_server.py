"""A loopback stand-in of a model endpoint (OpenAI Responses): it echoes, and keeps what it was really sent.

That record is the proof of what a provider's program told its model after a fork, a resume or a handoff.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

SentMessage = tuple[str, str]
"""Role and text of one message that the model was sent."""


@dataclass
class ModelServer:
    """Serves until the block ends. `sent` has the messages of each request, in order; it grows as they come.

    `refuses` makes it answer every request with that HTTP status instead. Of the messages only the conversation is
    kept: what a program says of itself and its surroundings (`<environment_context>` and the like) is left out.
    """

    refuses: int | None = None
    sent: list[list[SentMessage]] = field(default_factory=list[list[SentMessage]])

    def __enter__(self) -> Self:
        model_server = self

        class Handler(_Handler):
            model = model_server

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True, name="model").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a program's setting for the address of its model's API takes."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"


def echo_of(text: str) -> str:
    """What the stand-in answers to a text."""
    return f"echo: {text[-60:]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.model.refuses is not None:
            self._answer(b'{"error": {"message": "not today"}}', "application/json", self.model.refuses)
            return
        messages = _messages(body.get("input", []))
        self.model.sent.append(messages)
        reply = echo_of(messages[-1][1] if messages else "")
        self._answer("".join(_events(reply, len(self.model.sent))).encode(), "text/event-stream")

    def _answer(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _messages(entries: list[dict[str, Any]]) -> list[SentMessage]:
    found = [(entry["role"], _text(entry["content"])) for entry in entries if entry.get("type") == "message"]
    return [(role, text) for role, text in found if role in ("user", "assistant") and text]


def _text(content: str | list[dict[str, Any]]) -> str:
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "".join(part for part in parts if not part.startswith("<environment_context>"))


def _events(reply: str, number: int) -> list[str]:
    """The stream of one answer: it began, here is its one message, it is complete."""
    message = {
        "type": "message",
        "role": "assistant",
        "id": f"msg_{number}",
        "content": [{"type": "output_text", "text": reply}],
    }
    usage = {
        "input_tokens": 100 + number,
        "input_tokens_details": None,
        "output_tokens": 10,
        "output_tokens_details": None,
        "total_tokens": 110 + number,
    }
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
