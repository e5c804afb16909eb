"""What the behaviour tests share: threads that take a while to make."""

from __future__ import annotations

import pytest

from tests.support.client import Client

LONG = 200


@pytest.fixture(scope="session")
def long_thread(service: Client) -> str:
    """A thread of `LONG` completed runs on Codex, each of its message alone. Tests fork and read it."""
    thread = service.thread(title="long")["id"]
    for number in range(1, LONG + 1):
        service.complete(service.running(thread, f"ask {number}")["run"]["id"])
    return thread
