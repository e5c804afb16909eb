"""Where the local Neo4j of a running service listens: noted in its data folder, for other programs of the same user."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from plait.localdb.errors import LocalDbError
from plait.localdb.folder import DataFolder
from plait.localdb.local import Endpoint

_NAME = "bolt-address"


class NoAddress(LocalDbError):
    """No service runs on the data folder, or it has not told yet where its database listens."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(
            f"No Plait runs on the data folder {data_dir.absolute()}. "
            "Start one with `plait serve`, name its folder with --data-dir, or set PLAIT_NEO4J_URI."
        )


@contextmanager
def noted_address(data_dir: Path, endpoint: Endpoint) -> Generator[None]:
    """Note the address of a database that has started, until the block ends."""
    note = data_dir / _NAME
    note.write_text(endpoint.uri + "\n", encoding="utf-8")
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def running_endpoint(data_dir: Path) -> Endpoint:
    """The database of the service that runs on `data_dir`; after a hard end of that service it may be gone.

    Raises `NoAddress`.
    """
    try:
        uri = (data_dir / _NAME).read_text(encoding="utf-8").strip()
        password = DataFolder(data_dir).password_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise NoAddress(data_dir) from error
    return Endpoint(uri, "neo4j", SecretStr(password))
