"""The jars of Neo4j: fetched once, checked by hash at every start, never taken half or changed."""

from __future__ import annotations

import hashlib
import http.server
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from importlib import resources
from pathlib import Path

import pytest

from plait.localdb import DownloadProgress, JarsUnavailable, jars
from plait.localdb.jars import Jar

FILES = {"one": b"first jar", "two": b"second jar", "three": b"third jar"}
LOCKED = tuple(Jar("org.example", name, "1.0", "", hashlib.sha256(body).hexdigest()) for name, body in FILES.items())


class Remote:
    """A Maven repository on loopback that counts what it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        remote = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                remote.asked.append(self.path)
                super().do_GET()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def put(self, jar: Jar, body: bytes) -> None:
        file = self.folder / jar.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        file.with_name(file.name + ".sha1").write_text(hashlib.sha1(body).hexdigest())

    def remove(self, jar: Jar) -> None:
        (self.folder / jar.path).unlink()


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    """The one repository that jgo is set to, holding the locked jars."""
    remote = Remote(tmp_path / "remote")
    for jar, body in zip(LOCKED, FILES.values(), strict=True):
        remote.put(jar, body)
    settings = tmp_path / "jgo.conf"
    settings.write_text(f"[repositories]\ncentral = {remote.url}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(settings))
    monkeypatch.setattr(jars, "locked_jars", lambda: LOCKED)
    thread = threading.Thread(target=remote.server.serve_forever)
    thread.start()
    yield remote
    remote.server.shutdown()
    thread.join()
    remote.server.server_close()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


def left_over(folder: Path) -> list[str]:
    """What is in the folder beside the jars."""
    return sorted(p.name for p in folder.iterdir() if p.name not in ("org", ".plait.lock"))


def test_missing_jars_are_fetched_and_the_progress_ends_at_the_total(remote: Remote, here: Path) -> None:
    told: list[DownloadProgress] = []

    path = jars.class_path(told.append, here)

    assert path == [here / jar.path for jar in LOCKED]
    assert [file.read_bytes() for file in path] == list(FILES.values())
    assert told[-1] == DownloadProgress(done=3, total=3, received=sum(map(len, FILES.values())))
    assert [p.done for p in told] == sorted(p.done for p in told)
    assert left_over(here) == []


def test_a_later_start_asks_nobody(remote: Remote, here: Path) -> None:
    jars.class_path(repository=here)
    remote.asked.clear()

    jars.class_path(repository=here)

    assert remote.asked == []


def test_a_jar_that_changed_on_disk_is_fetched_again(remote: Remote, here: Path) -> None:
    changed = jars.class_path(repository=here)[1]
    changed.write_bytes(b"second j")

    jars.class_path(repository=here)

    assert changed.read_bytes() == FILES["two"]


def test_a_jar_with_other_content_than_the_lock_names_is_refused_and_not_kept(remote: Remote, here: Path) -> None:
    remote.put(LOCKED[1], b"something else")

    with pytest.raises(JarsUnavailable, match=r"org\.example:two:1\.0 came with other content"):
        jars.class_path(repository=here)

    assert not (here / LOCKED[1].path).exists()
    assert left_over(here) == []


def test_a_jar_that_is_not_to_be_had_is_named_and_what_came_is_kept(remote: Remote, here: Path) -> None:
    remote.remove(LOCKED[2])

    with pytest.raises(JarsUnavailable, match=r"org\.example:three:1\.0 could not be fetched"):
        jars.class_path(repository=here)

    assert (here / LOCKED[0].path).exists()
    assert left_over(here) == []


def test_a_folder_that_cannot_be_made_is_told(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(JarsUnavailable, match="Make that folder writable"):
        jars.class_path(repository=tmp_path / "file" / "below")


def test_the_lock_is_of_the_jars_that_jgo_toml_asks_for() -> None:
    package = resources.files("plait.localdb")
    asked = tomllib.loads(package.joinpath("jgo.toml").read_text())["dependencies"]["coordinates"]

    locked = jars.locked_jars()

    assert {f"{jar.group}:{jar.artifact}:{jar.version}" for jar in locked} >= set(asked)
    assert all(len(jar.sha256) == 64 for jar in locked)
    spec_hash = hashlib.sha256(package.joinpath("jgo.toml").read_bytes()).hexdigest()[:16]
    assert tomllib.loads(package.joinpath(jars.LOCK_NAME).read_text())["metadata"]["spec_hash"] == spec_hash
