"""The commands of `plait`: what each takes, and how its errors reach a person. The work itself is elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from plait.cli.console import DownloadBar, complain, say
from plait.cli.logs import configure_logs
from plait.cli.serve import ServeFailed, serve_until_stopped
from plait.domain.errors import InvalidInput
from plait.localdb import LocalDbError, jars, startcache
from plait.providers.registry import registry, strangers
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
        # What is wrong with them is told before a database is started in vain.
        known = registry(settings.providers)
    except InvalidInput as error:
        _fail(error.message, code=2)
    for stranger in strangers(known):
        complain(f"Provider {stranger.key} has the driver {stranger.driver}, which is none of Plait's own.")
    try:
        serve_until_stopped(settings)
    except (LocalDbError, ServeFailed) as error:
        _fail(str(error))


@app.command()
def fetch_neo4j() -> None:
    """Download the local Neo4j (about 180 MB, once for this user), for quick starts without network."""
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
def cypher(
    statement: Annotated[str | None, typer.Argument(help="The statement.", show_default=False)] = None,
    file: Annotated[
        Path | None, typer.Option(help="Take the statement from this file.", exists=True, dir_okay=False)
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter: name=value, the value JSON or text.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print each record as one line of JSON.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the running local Neo4j. [PLAIT_DATA_DIR, .plait]", file_okay=False)
    ] = None,
) -> None:
    """Ask the graph by a Cypher statement that reads; it can't write."""
    from plait.cli.cypher import CypherFailed, ask, print_lines, print_table, typed_parameters

    text = file.read_text(encoding="utf-8") if file is not None else statement
    if text is None or (file is not None and statement is not None):
        _fail("Give a statement, or a file with one.", code=2)
    settings = _settings(data_dir=data_dir)
    try:
        answer = ask(settings, text, typed_parameters(parameter or ()))
    except (LocalDbError, CypherFailed) as error:
        _fail(str(error))
    for warning in answer.warnings:
        complain(warning)
    (print_lines if json else print_table)(answer)


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
