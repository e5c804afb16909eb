"""What the local Neo4j and its Java virtual machine are told: memory, limits, where Bolt listens."""

from __future__ import annotations

from pathlib import Path

from plait.settings import Settings

_LOCK_SHARE = 0.5
_TRANSACTION_SHARE = 2


def neo4j_config(settings: Settings, bolt_port: int) -> str:
    """The text of `neo4j.conf`; port 0 lets the system choose one."""
    timeout_ms = round(settings.neo4j_transaction_timeout_seconds * 1000)
    values = {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{bolt_port}",
        "dbms.security.auth_enabled": "true",
        # The password is random and long, so guessing is hopeless, while locking the user out after three wrong
        # guesses would let anyone on this machine lock the service out.
        "dbms.security.auth_max_failed_attempts": "0",
        "server.memory.pagecache.size": f"{settings.local_page_cache_mb}m",
        "dbms.memory.transaction.total.max": f"{settings.local_transaction_memory_mb}m",
        "db.memory.transaction.max": f"{settings.local_transaction_memory_mb // _TRANSACTION_SHARE}m",
        "db.transaction.timeout": f"{timeout_ms}ms",
        # A transaction that waits for a lock fails before it is ended, so that the reason given is the lock.
        "db.lock.acquisition.timeout": f"{round(timeout_ms * _LOCK_SHARE)}ms",
        # A clean end: open transactions get this long, and Bolt does not wait for more requests (5 s twice otherwise).
        "db.shutdown_transaction_end_timeout": "2s",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        # Half a GB of files for an empty graph otherwise.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "1 days 256M",
        "dbms.usage_report.enabled": "false",
    }
    lines = ["# Written at every start by Plait; its settings are PLAIT_LOCAL_… and PLAIT_NEO4J_…"]
    return "\n".join([*lines, *(f"{name}={value}" for name, value in values.items())]) + "\n"


FIXED_JVM_OPTIONS = (
    # Seen on two cores: the serial collector takes an eighth less processor time up to the first answer than G1, and
    # 70 MB less memory. Compiling only lightly would start faster still, and answer slower ever after.
    "-XX:+UseSerialGC",
    "-XX:MaxDirectMemorySize=128m",
    "-XX:ReservedCodeCacheSize=128m",
    # Half alive is worse than dead: a dead one is started again.
    "-XX:+ExitOnOutOfMemoryError",
    # Signals are the host process's.
    "-Xrs",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
"""Options of the Java virtual machine that hold for every local Neo4j."""


def jvm_options(settings: Settings, home: Path, start_cache: Path | None) -> list[str]:
    """All options of the Java virtual machine; `start_cache` is the file of `startcache`, where there is one."""
    options = [
        *FIXED_JVM_OPTIONS,
        f"-Xms{settings.local_heap_initial_mb}m",
        f"-Xmx{settings.local_heap_max_mb}m",
        f"-XX:ErrorFile={home / 'java-error-%p.log'}",
    ]
    return options if start_cache is None else [*options, f"-XX:AOTCache={start_cache}"]
