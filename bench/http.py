"""A keep-alive HTTP client that costs next to nothing: on two cores, what it takes the service does not have."""

from __future__ import annotations

import asyncio
from typing import cast

import orjson

_HEAD = (
    b"POST /graphql HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\naccept: application/json\r\n"
    b"content-length: %d\r\n\r\n"
)
_LENGTH = b"content-length: "


class HttpFailed(Exception):
    """The service refused, or ended the connection."""


class Connection(asyncio.Protocol):
    """One connection with one request at a time; reads what uvicorn writes, not all of HTTP."""

    def __init__(self, port: int) -> None:
        """`port` is that of the service, on this machine."""
        self._port = port
        self._buffer = b""
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._ended = asyncio.Event()

    async def open(self) -> None:
        """Connects, unless it is connected: the service ends connections that are idle for some seconds."""
        if self._transport is None:
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ended.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport, self._buffer = None, b""
        self._ended.set()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(HttpFailed(f"the connection was lost: {exc}"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        at = self._buffer.find(_LENGTH) + len(_LENGTH)
        end = head + 4 + int(self._buffer[at : self._buffer.find(b"\r\n", at)])
        if len(self._buffer) < end or self._answer is None or self._answer.done():
            return
        status, body, self._buffer = self._buffer[9:12], self._buffer[head + 4 : end], self._buffer[end:]
        if status == b"200" and b'"errors"' not in body:
            self._answer.set_result(body)
        else:
            self._answer.set_exception(HttpFailed(body.decode(errors="replace")))

    async def post(self, body: bytes) -> bytes:
        """The body of the answer. Raises `HttpFailed` for everything but data."""
        if self._transport is not None and self._transport.is_closing():
            await self._ended.wait()
        await self.open()
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(_HEAD % len(body) + body)
        return await self._answer


class Operation:
    """A GraphQL mutation made ready: its document is encoded once, and a request adds the input."""

    def __init__(self, name: str, selection: str) -> None:
        kind = name[0].upper() + name[1:]
        document = f"mutation ($input: {kind}Input!) {{ {name}(input: $input) {{ {selection} }} }}"
        self._before = b'{"query":' + orjson.dumps(document) + b',"variables":{"input":'

    def body(self, **given: object) -> bytes:
        """The body of one request."""
        return self._before + orjson.dumps(given) + b"}}"


class Query:
    """A GraphQL query made ready, as an `Operation` is."""

    def __init__(self, document: str) -> None:
        self._before = b'{"query":' + orjson.dumps(document) + b',"variables":'

    def body(self, **variables: object) -> bytes:
        """The body of one request."""
        return self._before + orjson.dumps(variables) + b"}"


FORK = Operation("forkThread", "thread { id depth createdAt parentThreadId } transfer { id status }")
START = Operation("startRun", "run { id } plan { outcome strategy injected handoffs { id tokens } }")
EXPLAIN = Query("""query ($threadId: ID!, $provider: String!) { explainStart(threadId: $threadId, provider: $provider) {
  outcome strategy reason resume { nativeThreadId } nativeFork { nativeThreadId lastTurnId }
  candidates { outcome taken costTokens reason }
} }""")
MERGE_BASE = Query("query ($threadIds: [ID!]!) { mergeBase(threadIds: $threadIds) { threadId runId } }")
