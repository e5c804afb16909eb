"""Pages: joined, they are the whole list, each entry once and in its order, whichever way one goes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.behaviour.conftest import LONG
from tests.support.client import PAGE, Client, key


def pages(service: Client, document: str, path: str, **variables: Any) -> list[dict[str, Any]]:
    """All pages of a connection, in the order they were asked for: forward by `after`, or back by `before`."""
    backward = "last" in variables
    cursor, found, more = None, list[dict[str, Any]](), True
    while more:
        variables["before" if backward else "after"] = cursor
        page = service.execute(document, **variables)
        for name in path.split("."):
            page = page[name]
        found.append(page)
        cursor = page["pageInfo"]["startCursor" if backward else "endCursor"]
        more = page["pageInfo"]["hasPreviousPage" if backward else "hasNextPage"]
    return found


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [node["id"] for page in found for node in page["nodes"]]


def check_ends(found: list[dict[str, Any]], size: int) -> None:
    """Every page but the last is full, each tells the same total, and only the ends have no neighbour."""
    assert [len(page["nodes"]) for page in found[:-1]] == [size] * (len(found) - 1)
    assert {page["totalCount"] for page in found} == {sum(len(page["nodes"]) for page in found)}


RUNS = f"""query ($id: ID!, $first: Int, $after: String) {{
  thread(id: $id) {{ runs(first: $first, after: $after) {{ nodes {{ id position }} {PAGE} }} }}
}}"""
ITEMS = f"""query ($id: ID!, $first: Int, $after: String) {{
  run(id: $id) {{ items(first: $first, after: $after) {{ nodes {{ id position }} {PAGE} }} }}
}}"""
VISIBLE = f"""query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {{
  thread(id: $id) {{
    visibleItems(first: $first, after: $after, last: $last, before: $before) {{ nodes {{ id text inherited }} {PAGE} }}
  }}
}}"""
THREADS = f"""query ($filter: ThreadFilterInput, $search: String, $first: Int, $after: String) {{
  threads(filter: $filter, search: $search, first: $first, after: $after) {{ nodes {{ id title }} {PAGE} }}
}}"""


@pytest.mark.parametrize("size", [7, 50, 100])
def test_runs(service: Client, long_thread: str, size: int) -> None:
    found = pages(service, RUNS, "thread.runs", id=long_thread, first=size)

    positions = [node["position"] for page in found for node in page["nodes"]]
    assert positions == list(range(1, LONG + 1))
    check_ends(found, size)
    assert [page["pageInfo"]["hasPreviousPage"] for page in found] == [False] + [True] * (len(found) - 1)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_items_of_a_run(service: Client, size: int) -> None:
    items = tuple({"kind": "OTHER", "text": f"{number}"} for number in range(6))
    run = service.whole_run(service.thread()["id"], "ask", items=items)["run"]["id"]

    found = pages(service, ITEMS, "run.items", id=run, first=size)

    assert ids(found) == [item["id"] for item in service.items(run)]
    check_ends(found, size)


@pytest.fixture(scope="module")
def winding(service: Client) -> dict[str, Any]:
    """A history through four threads, cut inside runs, with runs that never started and runs that failed between."""
    thread, whole = service.thread()["id"], list[str]()
    for generation in range(4):
        for number in range(3):
            name = f"{generation}.{number}"
            items = tuple({"kind": "OTHER", "text": f"{name} part {part}"} for part in range(number))
            service.whole_run(thread, f"{name} ask", f"{name} end", items=items)
            whole += [f"{name} ask", *(item["text"] for item in items), f"{name} end"]
            service.end("failRun", service.start(thread, "never started")["run"]["id"])
        failed = service.running(thread, f"{generation} failed")["run"]["id"]
        service.end("failRun", failed)
        whole.append(f"{generation} failed")
        if generation < 3:
            cut = service.visible(thread)[-3]
            thread = service.fork(thread, point={"turnItemId": cut["id"]})["thread"]["id"]
            whole = whole[:-2]
    return {"id": thread, "texts": whole, "own": 12 - 3 + 1}


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_visible_items_forward(service: Client, winding: dict[str, Any], size: int) -> None:
    found = pages(service, VISIBLE, "thread.visibleItems", id=winding["id"], first=size)

    assert [node["text"] for page in found for node in page["nodes"]] == winding["texts"]
    check_ends(found, size)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_visible_items_backward(service: Client, winding: dict[str, Any], size: int) -> None:
    found = pages(service, VISIBLE, "thread.visibleItems", id=winding["id"], last=size)

    assert [node["text"] for page in reversed(found) for node in page["nodes"]] == winding["texts"]
    check_ends(found, size)


def test_visible_items_of_a_long_thread_both_ways(service: Client, long_thread: str) -> None:
    expected = [f"ask {number}" for number in range(1, LONG + 1)]
    there = pages(service, VISIBLE, "thread.visibleItems", id=long_thread, first=63)
    back = pages(service, VISIBLE, "thread.visibleItems", id=long_thread, last=63)

    assert [node["text"] for page in there for node in page["nodes"]] == expected
    assert [node["text"] for page in reversed(back) for node in page["nodes"]] == expected


def test_one_may_turn_round_at_any_cursor(service: Client, winding: dict[str, Any]) -> None:
    """What comes before an entry and what comes after it are all the others."""
    for size in (1, 4):
        ahead = service.execute(VISIBLE, id=winding["id"], first=size)["thread"]["visibleItems"]
        after = service.execute(VISIBLE, id=winding["id"], first=100, after=ahead["pageInfo"]["endCursor"])
        rest = after["thread"]["visibleItems"]
        before = service.execute(VISIBLE, id=winding["id"], last=100, before=rest["pageInfo"]["startCursor"])
        assert ids([before["thread"]["visibleItems"]]) == ids([ahead])
        assert ids([ahead]) + ids([rest]) == [item["id"] for item in service.visible(winding["id"])]


def test_items_that_come_while_one_pages_come_at_the_end(service: Client) -> None:
    thread = service.thread()["id"]
    service.whole_run(thread, "one", "two")
    first = service.execute(VISIBLE, id=thread, first=1)["thread"]["visibleItems"]

    service.whole_run(thread, "three", "four")

    rest = service.execute(VISIBLE, id=thread, first=100, after=first["pageInfo"]["endCursor"])
    assert [node["text"] for node in rest["thread"]["visibleItems"]["nodes"]] == ["two", "three", "four"]


@pytest.fixture(scope="module")
def forest(service: Client) -> dict[str, Any]:
    """A root with a comb of forks: 5 forks of the root, 3 of each of these."""
    mark = key()
    root = service.thread(title=f"{mark} root")["id"]
    service.whole_run(root, "one")
    edges: list[tuple[str, str]] = []
    for number in range(5):
        fork = service.fork(root, title=f"{mark} fork {number}")["thread"]["id"]
        edges.append((root, fork))
        for below in range(3):
            edges.append((fork, service.fork(fork, title=f"{mark} {number} {below}")["thread"]["id"]))
    return {"mark": mark, "root": root, "edges": edges, "all": [root, *(target for _, target in edges)]}


@pytest.mark.parametrize("size", [1, 4, 100])
def test_threads_of_a_tree_newest_first(service: Client, forest: dict[str, Any], size: int) -> None:
    found = pages(service, THREADS, "threads", filter={"rootThreadId": forest["root"]}, first=size)

    assert ids(found) == list(reversed(forest["all"]))
    check_ends(found, size)


@pytest.mark.parametrize("size", [1, 4, 100])
def test_threads_by_search(service: Client, forest: dict[str, Any], size: int) -> None:
    found = pages(service, THREADS, "threads", search=forest["mark"], first=size)

    assert ids(found) == list(reversed(forest["all"]))
    check_ends(found, size)


def test_threads_by_filter_and_search_together(service: Client, forest: dict[str, Any]) -> None:
    fork = forest["edges"][0][1]
    found = pages(
        service, THREADS, "threads", search=forest["mark"], filter={"parentThreadId": fork, "status": "ACTIVE"}, first=2
    )

    assert ids(found) == [target for source, target in reversed(forest["edges"]) if source == fork]


def test_threads_without_a_filter_have_the_newest_first(service: Client) -> None:
    """Threads of all trees share one list, by the time they were made: one with a fast clock may stand before these."""
    made = [service.thread(title="newest")["id"] for _ in range(5)]

    listed = ids([service.execute(THREADS, first=100)["threads"]])

    assert [thread for thread in listed if thread in made] == list(reversed(made))


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("direction", ["DESCENDANTS", "BOTH"])
def test_lineage_has_each_thread_and_each_edge_once_over_all_pages(
    service: Client, forest: dict[str, Any], direction: str, size: int
) -> None:
    nodes, edges, after, more = list[Any](), list[Any](), None, True
    while more:
        page = service.lineage(forest["root"], direction, first=size, after=after)
        nodes += page["nodes"]
        edges += page["edges"]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        assert page["totalCount"] == len(forest["all"])
        assert page["truncated"] is more

    assert sorted(node["thread"]["id"] for node in nodes) == sorted(forest["all"])
    assert [node["depth"] for node in nodes] == sorted(node["depth"] for node in nodes)
    assert sorted((edge["sourceThreadId"], edge["targetThreadId"]) for edge in edges) == sorted(forest["edges"])
    seen: set[str] = set()
    for node in nodes:
        seen.add(node["thread"]["id"])
        assert node["thread"]["parentThreadId"] in seen | {None}


def test_lineage_upwards_is_the_path_to_the_root(service: Client, forest: dict[str, Any]) -> None:
    fork, leaf = forest["edges"][1]

    above = service.lineage(leaf, "ANCESTORS")

    assert {node["thread"]["id"]: node["depth"] for node in above["nodes"]} == {leaf: 0, fork: 1, forest["root"]: 2}
    assert above["truncated"] is False


@pytest.mark.parametrize(("depth", "threads"), [(0, 1), (1, 6), (2, 21)])
def test_lineage_to_a_depth_is_that_many_edges_and_tells_of_more(
    service: Client, forest: dict[str, Any], depth: int, threads: int
) -> None:
    found = service.lineage(forest["root"], "DESCENDANTS", maxDepth=depth)

    assert (found["totalCount"], max(node["depth"] for node in found["nodes"])) == (threads, depth)
    assert found["truncated"] is (depth < 2)
