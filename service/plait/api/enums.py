"""The enums of the schema: those of the domain, with their descriptions. GraphQL names are in upper case."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar, cast

import strawberry
from strawberry.types.enum import StrawberryEnumDefinition

from plait.domain.coverage import CoverageVia
from plait.domain.model import (
    CheckpointKind,
    Creator,
    Executor,
    HandoffKind,
    ItemKind,
    ItemStatus,
    NodeStatus,
    ProviderThreadStatus,
    Relationship,
    ResultStatus,
    RunStatus,
    Strategy,
    SubagentContext,
    ThreadStatus,
    TransferStatus,
    TransferType,
)
from plait.domain.planning import ContextInjection, ForkSupport, Outcome
from plait.graph.pages import Direction, EdgeKind

E = TypeVar("E", bound=Enum)


def described(enum: type[E], description: str, values: Mapping[E, str], name: str | None = None) -> None:
    """Make a domain enum a GraphQL enum; `values` describes its members."""
    strawberry.enum(enum, name=name, description=description)
    definition = cast("StrawberryEnumDefinition", enum.__strawberry_definition__)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    for value in definition.values:
        value.description = values.get(enum[value.name])  # a test finds those without one


described(
    Creator,
    "Who asked for a record.",
    {
        Creator.USER: "A person.",
        Creator.AGENT: "An agent, by itself.",
        Creator.SYSTEM: "Plait, because a rule wants it.",
    },
)
described(
    ThreadStatus,
    "Whether a thread takes new work.",
    {
        ThreadStatus.ACTIVE: "Takes runs and forks.",
        ThreadStatus.ARCHIVED: "Put away: readable, and takes no new runs.",
    },
)
described(
    Relationship,
    "How a thread came from its parent.",
    {
        Relationship.FORK: "Forked to go on from one of the parent's states.",
        Relationship.SUBAGENT: "Spawned by a run of the parent to do a task.",
    },
    name="ThreadRelationship",
)
described(
    RunStatus,
    "Where a run stands.",
    {
        RunStatus.STARTING: "Planned; the provider has not accepted its turn yet.",
        RunStatus.RUNNING: "The provider accepted the turn and works on it.",
        RunStatus.COMPLETED: "Ended well.",
        RunStatus.FAILED: "Ended with a failure, or never reached its provider.",
        RunStatus.INTERRUPTED: "Ended before it was done: stopped, or its executor was lost.",
        RunStatus.ROLLED_BACK: "Its thread went back past it: only forks that were taken from it keep it.",
    },
)
described(
    Executor,
    "Who drives the provider of a run.",
    {
        Executor.SERVICE: "Plait, through an adapter. Refused for now.",
        Executor.CLIENT: "The caller, who carries out the plan and reports what happened.",
    },
    name="RunExecutor",
)
described(
    ItemKind,
    "What a turn item is.",
    {
        ItemKind.USER_MESSAGE: "What the user (or the calling agent) said.",
        ItemKind.ASSISTANT_MESSAGE: "What the agent answered.",
        ItemKind.REASONING: "The agent's hidden reasoning; never crosses to another provider.",
        ItemKind.TOOL_CALL: "A call of a tool, with its result.",
        ItemKind.COMMAND: "A command that was run, with its outcome.",
        ItemKind.FILE_CHANGE: "A change of files.",
        ItemKind.PLAN: "The agent's plan.",
        ItemKind.SUBAGENT: "A subagent's work, as seen by its parent.",
        ItemKind.COMPACTION: "The provider replaced its earlier history by a summary.",
        ItemKind.ERROR: "Something went wrong.",
        ItemKind.OTHER: "Anything else.",
    },
    name="TurnItemKind",
)
described(
    ItemStatus,
    "Whether a turn item is done.",
    {
        ItemStatus.STREAMING: "More of it may come: appending its id again replaces it.",
        ItemStatus.FINISHED: "Done.",
        ItemStatus.INTERRUPTED: "Its run ended before it was done.",
    },
    name="TurnItemStatus",
)
described(
    CheckpointKind,
    "How a checkpoint came to be.",
    {
        CheckpointKind.AUTOMATIC: "Made by Plait when the run completed.",
        CheckpointKind.EXPLICIT: "Made on request.",
    },
)
described(
    ProviderThreadStatus,
    "Whether a provider thread can be resumed.",
    {
        ProviderThreadStatus.ACTIVE: "The provider is believed to have it.",
        ProviderThreadStatus.DIVERGENT: "It holds a turn its thread's history has not: it can be forked, not resumed.",
        ProviderThreadStatus.LOST: "The provider no longer has it.",
    },
)
described(
    TransferType,
    "Why context is transferred.",
    {
        TransferType.FORK: "Into a fork, from the point it was forked at.",
        TransferType.PROVIDER_HANDOFF: "To another provider (or another provider thread) of the same thread.",
        TransferType.MERGE_BACK: "From a fork back into a thread it shares history with.",
        TransferType.SUBAGENT_SPAWN: "From a run into the subagent it spawned.",
        TransferType.SUBAGENT_RESULT: "From a subagent back to the thread that spawned it.",
    },
)
described(
    TransferStatus,
    "Where a transfer stands.",
    {
        TransferStatus.PENDING: "Waits for the next start of its target.",
        TransferStatus.RESOLVED_NATIVE: "The provider's own fork will carry it.",
        TransferStatus.RESOLVED_PORTABLE: "A handoff will carry it.",
        TransferStatus.CONSUMED: "A provider accepted the turn that carried it.",
        TransferStatus.FAILED: "Could not be resolved; the next start replaces it.",
        TransferStatus.SUPERSEDED: "Replaced by another transfer, or called off.",
    },
)
described(
    Strategy,
    "How a transfer is carried out.",
    {
        Strategy.NATIVE_FORK: "By the provider's own fork of its thread.",
        Strategy.PORTABLE_CONTEXT: "By a text with the whole history, within the provider's budget.",
        Strategy.DELTA_CONTEXT: "By a text with what the provider thread does not know yet.",
        Strategy.CHECKPOINT_CONTEXT: "By the summary and workspace of a checkpoint.",
    },
    name="TransferStrategy",
)
described(
    SubagentContext,
    "What a subagent is told of the conversation that spawned it.",
    {
        SubagentContext.NONE: "Its task alone.",
        SubagentContext.INHERIT: "The history of its parent's latest stable point, as a fork would have it.",
    },
)
described(
    ResultStatus,
    "How the work of a subagent ended.",
    {
        ResultStatus.COMPLETED: "It did its task.",
        ResultStatus.FAILED: "It failed, or never reached its provider.",
        ResultStatus.CANCELLED: "It was stopped.",
        ResultStatus.UNKNOWN: "Its executor was lost: nobody knows.",
    },
    name="SubagentResultStatus",
)
described(
    NodeStatus,
    "Where the work of a native subagent stands, as far as its provider tells.",
    {
        NodeStatus.RUNNING: "It works, or nothing else was heard of it.",
        NodeStatus.UNKNOWN: "It ended, and nobody knows how.",
        NodeStatus.CANCELLED: "It was stopped.",
        NodeStatus.FAILED: "It failed.",
        NodeStatus.COMPLETED: "It did its task.",
    },
    name="ExecutionNodeStatus",
)
described(
    HandoffKind,
    "What a handoff carries.",
    {
        HandoffKind.PORTABLE_CONTEXT: "The whole history, within the provider's budget.",
        HandoffKind.DELTA_CONTEXT: "What the provider thread does not know yet.",
        HandoffKind.CHECKPOINT_CONTEXT: "The summary and workspace of a checkpoint.",
    },
)
described(
    Outcome,
    "The base of a start; handoffs may add to it.",
    {
        Outcome.NONE: "Resume the provider thread, or start a new one with nothing to tell.",
        Outcome.NATIVE: "Fork a provider thread natively.",
        Outcome.PORTABLE: "A new provider thread, told the history as text.",
        Outcome.DELTA: "Resume the provider thread and tell it what it missed.",
        Outcome.UNSUPPORTED: "No way to start; nothing reached the provider.",
    },
    name="StartOutcome",
)
described(
    ForkSupport,
    "At which point a provider can fork its own thread.",
    {
        ForkSupport.NONE: "It can't.",
        ForkSupport.LATEST: "At its latest state only.",
        ForkSupport.AT_TURN: "At any turn.",
    },
)
described(
    ContextInjection,
    "How context can reach a provider thread besides the user's words.",
    {
        ContextInjection.NONE: "It can't.",
        ContextInjection.BEFORE_MESSAGE: "As text before the message.",
        ContextInjection.SYSTEM_TEXT: "As part of the system text.",
        ContextInjection.OWN_ITEM: "As an item of its own.",
    },
)
described(
    CoverageVia,
    "How a provider thread came to know something.",
    {
        CoverageVia.NATIVE: "By turns of its own, or of the provider thread it was natively forked from.",
        CoverageVia.HANDOFF: "It was told by a handoff, or was forked from one that was.",
    },
)
described(
    Direction,
    "Which way to follow lineage from a thread.",
    {
        Direction.ANCESTORS: "To where its context came from.",
        Direction.DESCENDANTS: "To where its context went.",
        Direction.BOTH: "Both: its ancestors and its descendants.",
    },
    name="LineageDirection",
)
described(
    EdgeKind,
    "How context flowed from one thread to another.",
    {
        EdgeKind.FORK: "The target was forked from the source.",
        EdgeKind.MERGE_BACK: "The source was merged back into the target.",
        EdgeKind.SUBAGENT: "A run of the source spawned the target.",
        EdgeKind.SUBAGENT_RESULT: "The source, a subagent, gave its result to the target.",
    },
    name="LineageEdgeKind",
)
