"""Two threads compared by their histories."""

import strawberry

from plait.api.types.point import SourcePoint
from plait.api.types.run import Run
from plait.domain import model as records
from plait.graph import pages


@strawberry.type(description="What one history has and the other has not.")
class RunsAlone:
    total: int = strawberry.field(
        name="totalCount", description="How many runs; one that the other has a part of counts as well."
    )
    tokens: int = strawberry.field(
        description="Tokens of those runs, counted by Plait; none of a run that the other has a part of."
    )
    runs: tuple[records.Run, ...] = strawberry.field(
        graphql_type=list[Run], description="The first of them, oldest first."
    )


@strawberry.type(description="The histories of two threads, side by side.")
class ThreadComparison:
    merge_base: records.SourcePoint | None = strawberry.field(
        graphql_type=SourcePoint | None, description="The last point that both share; null where they share nothing."
    )
    base_only: pages.RunsAlone = strawberry.field(
        graphql_type=RunsAlone, description="What only the base has: what went on there since."
    )
    head_only: pages.RunsAlone = strawberry.field(
        graphql_type=RunsAlone, description="What only the head has: what a merge back into the base would bring."
    )
