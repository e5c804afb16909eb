"""`plait cypher`: one statement on the graph in a session that can't write, its records as a table or as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString, TypeAlias, cast

from neo4j import GraphDatabase, ManagedTransaction, unit_of_work
from neo4j.exceptions import ClientError, DriverError, Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Duration, Time
from rich.box import HORIZONTALS
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plait.localdb import Endpoint
from plait.localdb.address import running_endpoint
from plait.settings import Settings

MAX_ROWS = 1_000

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class CypherFailed(Exception):
    """The database refused the statement, or does not answer, or a parameter can't be one; the message says why."""


@dataclass(frozen=True)
class Answer:
    """The records of a statement: at most `MAX_ROWS`, `more` when there were others. `warnings` are the database's."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]
    more: bool
    warnings: tuple[str, ...]


def ask(settings: Settings, statement: str, parameters: Mapping[str, Json]) -> Answer:
    """Run a statement that reads on the database of the settings, or of the service that runs on their data folder.

    Raises `CypherFailed`, and `LocalDbError` when no service runs there.
    """
    endpoint = _endpoint(settings)

    @unit_of_work(timeout=settings.neo4j_transaction_timeout_seconds)
    def work(tx: ManagedTransaction) -> Answer:
        # The one place where a statement is a person's own; its session can't write.
        result = tx.run(cast(LiteralString, statement), dict(parameters))
        records = result.fetch(MAX_ROWS + 1)
        rows = tuple(tuple(plain(value) for value in record.values()) for record in records[:MAX_ROWS])
        notes = result.consume().gql_status_objects
        return Answer(
            columns=tuple(result.keys()),
            rows=rows,
            more=len(records) > MAX_ROWS,
            warnings=tuple(dict.fromkeys(note.status_description for note in notes if note.raw_severity == "WARNING")),
        )

    try:
        with (
            GraphDatabase.driver(endpoint.uri, auth=endpoint.auth, user_agent="plait-cypher") as driver,  # pyright: ignore[reportUnknownMemberType]
            driver.session(database=endpoint.database, default_access_mode="READ") as session,  # pyright: ignore[reportUnknownMemberType]
        ):
            return session.execute_read(work)
    except ClientError as error:
        raise CypherFailed(error.message or str(error)) from error
    except (DriverError, Neo4jError, OSError) as error:
        raise CypherFailed(f"The database at {endpoint.uri} does not answer: {error}") from error


def _endpoint(settings: Settings) -> Endpoint:
    if settings.neo4j_uri is None or settings.neo4j_password is None:
        return running_endpoint(settings.data_dir)
    return Endpoint(settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password, settings.neo4j_database)


def typed_parameters(given: Iterable[str]) -> dict[str, Json]:
    """`name=value` pairs: a value that is JSON counts as such, any other as text. Raises `CypherFailed`."""
    found: dict[str, Json] = {}
    for pair in given:
        name, separator, value = pair.partition("=")
        if not name or not separator:
            raise CypherFailed(f"A parameter is given as name=value, not {pair!r}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def plain(value: object) -> Json:
    """A value of the database as JSON: nodes and relationships as their properties, times in ISO 8601."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case DateTime() | Date() | Time() | Duration():
            return value.iso_format()
        case Node() | Relationship():
            return {str(key): plain(inner) for key, inner in value.items()}
        case Path():
            return [plain(inner) for inner in value.nodes]
        case list() | tuple():
            return [plain(inner) for inner in cast("Sequence[object]", value)]
        case dict():
            return {str(key): plain(inner) for key, inner in cast("dict[object, object]", value).items()}
        case _:
            return str(value)


def print_table(answer: Answer) -> None:
    """A table as wide as the terminal; elsewhere as wide as its cells, so that an id is never broken."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    table = Table(box=HORIZONTALS, header_style="bold")
    for column in answer.columns:
        table.add_column(Text(column), overflow="fold")
    for row in answer.rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console.print(table)
    console.print(Text(_size(answer)))


def print_lines(answer: Answer) -> None:
    """Each record as one JSON object."""
    for row in answer.rows:
        print(json.dumps(dict(zip(answer.columns, row, strict=True)), ensure_ascii=False))


def _cell(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _size(answer: Answer) -> str:
    if answer.more:
        return f"The first {MAX_ROWS} records; LIMIT and SKIP in the statement give others."
    return "1 record" if len(answer.rows) == 1 else f"{len(answer.rows)} records"
