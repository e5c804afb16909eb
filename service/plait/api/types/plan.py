"""Plans of a start: as decided with their records, and as kept with the run."""

from asyncio import gather
from collections.abc import Sequence

import strawberry

from plait.api.context import Info
from plait.api.types.handoff import ContextHandoff
from plait.api.types.transfer import ContextTransfer
from plait.commands.contracts import PlannedStart
from plait.domain import model as records
from plait.domain import planning
from plait.domain.model import Strategy
from plait.domain.planning import Outcome


@strawberry.type(description="Resume this provider thread.")
class NativeResume:
    provider_thread_id: strawberry.ID = strawberry.field(description="Plait's id of the provider thread.")
    native_thread_id: str = strawberry.field(description="The provider's own id of it.")


@strawberry.type(description="Fork this provider thread and keep everything through one turn.")
class NativeFork:
    provider_thread_id: strawberry.ID = strawberry.field(description="Plait's id of the provider thread.")
    run_id: strawberry.ID = strawberry.field(description="The run of the last turn to keep.")
    native_thread_id: str = strawberry.field(description="The provider's own id of the thread to fork.")
    last_turn_id: str | None = strawberry.field(
        description="The provider's own id of the last turn to keep; null: its latest state, which is the point."
    )
    later_terminal_turns: int = strawberry.field(
        description="How many ended turns come after it: what a provider that forks only its latest state takes back."
    )


@strawberry.type(description="One way to start, and why it was taken or not.")
class StartCandidate:
    outcome: Outcome = strawberry.field(description="The base of the start.")
    strategy: Strategy | None = strawberry.field(description="How context would be carried.")
    native_thread_id: str | None = strawberry.field(description="The provider's own id of the thread it builds on.")
    native_turn_id: str | None = strawberry.field(description="The provider's own id of the last turn it keeps.")
    cost_tokens: int | None = strawberry.field(
        description=(
            "An estimate of what would have to be sent: the tokens of the history to be told, at most the provider's "
            "budget. What a handoff really takes is its own `tokens`. Null where there is nothing to fork."
        )
    )
    taken: bool = strawberry.field(description="Whether it is the one that was taken.")
    reason: str = strawberry.field(description="Why it was taken or not.")


@strawberry.type(description="How a run is to be started: resume this, fork that at this turn, inject this.")
class StartPlan:
    outcome: Outcome = strawberry.field(description="The base of the start.")
    strategy: Strategy | None = strawberry.field(description="How context is carried; null when there is none.")
    reason: str = strawberry.field(description="Why it starts this way.")
    resume: planning.NativeResume | None = strawberry.field(
        graphql_type=NativeResume | None, description="The provider thread to resume."
    )
    native_fork: planning.NativeFork | None = strawberry.field(
        graphql_type=NativeFork | None, description="The provider thread to fork, and where."
    )
    candidates: tuple[planning.Candidate, ...] = strawberry.field(
        graphql_type=list[StartCandidate], description="Every way that was looked at."
    )

    @strawberry.field(description="The transfers the start carries.", graphql_type=list[ContextTransfer])
    @staticmethod
    async def transfers(root: strawberry.Parent["PlanView"], info: Info) -> Sequence[records.Transfer]:
        return await root.transfers(info)

    @strawberry.field(description="The handoffs to tell, in this order.", graphql_type=list[ContextHandoff])
    @staticmethod
    async def handoffs(root: strawberry.Parent["PlanView"], info: Info) -> Sequence[records.Handoff]:
        return await root.handoffs(info)

    @strawberry.field(description="The text to put before the message; null when there is none.")
    @staticmethod
    async def injected(root: strawberry.Parent["PlanView"], info: Info) -> str | None:
        handoffs = tuple(await root.handoffs(info))
        return PlannedStart(plan=root.plan, handoffs=handoffs).injected


class PlanView:
    """A plan in the shape of `StartPlan`: one just made has its records, those of a recorded one are loaded."""

    def __init__(self, plan: planning.StartPlan) -> None:
        self.plan = plan
        self.outcome = plan.outcome
        self.strategy = plan.strategy
        self.reason = plan.reason
        self.resume = plan.resume
        self.native_fork = plan.native_fork
        self.candidates = plan.candidates

    async def transfers(self, info: Info) -> Sequence[records.Transfer]:
        raise NotImplementedError

    async def handoffs(self, info: Info) -> Sequence[records.Handoff]:
        raise NotImplementedError


class FreshPlan(PlanView):
    """A plan as a command gave it."""

    def __init__(self, start: PlannedStart) -> None:
        super().__init__(start.plan)
        self._start = start

    async def transfers(self, info: Info) -> Sequence[records.Transfer]:
        return self._start.transfers

    async def handoffs(self, info: Info) -> Sequence[records.Handoff]:
        return self._start.handoffs


class RecordedPlan(PlanView):
    """The plan a run keeps. Raises `NotFound` where a record it names is gone."""

    def __init__(self, run: records.Run, plan: str) -> None:
        super().__init__(planning.StartPlan.model_validate_json(plan))
        self._run = run

    async def transfers(self, info: Info) -> Sequence[records.Transfer]:
        load = info.context.loaders.transfers.must
        return await gather(*(load(id) for id in self._run.transfer_ids))

    async def handoffs(self, info: Info) -> Sequence[records.Handoff]:
        load = info.context.loaders.handoffs.must
        return await gather(*(load(id) for id in self._run.handoff_ids))
