"""20. The fork named itself like its source and a uniqueness rule on titles refused it. Here titles are free."""

from __future__ import annotations

import pytest

from tests.support.client import Client


@pytest.mark.parametrize("title", ["the same", "", " ", None, "x" * 500])
def test_a_fork_and_its_fork_may_all_be_called_like_the_source(service: Client, title: str | None) -> None:
    source = service.thread(title=title)
    service.whole_run(source["id"], "one")

    fork = service.fork(source["id"], title=title)["thread"]
    again = service.fork(source["id"], title=title)["thread"]
    below = service.fork(fork["id"], title=title)["thread"]

    assert len({thread["id"] for thread in (source, fork, again, below)}) == 4
    assert [service.get_thread(thread["id"])["title"] for thread in (source, fork, again, below)] == [title] * 4


def test_a_fork_without_a_title_has_none_of_its_own(service: Client) -> None:
    source = service.thread(title="a name")
    service.whole_run(source["id"], "one")

    assert service.fork(source["id"])["thread"]["title"] is None
