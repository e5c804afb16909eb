"""What the behaviour tests share: threads that take a while to make."""

from __future__ import annotations

import pytest

from tests.support.client import Client

LONG = 200


@pytest.fixture(scope="session")
def long_thread(service: Client) -> str:
    """A thread of `LONG` completed runs on Codex, each of two items. Tests may fork and read it, not change it."""
    thread = service.thread(title="long")["id"]
    for number in range(1, LONG + 1):
        service.whole_run(thread, f"ask {number}", f"answer {number}")
    return thread
