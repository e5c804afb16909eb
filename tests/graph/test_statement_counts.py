"""Which statements each command and each hot query runs: a fixed list, however large the tree is.

A list that grows with the data is what makes a service slow on the day it matters; one that grows by accident is seen
here first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import neo4j
import pytest

from plait.graph.statements import cypher_folder
from tests.crash.attempts import Undisturbed
from tests.crash.bench import Bench
from tests.support.client import key
from tests.support.commands import CASES, Case

FILES = sorted(cypher_folder().glob("[as]*/*.cypher"))
NAMES = {file.read_text(encoding="utf-8"): file.stem for file in FILES}

BUILD = "history_runs items_of_runs latest_summary store_handoffs"
BETWEEN = {
    "createThread": "create_thread",
    "startRun in a new thread": "lock_thread start_state start_run",
    "startRun that resumes": "lock_thread start_state forkable_turn start_run",
    "startRun with a native fork": "lock_thread start_state forkable_turn set_transfers start_run",
    "startRun with a portable handoff": f"lock_thread start_state forkable_turn {BUILD} set_transfers start_run",
    "startRun on another provider": (
        f"lock_thread start_state forkable_turn make_transfer {BUILD} set_transfers start_run"
    ),
    "startRun back on the first provider": (
        f"lock_thread start_state forkable_turn make_transfer {BUILD} set_transfers start_run"
    ),
    "startRun that is not supported": "lock_thread start_state forkable_turn set_transfers",
    "startRun after one that was not supported": (
        "lock_thread start_state forkable_turn make_transfer supersede_transfers set_transfers start_run"
    ),
    "reportRunStarted of a native fork": "lock_run accept_run transfers_by_id consume_transfers",
    "reportRunStarted of a portable handoff": "lock_run accept_run transfers_by_id consume_transfers handoffs_by_id",
    "reportRunStarted on another provider": "lock_run accept_run transfers_by_id consume_transfers handoffs_by_id",
    "reportRunStarted of a native fork that failed": (
        f"lock_run start_state forkable_turn {BUILD} set_transfers set_run"
    ),
    "reportRunStarted of a native fork that took no turn": "lock_run keep_fork transfers_by_id set_transfers end_run",
    "reportRunStarted of a lost provider thread": (
        f"lock_run lose_provider_thread start_state forkable_turn make_transfer {BUILD} set_transfers set_run"
    ),
    "reportRunStarted with no other way left": "lock_run end_run",
    "appendTurnItems": "lock_run items_by_id append_items",
    "heartbeatRun": "lock_run set_run",
    "completeRun": "lock_run end_run",
    "failRun": "lock_run end_run",
    "interruptRun": "lock_run end_run",
    "completeRun of a run that has ended": "lock_run",
    "rollbackThread": "lock_rollback point_run roll_back make_transfer",
    "rollbackThread of a fork to its origin": "lock_rollback point_run roll_back make_transfer",
    "startRun after a rollback": f"lock_thread start_state forkable_turn {BUILD} set_transfers start_run",
    "reportRunStarted after a rollback": "lock_run accept_run transfers_by_id consume_transfers handoffs_by_id",
    "reportRunStarted of a run that was given up": "lock_run diverge_provider_thread",
    "createCheckpoint": "lock_thread point_run create_checkpoint",
    "mergeBack": "lock_merge chain chain run_at make_transfer",
    "mergeBack in place of one that waits": "lock_merge chain chain run_at make_transfer supersede_transfers",
    "startRun with a merge": (
        "lock_thread start_state chain forkable_turn history_runs items_of_runs latest_summary "
        "store_handoffs set_transfers start_run"
    ),
    "startRun of a merge on another provider": (
        "lock_thread start_state chain forkable_turn make_transfer history_runs items_of_runs latest_summary "
        "history_runs items_of_runs latest_summary store_handoffs set_transfers "
        "start_run"
    ),
    "reportRunStarted with a merge": (
        "lock_run lock_provider_thread accept_run transfers_by_id consume_transfers handoffs_by_id"
    ),
    "reportRunStarted with a merge of what was rolled back": (
        "lock_run accept_run transfers_by_id consume_transfers handoffs_by_id"
    ),
    "rollbackThread past a merge": "lock_rollback point_run roll_back chain chain run_at make_transfer",
    "rollbackThread of what waits to be merged": (
        "lock_rollback point_run roll_back make_transfer supersede_transfers"
    ),
    "spawnSubagent": ("lock_run create_subagent make_transfer start_state store_handoffs set_transfers start_run"),
    "spawnSubagent that inherits": (
        f"lock_run runs_by_id create_subagent make_transfer start_state forkable_turn {BUILD} set_transfers start_run"
    ),
    "reportRunStarted of a subagent": "lock_run accept_run transfers_by_id consume_transfers handoffs_by_id",
    "completeSubagent for a run that works": (
        "lock_run end_run lock_run make_transfer store_handoffs consume_transfers append_items"
    ),
    "completeSubagent for the next message": ("lock_run end_run lock_run last_answer make_transfer"),
    "completeSubagent of one that has ended": (
        "lock_run lock_run result_of_run store_handoffs consume_transfers append_items"
    ),
    "completeRun of a subagent": "lock_run end_run lock_run last_answer make_transfer",
    "startRun with a result": "lock_thread start_state forkable_turn store_handoffs set_transfers start_run",
    "reportRunStarted with a result": (
        "lock_run lock_provider_thread accept_run transfers_by_id consume_transfers append_items handoffs_by_id"
    ),
    "cancelSubagent": (
        "lock_run lock_subagents lock_subagents end_run lock_run make_transfer lock_run end_run lock_run make_transfer"
    ),
    "recordNativeSubagent": "lock_run execution_node store_execution_node",
    "recordNativeSubagent that is promoted": (
        "lock_run execution_node create_subagent make_transfer start_run accept_run append_items consume_transfers "
        "end_run store_execution_node"
    ),
    "handoffThread": "lock_thread start_state forkable_turn make_transfer",
    "prepareTransfer": (
        "transfer lock_thread transfer start_state forkable_turn history_runs items_of_runs latest_summary "
        "store_handoffs set_transfers"
    ),
    "reviseHandoff": "handoffs_by_id transfer lock_thread transfer handoffs_by_id revise_handoff",
    "cancelTransfer": "transfer lock_thread transfer supersede_transfers",
    "archiveThread": "lock_thread lock_subagents archive_threads",
    "archiveThread of an archived thread": "lock_thread lock_subagents archive_threads",
}
"""What each case runs between the claim of its receipt and the record that ends a command."""

COMMANDS = {name: f"claim_receipt {between} record_command" for name, between in BETWEEN.items()} | {
    # A fork has both within its own statements.
    "forkThread": "claim_fork fork_thread",
    "forkThread at an inherited item": "claim_fork point_run chain fork_thread",
}

HOT = {
    "a thread with all around it": (
        """query ($id: ID!) { thread(id: $id) {
          title parent { id } root { id } activeRun { id } latestStablePoint { runId }
        } }""",
        "threads_by_id",
    ),
    "a thread and its runs": (
        """query ($id: ID!) { thread(id: $id) {
          title runs(first: 100) { totalCount nodes { id status message checkpoints { id } } }
        } }""",
        "threads_by_id runs_page first_items checkpoints_of_runs",
    ),
    "the history of a thread": (
        """query ($id: ID!) { thread(id: $id) {
          visibleItems(last: 100) { totalCount nodes { id text inherited run { status provider } } }
        } }""",
        "threads_by_id chain count_items visible_items_backward runs_by_id",
    ),
    "the transfers of a thread": (
        """query ($id: ID!) { thread(id: $id) { transfers {
          id status sourceThread { title } targetThread { title } handoff { tokens } consumedByRun { status }
        } } }""",
        "threads_by_id thread_transfers threads_by_id",
    ),
    "the threads around a thread": (
        """query ($id: ID!) { lineage(threadId: $id, first: 100) {
          totalCount nodes { depth thread { id title status provider } } edges { id kind sourceThreadId }
        } }""",
        "lineage",
    ),
    "the newest threads": (
        """{ threads(first: 100) { totalCount nodes { id title parent { title } root { title } } } }""",
        "list_threads count_threads threads_by_id",
    ),
    "what the provider threads of a thread know": (
        """query ($id: ID!) { thread(id: $id) { providerThreads { provider coverage(first: 100) {
          totalCount nodes { via inHistory runCount firstRun { id } lastRun { id } handoff { tokens } }
        } } } }""",
        "threads_by_id thread_provider_threads coverage segment_ends",
    ),
    "the way between two threads": (
        """query ($id: ID!) { lineagePath(from: $id, to: $id) {
          threads { id title status } edges { id kind sourceThreadId targetThreadId }
        } }""",
        "lineage_path",
    ),
    "what two threads share": (
        """query ($id: ID!) { compareThreads(base: $id, head: $id) {
          mergeBase { runId } baseOnly { totalCount runs { id } } headOnly { totalCount runs { id } }
        } }""",
        "chain chain run_at oldest_runs oldest_runs",
    ),
    "the plan of a start": (
        """query ($id: ID!) { explainStart(threadId: $id, provider: "claude") { outcome candidates { reason } } }""",
        "start_state forkable_turn",
    ),
}
"""What people look at all the time, and what it runs."""

FEW, MANY = 2, 200


@dataclass(frozen=True)
class Sources:
    """Two threads with completed runs and forks: one with few, one with many."""

    few: str
    many: str


@pytest.fixture(scope="module")
def sources(bench: Bench) -> Sources:
    def grown(size: int) -> str:
        thread = bench.client.thread(title="Source")["id"]
        for number in range(size):
            run = bench.client.running(thread, f"Step {number}", native=(f"native-{thread}", f"turn-{number}"))
            bench.client.complete(run["run"]["id"])
        for _ in range(min(size, 20)):
            bench.client.fork(thread)
        return thread

    return Sources(grown(FEW), grown(MANY))


def names(statements: list[str]) -> list[str]:
    return [NAMES.get(statement, statement) for statement in statements]


def statements_of(bench: Bench, document: str, **variables: Any) -> list[str]:
    """The names of the statements that a query runs, sorted: fields side by side are read side by side."""
    bench.proxy.forget()
    bench.client.execute(document, **variables)
    return sorted(names([statement for seen in bench.proxy.seen() for statement in seen.statements]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_command_runs_these_statements_and_no_more(right: dict[str, Undisturbed], case: Case) -> None:
    assert names(right[case.name].statements) == COMMANDS[case.name].split()


def test_a_command_sent_again_looks_at_its_receipt_and_no_further(bench: Bench) -> None:
    name = key()
    bench.client.thread(clientMutationId=name)
    bench.proxy.forget()

    bench.client.thread(clientMutationId=name)

    (seen,) = bench.proxy.seen(name)
    assert names(seen.statements) == ["claim_receipt"]


def test_a_fork_runs_the_same_statements_whether_its_source_has_few_runs_or_many(
    bench: Bench, sources: Sources
) -> None:
    for source in (sources.few, sources.many):
        name = key()
        bench.client.fork(source, clientMutationId=name)

        (seen,) = bench.proxy.seen(name)
        assert names(seen.statements) == ["claim_fork", "fork_thread"]


@pytest.mark.parametrize(("document", "expected"), HOT.values(), ids=HOT.keys())
def test_a_query_runs_the_same_statements_whether_there_is_little_to_see_or_much(
    bench: Bench, sources: Sources, document: str, expected: str
) -> None:
    for thread in (sources.few, sources.many):
        variables = {"id": thread} if "$id" in document else {}

        assert statements_of(bench, document, **variables) == sorted(expected.split())


def test_what_all_provider_threads_of_a_page_know_is_read_at_once(bench: Bench) -> None:
    thread = bench.client.thread()["id"]
    for provider in ("codex", "claude", "opencode", "codex"):
        bench.client.whole_run(thread, "Go on", provider=provider)
    document, expected = HOT["what the provider threads of a thread know"]

    assert statements_of(bench, document, id=thread) == sorted([*expected.split(), "handoffs_by_id"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_statement_names_nothing_that_the_graph_never_holds(
    bench: Bench, right: dict[str, Undisturbed], file: Any
) -> None:
    """Every command has run: a label, a type or a property that Neo4j does not know now is misspelt."""
    del right
    with (
        neo4j.GraphDatabase.driver(bench.endpoint.uri, auth=bench.endpoint.auth) as driver,
        driver.session(database=bench.endpoint.database) as session,
    ):
        told = session.run("EXPLAIN " + file.read_text(encoding="utf-8"), {}).consume().gql_status_objects
    unknown = [status.status_description for status in told if status.gql_status.startswith("01N5")]
    assert not unknown
