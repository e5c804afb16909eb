"""What the service and its database process say to each other: one order, one report, each a line of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from plait.localdb.folder import DataFolder

FOLDER_WAIT_SECONDS = 45.0
"""A database process whose starter was killed is still closing its files: the next one waits this long for it."""

STOP_LIMIT_SECONDS = 30.0
"""A clean end takes about a second. Past this the process ends hard; Neo4j recovers at its next start."""

Outcome = Literal["ready", "folder_in_use", "port_in_use", "failed"]


@dataclass(frozen=True)
class HostOrder:
    """What to start: `home` is Neo4j's folder, `config` its settings file, `class_path` its jars.

    `password_file` holds the password of user `neo4j`; with `reset_password` an existing database is given it. With
    `leave_java` the Java virtual machine is ended by its own rules, for which it may take `stop_limit_seconds`.
    """

    home: str
    config: str
    lock_file: str
    password_file: str
    reset_password: bool
    class_path: list[str]
    jvm_options: list[str]
    parent_pid: int
    leave_java: bool = False
    stop_limit_seconds: float = STOP_LIMIT_SECONDS

    @classmethod
    def of(cls, folder: DataFolder, class_path: Sequence[str], jvm_options: Sequence[str], **more: Any) -> Self:
        """The order to start the database of `folder` as a child of this process."""
        return cls(
            home=str(folder.home),
            config=str(folder.config_file),
            lock_file=str(folder.database_lock),
            password_file=str(folder.current_password_file),
            reset_password=folder.password_is_new,
            class_path=list(class_path),
            jvm_options=list(jvm_options),
            parent_pid=os.getpid(),
            **more,
        )

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True)
class HostReport:
    """What came of a start: the Bolt port when ready, else a reason for a person."""

    outcome: Outcome
    port: int = 0
    reason: str = ""

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Self:
        return cls(**json.loads(line))
