"""The Codex example, run as a person runs it: the real program against the real service, with a model on loopback.

What the model was really sent is the proof of a fork, a resume and a handoff.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.model_server import ModelServer, SentMessage, echo_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "codex_client.py"
LIMIT_SECONDS = 120

CONFIG = """
model = "stand-in"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "{url}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def turn(text: str) -> list[SentMessage]:
    """A message and the stand-in's answer to it."""
    return [("user", text), ("assistant", echo_of(text))]


@dataclass
class Codex:
    """A Codex of its own: its home, and the model behind it."""

    home: Path
    model: ModelServer
    url: str

    def run(self, *arguments: str) -> str:
        """Run the example to its end; returns what it printed."""
        environment = os.environ | {"HOME": str(self.home), "CODEX_HOME": str(self.home / "codex")}
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), "--url", self.url, *arguments],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def say(self, thread: str, message: str, *arguments: str) -> list[SentMessage]:
        """One run in a thread; returns what the model was sent for it."""
        before = len(self.model.sent)
        self.run("--thread", thread, message, *arguments)
        assert len(self.model.sent) == before + 1, "one run is one call of the model here"
        return self.model.sent[-1]


@pytest.fixture
def codex(service: Client) -> Iterator[Codex]:
    # Codex refuses to use a home under the system's folder for temporary files.
    home = Path(tempfile.mkdtemp(prefix="plait-codex-", dir=Path.home()))
    try:
        with ModelServer() as model:
            (home / "codex").mkdir()
            (home / "codex" / "config.toml").write_text(CONFIG.format(url=model.url))
            yield Codex(home, model, service.url)
    finally:
        shutil.rmtree(home)


def last_run(service: Client, thread: str) -> dict[str, Any]:
    run = "id status reason usage { inputTokens outputTokens } plan { outcome handoffs { id text } }"
    return service.get_thread(thread, f"runs {{ nodes {{ {run} }} }}")["runs"]["nodes"][-1]


def test_the_fork_of_a_conversation_is_sent_the_first_turn_and_its_own_message_alone(
    service: Client, codex: Codex
) -> None:
    printed = codex.run()

    first, second, third = "Name a prime number larger than 10.", "And the next one?", "And the one before it?"
    assert codex.model.sent == [
        [("user", first)],
        [*turn(first), ("user", second)],
        [*turn(first), ("user", third)],
    ]
    outcomes = re.findall(r"^  run_\S+ (\w+):", printed, re.MULTILINE)
    assert outcomes == ["NONE", "NONE", "NATIVE"]
    transfer = service.transfer(re.findall(r"trf_\S+", printed)[-1].rstrip(":"))
    assert (transfer["status"], transfer["resolution"]["strategy"]) == ("CONSUMED", "NATIVE_FORK")
    assert transfer["handoff"] is None
    assert transfer["sourcePoint"]["providerThreadRef"] in printed
    assert printed.splitlines()[-1] == f"{transfer['id']}: NATIVE_FORK, CONSUMED"

    fork = transfer["targetThread"]["id"]
    run = last_run(service, fork)
    assert run["id"] == transfer["consumedByRun"]["id"]
    assert run["status"] == "COMPLETED"
    assert run["usage"] == {"inputTokens": 103, "outputTokens": 10}
    assert [(item["text"], item["inherited"]) for item in service.visible(fork)] == [
        (first, True),
        (echo_of(first), True),
        (third, False),
        (echo_of(third), False),
    ]


@pytest.mark.parametrize("inject", ["item", "before-message"])
def test_a_fork_of_another_provider_s_thread_is_told_the_handoff_once(
    service: Client, codex: Codex, inject: str
) -> None:
    source = service.thread()["id"]
    service.whole_run(source, "Which port?", "8080.", provider="claude")
    fork = service.fork(source)

    sent = codex.say(fork["thread"]["id"], "Why that one?", "--inject", inject)

    run = last_run(service, fork["thread"]["id"])
    assert run["plan"]["outcome"] == "PORTABLE"
    told = run["plan"]["handoffs"][0]["text"]
    assert "Which port?" in told
    assert "8080." in told
    if inject == "item":
        assert sent == [("user", told), ("user", "Why that one?")]
    else:
        assert sent == [("user", f"{told}\n\nWhy that one?")]
    transfer = service.transfer(fork["transfer"]["id"])
    assert (transfer["status"], transfer["resolution"]["strategy"]) == ("CONSUMED", "PORTABLE_CONTEXT")
    assert transfer["handoff"]["id"] == run["plan"]["handoffs"][0]["id"]

    # Another process, a resumed native thread: what was told before is there, and is told no second time.
    again = codex.say(fork["thread"]["id"], "Are you sure?", "--inject", inject)
    assert again == [*sent, ("assistant", echo_of(sent[-1][1])), ("user", "Are you sure?")]
    assert last_run(service, fork["thread"]["id"])["plan"]["outcome"] == "NONE"


def test_codex_is_told_what_another_provider_did_meanwhile_in_the_thread_it_resumes(
    service: Client, codex: Codex
) -> None:
    thread = service.thread()["id"]
    codex.say(thread, "Which port?")
    service.whole_run(thread, "Is it free?", "No.", provider="claude")

    sent = codex.say(thread, "Then the next one.")

    run = last_run(service, thread)
    assert run["plan"]["outcome"] == "DELTA"
    told = run["plan"]["handoffs"][0]["text"]
    assert "Is it free?" in told
    assert "Which port?" not in told
    assert sent == [*turn("Which port?"), ("user", told), ("user", "Then the next one.")]


def test_a_native_thread_that_is_gone_is_reported_and_the_run_is_planned_anew_from_history(
    service: Client, codex: Codex
) -> None:
    thread = service.thread()["id"]
    lost = "01a00000-0000-7000-8000-000000000000"
    service.whole_run(thread, "Which port?", "8080.", native=(lost, "01a00000-0000-7000-8000-000000000001"))

    sent = codex.say(thread, "Why that one?")

    run = last_run(service, thread)
    assert run["plan"]["outcome"] == "PORTABLE"
    assert sent == [("user", run["plan"]["handoffs"][0]["text"]), ("user", "Why that one?")]
    backing = {entry["nativeThreadId"]: entry["status"] for entry in service.provider_threads(thread)}
    assert backing[lost] == "LOST"


def test_a_model_that_refuses_makes_a_failed_run_that_stays_in_history(service: Client, codex: Codex) -> None:
    thread = service.thread()["id"]
    codex.model.refuses = 400

    codex.run("--thread", thread, "Which port?")

    run = last_run(service, thread)
    assert run["status"] == "FAILED"
    assert "not today" in run["reason"]
    assert service.texts(thread) == ["Which port?"]
