"""THE PROMISE: at every start, what the provider is told (native turns it ran or forked, handoffs it was sent) is
exactly the history at that point: no run missing, none twice, none from an abandoned branch.

Any order of create, fork, start, accept, fail, append, complete, interrupt and checkpoint, decided by the domain alone.
`test_promise_service` runs the same sequences through the service's commands on the real Neo4j.
"""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import LineageMachine
from tests.model.pure import PureBackend


class DomainMachine(LineageMachine):
    def __init__(self) -> None:
        super().__init__()
        self.backend = PureBackend()


def test_every_start_is_told_exactly_its_history() -> None:
    run_state_machine_as_test(
        DomainMachine,
        settings=settings(
            max_examples=2000, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
