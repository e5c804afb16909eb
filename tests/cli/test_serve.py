"""`plait serve` as a person meets it: what it prints, what it refuses and how, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import neo4j
import pytest

from plait.localdb import Endpoint
from tests.support.processes import database_pid, is_gone, wait_gone
from tests.support.service import ServiceProcess

StartPlait = Callable[..., ServiceProcess]


def bolt_of(service: ServiceProcess) -> tuple[str, Path]:
    """The Bolt address and the password file, as the service printed them."""
    told = re.search(r"(bolt://\S+) \(user neo4j, password in (.+)\)", service.output)
    assert told is not None, service.output
    return told.group(1), Path(told.group(2))


def ask(service: ServiceProcess, statement: str) -> list[dict[str, object]]:
    uri, password_file = bolt_of(service)
    auth = ("neo4j", password_file.read_text().strip())
    with neo4j.GraphDatabase.driver(uri, auth=auth) as driver, driver.session() as session:
        return session.run(statement).data()  # pyright: ignore[reportArgumentType]


def refusal(service: ServiceProcess) -> tuple[int, list[str]]:
    """How a service that refuses to run ended: its exit code and the lines it left."""
    code = service.wait_ended()
    return code, service.output.splitlines()


def test_a_cold_start_tells_where_everything_is_and_the_data_outlives_a_clean_end(
    plait_process: StartPlait, tmp_path: Path
) -> None:
    first = plait_process(data_dir=tmp_path / "data")

    assert f"GraphQL   {first.url}/graphql" in first.output
    assert f"GraphiQL  {first.url}/graphql" in first.output
    _, password_file = bolt_of(first)
    assert password_file == tmp_path / "data" / "neo4j-password"
    assert password_file.read_text().strip() not in first.output
    assert httpx.get(f"{first.url}/health/live").status_code == 200
    ask(first, "CREATE (:Kept {n: 1})")
    database = database_pid(first.pid)

    assert first.terminate() == 0
    assert is_gone(database)
    assert "Traceback" not in first.output

    second = plait_process(data_dir=tmp_path / "data")
    assert ask(second, "MATCH (k:Kept) RETURN k.n AS n") == [{"n": 1}]


class TestWithADatabaseOfItsOwn:
    """One service for these: each start takes seconds."""

    @pytest.fixture
    def service(self, plait_process: StartPlait, tmp_path: Path) -> ServiceProcess:
        return plait_process(data_dir=tmp_path / "data")

    def test_a_second_service_on_its_folder_is_refused_and_a_kill_leaves_nothing_behind(
        self, service: ServiceProcess, plait_process: StartPlait, tmp_path: Path
    ) -> None:
        code, lines = refusal(plait_process(data_dir=tmp_path / "data", ready=False))

        assert code == 1
        assert [line for line in lines if not line.startswith("Starting Neo4j")] == [
            f"plait: The data folder {tmp_path / 'data'} is in use by another Plait (process {service.pid}). "
            "Stop that one first, or choose another folder with PLAIT_DATA_DIR or --data-dir."
        ]
        assert httpx.get(f"{service.url}/health/ready").status_code == 200

        database = database_pid(service.pid)
        service.kill()
        wait_gone(database)

    def test_a_database_that_dies_comes_back_under_the_running_service(self, service: ServiceProcess) -> None:
        killed = database_pid(service.pid)
        uri, _ = bolt_of(service)

        os.kill(killed, signal.SIGKILL)

        wait_gone(killed)
        service.wait_ready()
        assert bolt_of(service)[0] == uri
        assert ask(service, "RETURN 1 AS one") == [{"one": 1}]

    def test_ctrl_c_ends_both_cleanly(self, service: ServiceProcess) -> None:
        database = database_pid(service.pid)

        assert service.end(signal.SIGINT) == 0
        assert is_gone(database)
        assert service.output.splitlines()[-1] == "Stopping"
        assert "Traceback" not in service.output


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_while_the_database_starts_leaves_nothing_behind(plait_process: StartPlait, how: signal.Signals) -> None:
    service = plait_process(ready=False)
    database = wait_for_database(service)

    assert service.end(how) == 0
    wait_gone(database)
    assert "Traceback" not in service.output


def test_a_port_in_use_is_told_in_one_line_before_any_database_is_started(
    plait_process: StartPlait, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        code, lines = refusal(plait_process(port=port, data_dir=tmp_path / "data", ready=False))

    assert code == 1
    assert lines == [
        f"plait: Port {port} on 127.0.0.1 is already in use. Stop what uses it, or choose another port: "
        "PLAIT_PORT, or --port."
    ]
    assert not (tmp_path / "data").exists()


def test_with_a_neo4j_given_none_is_started(
    plait_process: StartPlait, neo4j_endpoint: Endpoint, tmp_path: Path
) -> None:
    service = plait_process(neo4j_endpoint, data_dir=tmp_path / "data")

    assert f"Bolt      {neo4j_endpoint.uri} (user neo4j, password of PLAIT_NEO4J_PASSWORD)" in service.output
    assert neo4j_endpoint.auth[1] not in service.output
    assert not (tmp_path / "data").exists()
    assert service.terminate() == 0


class TestBadSettings:
    @pytest.mark.parametrize(
        ("variables", "line"),
        [
            (
                {"PLAIT_LEASE_SECONDS": "soon"},
                "PLAIT_LEASE_SECONDS: input should be a valid number, unable to parse string as a number",
            ),
            (
                {"PLAIT_NEO4J_URI": "http://localhost"},
                "PLAIT_NEO4J_URI: a Neo4j address starts with one of "
                "neo4j://, neo4j+s://, neo4j+ssc://, bolt://, bolt+s://, bolt+ssc://",
            ),
            (
                {"PLAIT_NEO4J_URI": "bolt://localhost"},
                "PLAIT_NEO4J_URI is set, so PLAIT_NEO4J_PASSWORD must be set as well",
            ),
            (
                {"PLAIT_PROVIDERS": "{codex: 1}"},
                "PLAIT_PROVIDERS: not valid JSON: "
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            ),
            (
                {"PLAIT_PROVIDERS": '{"mine": {"fork": "maybe", "handoffTokens": "many", "speed": 1}}'},
                "PLAIT_PROVIDERS: the entry mine is wrong: fork: input should be 'none', 'latest' or 'at_turn'; "
                "handoffTokens: input should be a valid integer, unable to parse string as an integer; "
                "speed: extra inputs are not permitted.",
            ),
        ],
    )
    def test_a_value_that_does_not_fit_is_told_in_one_line(
        self, plait_process: StartPlait, variables: dict[str, str], line: str
    ) -> None:
        code, lines = refusal(plait_process(env=variables, ready=False))

        assert code == 2
        assert lines == [f"plait: {line}"]

    def test_a_misspelt_setting_is_told_and_no_value_is_repeated(self, plait_process: StartPlait) -> None:
        variables = {"PLAIT_NEO4J_PASWORD": "hunter2", "PLAIT_PROVIDERS": '{"codex": "hunter2"}'}

        code, lines = refusal(plait_process(env=variables, ready=False))

        assert code == 2
        assert lines[0] == "plait: PLAIT_NEO4J_PASWORD is no setting of Plait and is ignored."
        assert lines[1].startswith("plait: PLAIT_PROVIDERS__CODEX: ")
        assert "hunter2" not in "".join(lines)


def test_a_driver_that_is_none_of_ours_is_told_as_it_may_be_misspelt(
    plait_process: StartPlait, neo4j_endpoint: Endpoint
) -> None:
    providers = {"PLAIT_PROVIDERS": '{"mine": {"driver": "codxe"}, "work": {"driver": "codex"}}'}

    service = plait_process(neo4j_endpoint, env=providers)

    told = [line for line in service.output.splitlines() if line.startswith("plait: Provider")]
    assert told == ["plait: Provider mine has the driver codxe, which is none of Plait's own."]


def wait_for_database(service: ServiceProcess) -> int:
    """Wait until the service has started its database process; returns that process's id."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return database_pid(service.pid)
        except AssertionError:
            assert time.monotonic() < deadline, service.output
            time.sleep(0.05)
