"""`plait serve`: takes the port, brings the database up, runs the service, and ends both in the right order."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType

import uvicorn

from plait.cli.console import DownloadBar, say
from plait.localdb import LocalNeo4j
from plait.localdb.address import noted_address
from plait.settings import Settings

OPEN_REQUESTS_SECONDS = 5
"""How long requests and subscriptions that are still open may go on once the service is asked to end."""

_PORT = "PLAIT_PORT, or --port"
"""How a person says which port."""


class ServeFailed(Exception):
    """The service can't run; the message says why and what to do."""


class _Stopped(BaseException):
    """SIGINT or SIGTERM came; no `except Exception` on the way may keep it."""


def serve_until_stopped(settings: Settings) -> None:
    """Run the service until SIGINT or SIGTERM; both end it cleanly. Raises `LocalDbError` and `ServeFailed`."""
    with suppress(_Stopped), _stop_signals(), ExitStack() as stack:
        # The port first: it is quick to tell, and a database must not be started in vain.
        listener = stack.enter_context(_listen(settings.host, settings.port))
        if settings.neo4j_uri is None:
            local = stack.enter_context(_local_neo4j(settings))
            settings = _with_endpoint(settings, local)
            access = f"user {settings.neo4j_user}, password in {local.password_file}"
        else:
            access = f"user {settings.neo4j_user}, password of PLAIT_NEO4J_PASSWORD"
        _run(settings, listener, access)


@contextmanager
def _local_neo4j(settings: Settings) -> Generator[LocalNeo4j]:
    with DownloadBar() as bar:
        local = LocalNeo4j(
            settings, report=bar.update, starting=lambda: say(f"Starting Neo4j in {settings.data_dir.absolute()}")
        )
        # The service's modules take a second or two to load, which the database's start hides.
        threading.Thread(target=_load_service, daemon=True, name="load-service").start()
        local.start()
    try:
        with noted_address(settings.data_dir, local.endpoint):
            yield local
    finally:
        # Ending takes a second and has its own limit: another Ctrl-C must not leave the database half ended.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        local.stop()


def _load_service() -> None:
    """Load the service ahead of its use; what is wrong with it shows when it is used."""
    with suppress(Exception):
        importlib.import_module("plait.wiring")


def _with_endpoint(settings: Settings, local: LocalNeo4j) -> Settings:
    endpoint = local.endpoint
    return settings.model_copy(
        update={
            "neo4j_uri": endpoint.uri,
            "neo4j_user": endpoint.user,
            "neo4j_password": endpoint.password,
            "neo4j_database": endpoint.database,
        }
    )


def _run(settings: Settings, listener: socket.socket, access: str) -> None:
    from plait.wiring import Told, create_app

    def ready() -> None:
        server.ready()

    def give_up(reason: str) -> None:
        server.give_up(reason)

    config = uvicorn.Config(
        create_app(settings, Told(ready, give_up)),
        log_config=None,
        access_log=settings.log_level == "DEBUG",
        lifespan="on",
        timeout_graceful_shutdown=OPEN_REQUESTS_SECONDS,
        server_header=False,
    )
    server = _Server(config, lambda ready: _tell(settings, listener, access, ready))
    server.run(sockets=[listener])
    if server.reason is not None:
        raise ServeFailed(server.reason)
    if not server.started:
        raise ServeFailed("The service did not start; the lines above say why.")


class _Server(uvicorn.Server):
    """Tells when the service answers and when it is ready, and ends when it never can be."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[bool], None]) -> None:
        super().__init__(config)
        self._tell = tell
        self._ready = False
        self.reason: str | None = None

    def ready(self) -> None:
        self._ready = True
        if self.started:
            self._tell(True)

    def give_up(self, reason: str) -> None:
        self.reason = reason
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.reason is None:
            self._tell(self._ready)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.reason is None:
            say("Stopping")
        await super().shutdown(sockets)


def _tell(settings: Settings, listener: socket.socket, access: str, ready: bool) -> None:
    base = f"http://{_reachable(settings.host)}:{listener.getsockname()[1]}"
    if ready:
        say("Plait is ready")
    else:
        say("Plait waits for Neo4j, and tells here when it is ready")
    say(f"  GraphQL   {base}/graphql")
    say(f"  GraphiQL  {base}/graphql (in a browser)")
    say(f"  Bolt      {settings.neo4j_uri} ({access})")
    say("Ctrl-C ends it.")


def _reachable(host: str) -> str:
    """The host as it stands in an address: one that means all addresses is reached on loopback."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]"
    return f"[{host}]" if ":" in host else host


@contextmanager
def _listen(host: str, port: int) -> Generator[socket.socket]:
    """A listening socket, closed at the end. Raises `ServeFailed`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family)  # pyright: ignore[reportArgumentType]
    except OSError as error:
        raise ServeFailed(_why_not(host, port, error)) from error
    with listener:
        yield listener


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is already in use. Stop what uses it, or choose another port: {_PORT}."
    if error.errno == errno.EACCES:
        return f"Port {port} on {host} needs rights that this user does not have. Choose one above 1023: {_PORT}."
    reason = error.strerror or os.strerror(error.errno or 0)
    return f"Can't listen on {host}, port {port}: {reason}. Check PLAIT_HOST and PLAIT_PORT (--host, --port)."


@contextmanager
def _stop_signals() -> Generator[None]:
    """Turn SIGINT and SIGTERM into `_Stopped`; uvicorn takes them while it runs and passes them on when it is done."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
