"""The ASGI application: GraphQL, health, and the text of the schema."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from plait.api.execution import GraphQLEngine
from plait.api.http import GraphQLEndpoint
from plait.api.schema import print_sdl
from plait.api.services import ApiServices


def build_app(services: ApiServices) -> Starlette:
    """The application over these services; it takes requests once `services.lifespan` is entered."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with services.lifespan():
            yield

    async def live(_request: Request) -> Response:
        return PlainTextResponse("live\n")

    async def ready(_request: Request) -> Response:
        try:
            answer = await services.ready()
        except Exception:  # what can't tell is not ready
            answer = False
        return PlainTextResponse("ready\n") if answer else PlainTextResponse("not ready\n", status_code=503)

    async def sdl(_request: Request) -> Response:
        return PlainTextResponse(print_sdl())

    graphql = GraphQLEndpoint(GraphQLEngine(services), services.limits.max_body_bytes)
    return Starlette(
        routes=[
            Route("/", RedirectResponse("/graphql")),
            Route("/graphql", graphql),
            Route("/health/live", live),
            Route("/health/ready", ready),
            Route("/schema.graphql", sdl),
        ],
        lifespan=lifespan,
    )
