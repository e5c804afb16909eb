"""The commands of `plait`: what each takes, and how its errors reach a person. The work itself is elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from plait.cli.console import DownloadBar, complain, say
from plait.cli.logs import configure_logs
from plait.cli.serve import ServeFailed, serve_until_stopped
from plait.localdb import LocalDbError, jars, startcache
from plait.settings import Settings, SettingsError, load_settings, unknown_variables

# Pretty tracebacks print local variables, passwords among them.
app = typer.Typer(
    name="plait",
    help="Lineage service for agent threads: a graph in Neo4j, read over GraphQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def serve(
    port: Annotated[
        int | None, typer.Option(help="Port of the HTTP service; 0 takes any free one. [PLAIT_PORT, 8000]")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the local Neo4j. [PLAIT_DATA_DIR, .plait]", file_okay=False)
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [PLAIT_HOST, 127.0.0.1]")] = None,
) -> None:
    """Run the service; without PLAIT_NEO4J_URI also a Neo4j of its own, in the data folder."""
    settings = _settings(host=host, port=port, data_dir=data_dir)
    configure_logs(settings.log_level)
    try:
        serve_until_stopped(settings)
    except (LocalDbError, ServeFailed) as error:
        _fail(str(error))


@app.command()
def fetch_neo4j() -> None:
    """Download the local Neo4j (about 180 MB, once for this user) and make it start quickly (a minute, another 170 MB)."""
    try:
        with DownloadBar() as bar:
            class_path = [str(path) for path in jars.class_path(bar.update)]
        if not startcache.cache_file(class_path).exists():
            say("Preparing quick starts of Neo4j, which takes about a minute")
            if not startcache.make(class_path):
                complain("Java did not prepare quick starts; Neo4j starts all the same, some seconds slower.")
    except LocalDbError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Stopped. What is already here is kept.")
    say("Neo4j is ready to be started")


@app.command()
def export_schema() -> None:
    """Print the GraphQL schema."""
    from plait.api.schema import print_sdl

    sys.stdout.write(print_sdl().rstrip("\n") + "\n")


def _settings(**overrides: object) -> Settings:
    for name in unknown_variables():
        complain(f"{name} is no setting of Plait and is ignored.")
    try:
        return load_settings(**overrides)
    except SettingsError as error:
        _fail(str(error), code=2)


def _fail(message: str, code: int = 1) -> NoReturn:
    complain(message)
    raise typer.Exit(code)
