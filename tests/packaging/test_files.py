"""The files around the code: what they name exists, what they fix is fixed, none of them knows a registry's address."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from plait.settings import Settings

CHECKOUT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-build.lock")


def text(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load(text("docker-compose.yml"))


@pytest.fixture(scope="module")
def neo4j_version() -> str:
    asked = tomllib.loads(resources.files("plait.localdb").joinpath("jgo.toml").read_text())
    versions = {coordinate.rpartition(":")[2] for coordinate in asked["dependencies"]["coordinates"]}
    assert len(versions) == 1
    return versions.pop()


class TestCompose:
    def test_the_service_waits_for_a_healthy_neo4j_that_keeps_its_data(self, compose: dict[str, Any]) -> None:
        database, service = compose["services"]["neo4j"], compose["services"]["plait"]

        assert database["healthcheck"]["test"]
        assert service["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
        volumes = [volume.partition(":") for volume in database["volumes"]]
        assert [(name in compose["volumes"], path) for name, _, path in volumes] == [(True, "/data")]

    def test_neo4j_is_of_the_version_that_runs_locally(self, compose: dict[str, Any], neo4j_version: str) -> None:
        assert compose["services"]["neo4j"]["image"] == f"neo4j:{neo4j_version}"

    def test_the_password_is_asked_for_and_never_given(self, compose: dict[str, Any]) -> None:
        database, service = compose["services"]["neo4j"], compose["services"]["plait"]

        assert database["environment"]["NEO4J_AUTH"].startswith("neo4j/${PLAIT_NEO4J_PASSWORD:?")
        assert service["environment"]["PLAIT_NEO4J_PASSWORD"].startswith("${PLAIT_NEO4J_PASSWORD:?")

    def test_every_plait_variable_is_a_setting(self, compose: dict[str, Any]) -> None:
        given = set(compose["services"]["plait"]["environment"]) | set(
            re.findall(r"PLAIT_\w+(?==)", text("Dockerfile"))
        )

        assert given <= {f"PLAIT_{name.upper()}" for name in Settings.model_fields}

    def test_ports_are_open_to_this_machine_only(self, compose: dict[str, Any]) -> None:
        for service in compose["services"].values():
            assert all(port.startswith("127.0.0.1:") for port in service["ports"])


class TestDockerfile:
    def test_what_it_copies_exists_and_reaches_the_builder(self) -> None:
        copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text("Dockerfile"), re.MULTILINE)
        names = {name for line in copied for name in line.split()}
        let_through = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}

        assert names
        assert names == let_through
        assert all((CHECKOUT / name).exists() for name in names)

    def test_it_does_not_run_as_root_and_tells_its_health(self) -> None:
        last_stage = text("Dockerfile").rpartition("\nFROM ")[2]

        assert re.search(r"^USER (?!root|0)\w+$", last_stage, re.MULTILINE)
        assert "/health/ready" in last_stage
        assert last_stage.rstrip().endswith('CMD ["plait", "serve"]')


class TestLocks:
    @pytest.mark.parametrize("name", LOCKS)
    def test_every_package_is_fixed_by_hash(self, name: str) -> None:
        blocks = re.split(r"\n(?=[a-z0-9])", text(name).partition("make lock\n")[2])

        assert blocks
        for block in blocks:
            assert re.match(r"[a-z0-9-]+==\S+", block), block
            assert "--hash=sha256:" in block, block

    def test_they_hold_what_the_project_asks_for(self) -> None:
        project = tomllib.loads(text("pyproject.toml"))["project"]
        wanted = {
            "requirements.lock": project["dependencies"],
            "requirements-dev.lock": project["dependencies"] + project["optional-dependencies"]["dev"],
        }

        for name, requirements in wanted.items():
            fixed = dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text(name), re.MULTILINE))
            for requirement in map(Requirement, requirements):
                package = canonicalize_name(requirement.name)
                assert package in fixed, f"{package} is not in {name}: make lock"
                assert requirement.specifier.contains(fixed[package], prereleases=True), (
                    f"{package} in {name}: make lock"
                )

    def test_both_fix_the_same_versions(self) -> None:
        run, dev = (set(re.findall(r"^([a-z0-9-]+==[^\s;]+)", text(name), re.MULTILINE)) for name in LOCKS[:2])

        assert run <= dev


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.splitlines()


def test_how_packages_are_found_is_left_to_the_environment() -> None:
    files = [*LOCKS, "Makefile", ".ci/run", "Dockerfile", "docker-compose.yml", "pyproject.toml"]

    for name in files:
        assert not re.search(
            r"--(extra-)?index-url|--find-links|--trusted-host|https?://(?!127\.0\.0\.1)", text(name)
        ), name


def test_the_ci_script_and_the_makefile_name_only_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    asked = set(re.findall(r"^make (\w+)", text(".ci/run"), re.MULTILINE))
    told = set(re.findall(r"^\.PHONY: (.+)$", text("Makefile"), re.MULTILINE)[0].split())

    assert asked <= targets
    assert targets == told
    assert (CHECKOUT / ".ci/run").stat().st_mode & 0o100


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    home = re.compile(r"/(?:root|home)/(?!plait\b)\w")

    for name in tracked_files():
        file = CHECKOUT / name
        if file.is_file() and file.suffix in {".py", ".md", ".toml", ".yml", ".lock", ".cypher", ""}:
            assert not home.search(file.read_text(encoding="utf-8", errors="replace")), name
