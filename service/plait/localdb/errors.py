"""What can go wrong with the local Neo4j; each message is one sentence or two for a person and says what to do next.

LocalDbError
├── JarsUnavailable      the jars are neither here nor to be had
├── DataFolderInUse      another Plait has this data folder
├── BoltPortInUse        the chosen Bolt port is taken
└── DatabaseStartFailed  Neo4j did not come up
"""

from __future__ import annotations

from pathlib import Path


class LocalDbError(Exception):
    """The local Neo4j can't be used; the message says why and what to do."""


class JarsUnavailable(LocalDbError):
    """A jar of Neo4j is not on this machine and could not be fetched, or is not the one the lock names."""


class DataFolderInUse(LocalDbError):
    """Another service has the data folder, or a database process that does not end still has it."""

    def __init__(self, data_dir: Path, owner_pid: int | None) -> None:
        by = "another Plait" if owner_pid is None else f"another Plait (process {owner_pid})"
        super().__init__(
            f"The data folder {data_dir} is in use by {by}. "
            "Stop that one first, or choose another folder with PLAIT_DATA_DIR or --data-dir."
        )


class BoltPortInUse(LocalDbError):
    """The Bolt port asked for is taken by another process."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} for Bolt is already in use. "
            "Free it, or choose another one with PLAIT_LOCAL_BOLT_PORT (0 takes any)."
        )


class DatabaseStartFailed(LocalDbError):
    """Neo4j did not come up, ended while it started, or took too long."""

    def __init__(self, reason: str, log_file: Path) -> None:
        super().__init__(f"The local Neo4j did not start: {reason.rstrip('.')}. Its log is {log_file}.")
