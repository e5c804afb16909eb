"""A subagent that has done its task, for tests that are about something else."""

from __future__ import annotations

from tests.support.client import Client


def subagent(service: Client, parent: str) -> str:
    """A new subagent of a thread, its task done and its result with the run that spawned it, which is completed."""
    spawner = service.running(parent, "Delegate it")["run"]["id"]
    child = service.spawned(spawner)
    service.complete_subagent(child["run"]["id"], "Found it")
    service.complete(spawner)
    return child["thread"]["id"]
