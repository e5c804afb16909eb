"""The GraphQL endpoint: an HTTP request in, JSON out. It is thin because every command passes through it."""

import json
import re

import orjson
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from plait.api.errors import JsonObject, masked
from plait.api.execution import GraphQLEngine, read_request, refused
from plait.api.graphiql import graphiql_page
from plait.domain.errors import ErrorCode, InvalidInput

JSON = b"application/json; charset=utf-8"
GRAPHQL_JSON = b"application/graphql-response+json; charset=utf-8"
HTML = b"text/html; charset=utf-8"

_LONG_NUMBER = re.compile(rb"[0-9]{19}")


class _Refused(Exception):
    """A request that does not get as far as GraphQL."""

    def __init__(self, status: int, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = refused(code, message)


class _ClientGone(Exception):
    """The client went away while it was sending."""


class GraphQLEndpoint:
    """An ASGI application for one path: POST runs an operation, GET in a browser shows GraphiQL."""

    def __init__(self, engine: GraphQLEngine, max_body_bytes: int) -> None:
        self._engine = engine
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            if scope["method"] == "POST":
                status, kind, body = await self._post(headers, receive)
            else:
                status, kind, body = _page(scope["method"], headers)
        except _Refused as refusal:
            status, kind, body = refusal.status, JSON, _dump(refusal.body)
        except _ClientGone:
            return
        extra = [(b"allow", b"GET, POST")] if status == 405 else []
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *extra],
            }
        )
        await send({"type": "http.response.body", "body": body})

    async def _post(self, headers: Headers, receive: Receive) -> tuple[int, bytes, bytes]:
        _check_content_type(headers.get("content-type", ""))
        body = await self._read(headers, receive)
        try:
            request = read_request(_parsed(body))
        except orjson.JSONDecodeError as error:
            raise _Refused(400, ErrorCode.INVALID_INPUT, f"The body is not valid JSON: {error}.") from None
        except InvalidInput as error:
            raise _Refused(400, error.code, error.message) from None
        answer = await self._engine.run(request)
        if "application/graphql-response+json" in headers.get("accept", ""):
            return 200 if answer.executed else 400, GRAPHQL_JSON, _dump(answer.body)
        return 200, JSON, _dump(answer.body)

    async def _read(self, headers: Headers, receive: Receive) -> bytes:
        told = headers.get("content-length", "0")
        if told.isdecimal() and int(told) > self._max_body_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _ClientGone
            part = message.get("body", b"")
            size += len(part)
            if size > self._max_body_bytes:
                raise self._too_large()
            parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts)

    def _too_large(self) -> _Refused:
        return _Refused(413, ErrorCode.LIMIT_EXCEEDED, f"The body may have {self._max_body_bytes} bytes at most.")


def _parsed(body: bytes) -> object:
    """The JSON of a body. Raises `orjson.JSONDecodeError`, and `InvalidInput` for an integer of more than 64 bits."""
    value: object = orjson.loads(body)
    if _LONG_NUMBER.search(body):
        # orjson makes such an integer a float, rounded, and does not tell.
        try:
            json.loads(body, parse_int=_check_integer)
        except RecursionError:
            raise InvalidInput("The body is nested too deep.", ErrorCode.LIMIT_EXCEEDED) from None
    return value


def _check_integer(digits: str) -> None:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise InvalidInput("The body holds an integer of more than 64 bits.")


def _check_content_type(given: str) -> None:
    kind, _, parameters = given.partition(";")
    if kind.strip().lower() != "application/json":
        raise _Refused(415, ErrorCode.INVALID_INPUT, "Send the operation as application/json.")
    charset = parameters.strip().lower()
    if charset.startswith("charset=") and charset.removeprefix("charset=").strip('"') not in ("utf-8", "utf8"):
        raise _Refused(415, ErrorCode.INVALID_INPUT, "Send the operation in UTF-8.")


def _page(method: str, headers: Headers) -> tuple[int, bytes, bytes]:
    if method in ("GET", "HEAD") and "text/html" in headers.get("accept", ""):
        return 200, HTML, graphiql_page()
    raise _Refused(405, ErrorCode.INVALID_INPUT, "Send operations by POST; GET in a browser shows GraphiQL.")


def _dump(body: JsonObject) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError as error:
        return orjson.dumps({"errors": [masked(error)]})
