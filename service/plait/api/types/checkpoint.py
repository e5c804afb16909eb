"""Checkpoints: named stable states."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from plait.api.context import Info
from plait.api.types.node import Node
from plait.domain import model as records
from plait.domain.model import CheckpointKind

if TYPE_CHECKING:
    from plait.api.types.run import Run
    from plait.api.types.thread import Thread


@strawberry.type(description="Where the files stood at a checkpoint.")
class Workspace:
    vcs: str | None = strawberry.field(description="The version control system, such as git.")
    commit: str | None = strawberry.field(description="The commit (or the like) in it.")


@strawberry.type(description="A named stable state: made when a run completes, or on request.")
class Checkpoint(Node):
    thread_id: strawberry.ID = strawberry.field(description="The thread it belongs to.")
    run_id: strawberry.ID = strawberry.field(description="The last run of its state.")
    kind: CheckpointKind = strawberry.field(description="How it came to be.")
    label: str | None = strawberry.field(description="Its name.")
    summary: str | None = strawberry.field(description="What the conversation had come to.")
    created_at: datetime = strawberry.field(description="When it was made.")

    @strawberry.field(description="Where the files stood, where that was given.")
    @staticmethod
    def workspace(root: strawberry.Parent[records.Checkpoint]) -> Workspace | None:
        if root.workspace_vcs is None and root.workspace_commit is None:
            return None
        return Workspace(vcs=root.workspace_vcs, commit=root.workspace_commit)

    @strawberry.field(
        description="The thread it belongs to.",
        graphql_type=Annotated["Thread", strawberry.lazy("plait.api.types.thread")],
    )
    @staticmethod
    async def thread(root: strawberry.Parent[records.Checkpoint], info: Info) -> records.Thread:
        return await info.context.loaders.threads.must(root.thread_id)

    @strawberry.field(
        description="The last run of its state.", graphql_type=Annotated["Run", strawberry.lazy("plait.api.types.run")]
    )
    @staticmethod
    async def run(root: strawberry.Parent[records.Checkpoint], info: Info) -> records.Run:
        return await info.context.loaders.runs.must(root.run_id)

    @classmethod
    def is_type_of(cls, obj: object, _info: object) -> bool:
        return isinstance(obj, records.Checkpoint)
