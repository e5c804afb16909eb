"""The local Neo4j on the real thing: it keeps its data, folder, port and password, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from plait.localdb import BoltPortInUse, DataFolderInUse, Endpoint, LocalNeo4j, startcache
from plait.settings import Settings
from tests.support.processes import is_gone, wait_gone
from tests.support.service import clean_environment

TRANSACTION_LIMIT_SECONDS = 4
BACK_LIMIT_SECONDS = 180


def settings_for(folder: Path, **more: Any) -> Settings:
    return Settings(data_dir=folder, neo4j_uri=None, **more)


def ask(endpoint: Endpoint, statement: str, auth: tuple[str, str] | None = None) -> list[dict[str, Any]]:
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth or endpoint.auth) as driver, driver.session() as session:
        return session.run(statement).data()  # pyright: ignore[reportArgumentType]


def ask_until_answered(endpoint: Endpoint, statement: str) -> list[dict[str, Any]]:
    deadline = time.monotonic() + BACK_LIMIT_SECONDS
    while True:
        try:
            return ask(endpoint, statement)
        except (DriverError, Neo4jError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    folder = tmp_path_factory.mktemp("local")
    settings = settings_for(
        folder / "data",
        neo4j_transaction_timeout_seconds=TRANSACTION_LIMIT_SECONDS,
        local_transaction_memory_mb=32,
    )
    with LocalNeo4j(settings) as running:
        # The first statement takes seconds, more on a busy machine than the limit set here.
        ask_until_answered(running.endpoint, "RETURN 1")
        yield running


class TestWhoGetsIn:
    def test_a_wrong_password_is_refused(self, local: LocalNeo4j) -> None:
        with pytest.raises(AuthError):
            ask(local.endpoint, "RETURN 1", auth=("neo4j", "not the password"))

    def test_the_well_known_first_password_is_refused(self, local: LocalNeo4j) -> None:
        with pytest.raises(AuthError):
            ask(local.endpoint, "RETURN 1", auth=("neo4j", "neo4j"))

    def test_wrong_guesses_do_not_lock_the_service_out(self, local: LocalNeo4j) -> None:
        for guess in range(5):
            with pytest.raises(AuthError):
                ask(local.endpoint, "RETURN 1", auth=("neo4j", f"guess {guess}"))

        assert ask(local.endpoint, "RETURN 1 AS one") == [{"one": 1}]

    def test_the_password_file_is_its_owners_alone(self, local: LocalNeo4j) -> None:
        assert stat.S_IMODE(local.password_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(local.password_file.parent.stat().st_mode) == 0o700
        assert local.password_file.read_text().strip() == local.endpoint.auth[1]

    def test_the_password_is_in_no_command_line_and_no_printed_endpoint(self, local: LocalNeo4j) -> None:
        password = local.endpoint.auth[1]

        assert local.pid is not None
        assert password not in " ".join(psutil.Process(local.pid).cmdline())
        assert password not in repr(local.endpoint)

    def test_bolt_listens_on_loopback_only(self, local: LocalNeo4j) -> None:
        assert local.pid is not None
        listening = [c for c in psutil.Process(local.pid).net_connections() if c.status == psutil.CONN_LISTEN]

        assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}


class TestLimits:
    def test_a_transaction_past_its_time_is_ended_by_the_server(self, local: LocalNeo4j) -> None:
        endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a * b % 7)"

        with pytest.raises(Neo4jError, match=r"[Tt]imeout|timed out|terminated"):
            ask(local.endpoint, endless)

    def test_a_transaction_that_takes_too_much_memory_fails_alone(self, local: LocalNeo4j) -> None:
        with pytest.raises(Neo4jError) as refused:
            ask(local.endpoint, "UNWIND range(1, 3000000) AS n RETURN size(collect(toString(n) + 'x'))")

        assert refused.value.code is not None
        assert "MemoryPoolOutOfMemory" in refused.value.code
        assert ask(local.endpoint, "RETURN 1 AS one") == [{"one": 1}]


class TestOneServiceOneFolder:
    def test_a_second_start_is_refused_and_harms_nothing(self, local: LocalNeo4j) -> None:
        folder = local.password_file.parent

        with pytest.raises(DataFolderInUse, match=str(os.getpid())) as refused:
            LocalNeo4j(settings_for(folder)).start()

        assert str(folder) in str(refused.value)
        assert "--data-dir" in str(refused.value)
        assert ask(local.endpoint, "RETURN 1 AS one") == [{"one": 1}]


def test_a_killed_database_process_is_back_on_its_port_with_its_data(local: LocalNeo4j) -> None:
    ask(local.endpoint, "CREATE (:Kept {n: 1})")
    killed = local.pid
    assert killed is not None

    os.kill(killed, signal.SIGKILL)

    assert ask_until_answered(local.endpoint, "MATCH (k:Kept) RETURN k.n AS n") == [{"n": 1}]
    assert local.pid != killed
    assert is_gone(killed)


def test_data_is_there_after_a_stop_and_a_start_also_with_a_lost_password_file(tmp_path: Path) -> None:
    with LocalNeo4j(settings_for(tmp_path)) as first:
        old = first.endpoint.auth
        ask(first.endpoint, "CREATE (:Kept {n: 1})")
        database = first.pid
    assert database is not None
    assert is_gone(database)

    (tmp_path / "neo4j-password").unlink()
    with LocalNeo4j(settings_for(tmp_path)) as second:
        assert ask(second.endpoint, "MATCH (k:Kept) RETURN k.n AS n") == [{"n": 1}]
        assert second.endpoint.auth != old
        with pytest.raises(AuthError):
            ask(second.endpoint, "RETURN 1", auth=old)


SERVICE = """
import os, sys, time
from pathlib import Path
from plait.localdb import LocalNeo4j
from plait.settings import Settings
local = LocalNeo4j(Settings(data_dir=Path(sys.argv[1]), neo4j_uri=None))
local.start()
child = os.fork() if "fork" in sys.argv else -1
if child == 0:
    time.sleep(600)
print(local.pid, child, flush=True)
time.sleep(600)
"""


def start_service(folder: Path, *more: str) -> tuple[subprocess.Popen[str], int, int]:
    """A process that has started a local Neo4j; returns it, its database's id and that of the child it forked."""
    service = subprocess.Popen(
        [sys.executable, "-c", SERVICE, str(folder), *more], env=clean_environment(), stdout=subprocess.PIPE, text=True
    )
    assert service.stdout is not None
    with service.stdout as told:
        line = told.readline()
    if not line:
        raise AssertionError(f"the service ended with {service.wait()} instead of starting")
    database, child = (int(pid) for pid in line.split())
    return service, database, child


def test_a_start_right_after_the_service_was_killed_waits_for_its_database_to_end(tmp_path: Path) -> None:
    service, database, _ = start_service(tmp_path)
    service.kill()
    service.wait()

    with LocalNeo4j(settings_for(tmp_path)) as next_one:
        assert ask(next_one.endpoint, "RETURN 1 AS one") == [{"one": 1}]
        wait_gone(database)


def test_the_database_ends_with_a_killed_service_also_when_a_forked_child_holds_its_pipes(tmp_path: Path) -> None:
    service, database, child = start_service(tmp_path, "fork")
    try:
        service.kill()
        service.wait()

        wait_gone(database)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_password_that_looks_like_an_option_is_a_password_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "neo4j-password.new").write_text("--verbose and a dash\n")

    with LocalNeo4j(settings_for(tmp_path)) as local:
        assert ask(local.endpoint, "RETURN 1 AS one", auth=("neo4j", "--verbose and a dash")) == [{"one": 1}]


def test_a_start_cache_that_does_not_fit_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = tmp_path / "unfit.aot"
    unfit.write_bytes(b"not what Java kept")
    monkeypatch.setattr(startcache, "cache_file", lambda class_path: unfit)

    with LocalNeo4j(settings_for(tmp_path / "data")) as local:
        assert ask(local.endpoint, "RETURN 1 AS one") == [{"one": 1}]


def test_a_bolt_port_that_is_taken_is_told_and_the_folder_is_free_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        for _ in range(2):
            with pytest.raises(BoltPortInUse, match=str(port)):
                LocalNeo4j(settings_for(tmp_path, local_bolt_port=port)).start()
