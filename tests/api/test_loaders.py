"""Loaders: one read for many ids, and nothing stale after a change."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from plait.api.loaders import RecordLoader
from plait.domain.errors import NotFound
from plait.domain.model import Creator, Thread, ThreadStatus

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def thread(id: str) -> Thread:
    return Thread(
        id=id,
        status=ThreadStatus.ACTIVE,
        created_by=Creator.USER,
        created_at=NOW,
        updated_at=NOW,
        generation=1,
        depth=0,
        root_thread_id=id,
    )


async def test_many_ids_are_one_read() -> None:
    reads: list[list[str]] = []

    async def read(ids: Sequence[str]) -> list[Thread | None]:
        reads.append(list(ids))
        return [thread(id) if id != "gone" else None for id in ids]

    loader = RecordLoader(read)
    loader.keep(thread("kept"))
    found = await gather(*(loader.must(id) for id in ("a", "b", "kept", "a")))
    assert [record.id for record in found] == ["a", "b", "kept", "a"]
    assert reads == [["a", "b"]]
    assert await loader.maybe(None) is None
    with pytest.raises(NotFound, match="gone"):
        await loader.maybe("gone")
