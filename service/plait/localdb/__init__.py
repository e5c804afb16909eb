"""The local Neo4j: a Neo4j Community that the service starts itself where none is given."""

from plait.localdb.errors import (
    BoltPortInUseError,
    DatabaseStartError,
    DataFolderInUseError,
    JarsUnavailableError,
    LocalDbError,
)
from plait.localdb.jars import DownloadProgress, fetch_jars
from plait.localdb.local import Endpoint, LocalNeo4j

__all__ = [
    "BoltPortInUseError",
    "DataFolderInUseError",
    "DatabaseStartError",
    "DownloadProgress",
    "Endpoint",
    "JarsUnavailableError",
    "LocalDbError",
    "LocalNeo4j",
    "fetch_jars",
]
