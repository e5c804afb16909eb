"""What does the merge base cost over HTTP, deep down and over many merges, against the bare statements?"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from neo4j import AsyncDriver, AsyncManagedTransaction

from bench.engine import DATABASE
from bench.growth import Names, Plan, Recorder, check_growth, grow
from bench.http import MERGE_BASE, Connection
from bench.lab import Lab
from bench.load import http_clients
from bench.measure import Row, paired
from bench.report import progress
from plait.domain.history import WHOLE_RUN
from plait.graph.statements import service_statement

AT_MOST = 3.0
_GENERATIONS_A_MERGE = 4
_WARM = 5

_Point = dict[str, str] | None


async def ask(lab: Lab) -> list[Row]:
    """Rows for two deep branches, for merged diamonds in a row, and for threads that share nothing."""
    for plan in (_BRANCHES, _DIAMONDS):
        await check_growth(lab.engine, plan)
    rounds = lab.scale.merge_rounds
    deep, diamonds = _GENERATIONS_A_MERGE * rounds, 2 * rounds
    root, run, left, right = await _made(lab, _BRANCHES, rounds, f"Making two branches of {deep:,} generations")
    main, fork, last = await _made(lab, _DIAMONDS, diamonds, f"Making {diamonds:,} diamonds")
    return [
        await _row(
            lab,
            f"The merge base over HTTP: two leaves {deep:,} generations deep, {diamonds:,} merges on the way",
            [left, right],
            {"threadId": root, "runId": run},
        ),
        await _row(
            lab,
            f"The same: {diamonds:,} merged diamonds in a row",
            [main, fork],
            {"threadId": fork, "runId": last},
        ),
        await _row(lab, "The same: two threads that share nothing, one of each", [left, main], None),
    ]


async def _made(lab: Lab, plan: Plan, rounds: int, what: str) -> Names:
    # The beginning has one round in it.
    _, last = await grow(lab.engine, plan, rounds - 1, what)
    return last


async def _row(lab: Lab, what: str, threads: Sequence[str], wanted: _Point) -> Row:
    (connection,) = http_clients(lab.engine, 1)
    samples = lab.scale.merge_samples

    async def bare() -> None:
        await _bare(lab.engine.driver, threads, wanted)

    async def http() -> None:
        assert await _asked(connection, threads) == wanted

    with progress(what, samples) as step:
        await paired(bare, http, _WARM)
        pair = await paired(bare, http, samples, lambda: step(1))
    connection.close()
    return pair.row(what, "bare", "HTTP", AT_MOST)


async def _asked(connection: Connection, threads: Sequence[str]) -> _Point:
    return orjson.loads(await connection.post(MERGE_BASE.body(threadIds=threads)))["data"]["mergeBase"]


async def _bare(driver: AsyncDriver, threads: Sequence[str], point: _Point) -> None:
    """What has to be read, by the bare driver: the chain of each thread, then the run that it all comes down to.

    One managed transaction, each record taken whole. Nothing is worked out: where to find the run is told.
    """

    async def work(tx: AsyncManagedTransaction) -> None:
        for thread in threads:
            record = await (await tx.run(service_statement("chain").text, threadId=thread)).single(strict=True)
            assert record["chain"]
        if point is not None:
            given = {"threadId": point["threadId"], "position": 1, "item": WHOLE_RUN}
            record = await (await tx.run(service_statement("run_at").text, given)).single(strict=True)
            assert record["run"]["id"] == point["runId"]

    async with driver.session(database=DATABASE) as session:
        await session.execute_read(work)


def _begin_branches(client: Recorder) -> Names:
    root = client.thread()["id"]
    run = client.whole_run(root, "Go on", "An answer")["run"]["id"]
    # One round of each: the first threads are forks of the root, which is unlike all later ones.
    return _grow_branches(client, (root, run, root, root))


def _grow_branches(client: Recorder, names: Names) -> Names:
    root, run, *leaves = names
    return (root, run, *(_generations(client, leaf) for leaf in leaves))


def _generations(client: Recorder, thread: str) -> str:
    """Forks of forks, each with a run; the last one takes in what a fork of its own has done."""
    for _ in range(_GENERATIONS_A_MERGE):
        thread = client.fork(thread)["thread"]["id"]
        client.whole_run(thread, "Go on", "An answer")
    _take_in(client, thread)
    return thread


def _begin_diamonds(client: Recorder) -> Names:
    main = client.thread()["id"]
    client.whole_run(main, "Go on", "An answer")
    return (main, *_take_in(client, main))


def _grow_diamonds(client: Recorder, names: Names) -> Names:
    return (names[0], *_take_in(client, names[0]))


def _take_in(client: Recorder, thread: str) -> tuple[str, str]:
    """A fork of the thread, with a run that is brought back to it: a diamond."""
    fork = client.fork(thread)["thread"]["id"]
    run = client.whole_run(fork, "Look at it", "An answer")["run"]["id"]
    client.merge_back(fork, thread)
    client.whole_run(thread, "Go on", "An answer")
    return fork, run


# Names: the root, its first run, and the two leaves.
_BRANCHES = Plan(_begin_branches, _grow_branches)
# Names: the thread that takes in, the last fork, and the run of that.
_DIAMONDS = Plan(_begin_diamonds, _grow_diamonds)
