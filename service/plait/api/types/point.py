"""A point of a history: the exact state a transfer takes."""

import strawberry


@strawberry.type(
    description="An exact state: a thread and, within it, a run, a checkpoint or a turn item; inclusive.",
)
class SourcePoint:
    thread_id: strawberry.ID = strawberry.field(description="The thread that owns the run.")
    run_id: strawberry.ID = strawberry.field(description="The last run of the state.")
    checkpoint_id: strawberry.ID | None = strawberry.field(description="The checkpoint the point was named by.")
    turn_item_id: strawberry.ID | None = strawberry.field(
        description="The last item of the run that counts; null when the whole run does."
    )
    provider_thread_ref: str | None = strawberry.field(description="The provider's own id of its thread, where known.")
    provider_turn_ref: str | None = strawberry.field(description="The provider's own id of the turn, where known.")
