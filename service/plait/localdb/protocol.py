"""What the service and its database process say to each other: one order, one report, each a line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, Self

FOLDER_WAIT_SECONDS = 20.0
"""A database process whose starter was killed is still closing its files: the next one waits this long for it."""

STOP_LIMIT_SECONDS = 20.0
"""A clean end takes about a second. Past this the process ends hard; Neo4j recovers at its next start."""

Outcome = Literal["ready", "folder_in_use", "port_in_use", "failed"]


@dataclass(frozen=True)
class HostOrder:
    """What to start: `home` is Neo4j's folder, `config` its settings file, `class_path` its jars.

    `password_file` holds the password of user `neo4j`; with `reset_password` an existing database is given it.
    """

    home: str
    config: str
    lock_file: str
    password_file: str
    reset_password: bool
    class_path: list[str]
    jvm_options: list[str]
    parent_pid: int

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
