"""The local Neo4j: a Neo4j Community that the service starts itself where none is given."""

from plait.localdb.errors import (
    BoltPortInUse,
    DatabaseStartFailed,
    DataFolderInUse,
    JarsUnavailable,
    LocalDbError,
)
from plait.localdb.jars import DownloadProgress
from plait.localdb.local import Endpoint, LocalNeo4j

__all__ = [
    "BoltPortInUse",
    "DataFolderInUse",
    "DatabaseStartFailed",
    "DownloadProgress",
    "Endpoint",
    "JarsUnavailable",
    "LocalDbError",
    "LocalNeo4j",
]
