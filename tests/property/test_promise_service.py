"""THE PROMISE, on the service's own commands and a real Neo4j: the same sequences as for the domain alone.

Besides, the records: transfers move only along their machine, at most one live transfer leads into a thread, each is
consumed once, by one run, and no context is built before the first start.
"""

import asyncio

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from plait.graph.migrations import migrate
from plait.localdb import Endpoint
from plait.settings import Settings
from plait.wiring import open_database
from tests.model.machine import LineageMachine
from tests.model.service import ServiceBackend


def test_every_start_is_told_exactly_its_history(neo4j_endpoint: Endpoint) -> None:
    loop = asyncio.new_event_loop()
    database = open_database(
        Settings(
            neo4j_uri=neo4j_endpoint.uri,
            neo4j_user=neo4j_endpoint.user,
            neo4j_password=neo4j_endpoint.password,
            neo4j_database=neo4j_endpoint.database,
        )
    )
    loop.run_until_complete(migrate(database))
    database.open()

    class ServiceMachine(LineageMachine):
        def __init__(self) -> None:
            super().__init__()
            self.backend = ServiceBackend(database, loop)

    try:
        run_state_machine_as_test(
            ServiceMachine,
            settings=settings(
                max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
    finally:
        loop.run_until_complete(database.close())
        loop.close()
