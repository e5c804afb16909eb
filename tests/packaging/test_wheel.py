"""The wheel works by itself: built from the checkout, installed outside of it, it serves with a Neo4j of its own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.service import ServiceProcess, clean_environment

CHECKOUT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"),
        *("--wheel-dir", folder, CHECKOUT),
        cwd=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of an environment with the wheel in it; the dependencies are lent by this environment."""
    root = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", root, cwd=root)
    python = root / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=root)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=root).strip())
    # Paths that a .pth file adds come last, and .pth files found there don't count: the checkout stays out of it.
    (own / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return root / "bin"


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Iterator[ServiceProcess]:
    command = [str(installed / "plait"), "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    service = ServiceProcess(command, tmp_path / "somewhere")
    yield service
    service.terminate()


def test_it_carries_the_statements_and_the_lock_of_the_jars(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    statements = {f"plait/{p.relative_to(CHECKOUT).as_posix()}" for p in (CHECKOUT / "cypher").rglob("*.cypher")}
    assert statements
    assert statements <= names
    assert {"plait/localdb/jgo.toml", "plait/localdb/jgo.lock.toml", "plait/py.typed"} <= names
    assert not [name for name in names if not name.startswith(("plait/", "plait-"))]


def test_it_serves_from_outside_the_checkout(installed: Path, served: ServiceProcess, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import plait; print(plait.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)

    url = served.wait_ready()

    assert httpx.get(f"{url}/health/live").status_code == 200
    assert served.terminate() == 0
