"""The one place that puts the parts together."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import structlog
from neo4j import AsyncGraphDatabase, NotificationMinimumSeverity
from starlette.applications import Starlette

from plait.api.app import build_app
from plait.api.services import ApiServices, Limits
from plait.commands.all import Commands
from plait.commands.execution import Toolbox
from plait.commands.leases import interrupt_silent_runs
from plait.domain.errors import StorageUnavailable
from plait.domain.subagents import SubagentLimits
from plait.domain.tokens import count_tokens
from plait.graph.database import Database
from plait.graph.migrations import MigrationMismatch, migrate
from plait.graph.readers import Readers
from plait.providers.registry import registry
from plait.settings import Settings


class Told(NamedTuple):
    """Who is told how the start goes: `ready` once the graph can be used, `give_up` why it never can, to end it all."""

    ready: Callable[[], None]
    give_up: Callable[[str], None]


_log = structlog.get_logger(__name__)
_MIGRATION_PAUSE_SECONDS = 1
_LOGGED_EVERY_SECONDS = 30


def open_database(settings: Settings) -> Database:
    """The driver of the settings. Connects when it is first used, on the event loop that uses it."""
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    driver = AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
        settings.neo4j_uri or "",
        auth=(settings.neo4j_user, password),
        max_connection_pool_size=settings.neo4j_pool_size,
        max_transaction_retry_time=settings.neo4j_retry_seconds,
        connection_acquisition_timeout=settings.neo4j_retry_seconds,
        connection_timeout=settings.neo4j_retry_seconds,
        # A property that no node has yet is worth a warning to a person at a prompt, not to a log at every start.
        notifications_min_severity=NotificationMinimumSeverity.OFF,
        user_agent="plait",
    )
    address = (settings.neo4j_uri or "").rpartition("@")[2]
    return Database(driver, settings.neo4j_database, settings.neo4j_transaction_timeout_seconds, address)


def create_app(settings: Settings, told: Told) -> Starlette:
    """The ASGI application: migrations at start, then GraphQL and health. Neo4j is that of `settings.neo4j_uri`."""
    database = open_database(settings)
    providers = registry(settings.providers)
    box = Toolbox(
        database=database,
        providers=providers,
        lease=timedelta(seconds=settings.lease_seconds),
        subagents=SubagentLimits(depth=settings.subagent_depth, children=settings.subagents_per_run),
    )
    return build_app(
        ApiServices(
            readers=Readers(database),
            commands=Commands(box),
            ready=database.ready,
            providers=tuple(providers.values()),
            limits=Limits(
                max_text_bytes=settings.max_text_bytes,
                max_body_bytes=settings.max_body_bytes,
                max_page_size=settings.max_page_size,
            ),
            lifespan=lambda: _opened(box, settings.lease_sweep_seconds, told),
        )
    )


@asynccontextmanager
async def _opened(box: Toolbox, sweep_seconds: float, told: Told) -> AsyncGenerator[None]:
    """The database, migrated, and swept for silent runs. A Neo4j away at start is made up for once it is back."""
    database = box.database
    try:
        later = None if await _settled(database, told) else asyncio.create_task(_settle_later(database, told))
        warm = asyncio.create_task(asyncio.to_thread(count_tokens, "warm"))
        sweep = asyncio.create_task(_sweep_for_ever(box, sweep_seconds))
        yield
        for task in (later, sweep):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await warm
    finally:
        await database.close()


async def _sweep_for_ever(box: Toolbox, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            count = await interrupt_silent_runs(box)
        except StorageUnavailable:
            continue
        except Exception as error:
            # Nobody waits for this task: it must go on, and say what it met.
            _log.error("the sweep of silent runs failed", exc_info=error)
            continue
        if count:
            _log.info("silent runs interrupted", count=count)


async def _settled(database: Database, told: Told, log: bool = True) -> bool:
    """Migrates the graph and opens it, or gives up on one that is not to be touched; false while Neo4j is away."""
    try:
        await migrate(database)
    except StorageUnavailable as error:
        if log:
            _log.warning("migrations wait for the graph database", at=database.address, reason=error.message)
        return False
    except MigrationMismatch as error:
        told.give_up(str(error))
        return True
    database.open()
    told.ready()
    return True


async def _settle_later(database: Database, told: Told) -> None:
    settled = False
    logged_at = monotonic()
    while not settled:
        await asyncio.sleep(_MIGRATION_PAUSE_SECONDS)
        log = monotonic() - logged_at >= _LOGGED_EVERY_SECONDS
        logged_at = monotonic() if log else logged_at
        try:
            settled = await _settled(database, told, log)
        except Exception as error:
            # Nobody waits for this task: without a word the service would never be ready.
            _log.critical("migrations failed", exc_info=error)
            told.give_up("The graph could not be migrated; the lines above say why.")
            return
