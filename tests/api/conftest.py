"""The API without a graph: for what must be right before any command or read, and for when they fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from plait.api.app import build_app
from plait.api.services import ApiServices, Commands, Limits
from plait.domain.planning import Capabilities, ForkSupport
from plait.graph.readers import Readers

CODEX = Capabilities(key="codex", driver="codex", fork=ForkSupport.AT_TURN)


class Backend:
    """Stands where commands and reads are, and fails each call with `error`; `calls` names them."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def fail(*_args: object, **_kwargs: object) -> Any:
            self.calls.append(name)
            raise self.error

        return fail


@dataclass
class Api:
    """The application in this process, spoken to over HTTP."""

    http: httpx.AsyncClient
    backend: Backend

    async def run(self, query: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
        response = await self.http.post("/graphql", json={"query": query, "variables": variables})
        assert response.status_code == 200, response.text
        return response.json()

    async def codes(self, query: str, variables: dict[str, Any] | None = None) -> list[str]:
        return [error["extensions"]["code"] for error in (await self.run(query, variables))["errors"]]


@asynccontextmanager
async def api_over(backend: Backend, limits: Limits | None = None) -> AsyncIterator[Api]:
    async def ready() -> bool:
        raise backend.error

    services = ApiServices(
        readers=cast("Readers", backend),
        commands=cast("Commands", backend),
        ready=ready,
        providers=(CODEX,),
        limits=limits or Limits(),
    )
    transport = httpx.ASGITransport(app=build_app(services), raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://plait") as http:
        yield Api(http, backend)


@pytest.fixture(autouse=True)
def logs() -> Iterator[list[EventDict]]:
    """What was logged; not printed, since a pretty traceback takes a second."""
    with capture_logs() as logs:
        yield logs


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """Every call of a command or a read fails the way an unforeseen error would."""
    async with api_over(Backend(RuntimeError("password=hunter2 at 10.0.0.7"))) as api:
        yield api
