"""Every code a client can meet in `errors[].extensions.code`, with what it means; also an enum of the schema."""

from enum import StrEnum
from typing import TypeAlias, cast

from plait.api.enums import described
from plait.domain.errors import ErrorCode


class TransportCode(StrEnum):
    """Codes of a text that never became an operation."""

    GRAPHQL_PARSE_FAILED = "GRAPHQL_PARSE_FAILED"
    GRAPHQL_VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"


Code: TypeAlias = ErrorCode | TransportCode

MEANINGS: dict[Code, str] = {
    TransportCode.GRAPHQL_PARSE_FAILED: "The query is not GraphQL.",
    TransportCode.GRAPHQL_VALIDATION_FAILED: "The query does not fit the schema.",
    ErrorCode.INVALID_INPUT: "The input can't be right in any state of the graph; the message names the field.",
    ErrorCode.LIMIT_EXCEEDED: "More was sent or asked for than one request may; the message names the limit.",
    ErrorCode.NOT_FOUND: "There is no record with this id.",
    ErrorCode.IDEMPOTENCY_CONFLICT: "The clientMutationId was used before, for something else.",
    ErrorCode.ID_TAKEN: "The id that was given belongs to another record.",
    ErrorCode.NO_STABLE_POINT: "The thread has no state to take: no run of it completed, and it was not forked.",
    ErrorCode.RUN_ACTIVE: "The run still works.",
    ErrorCode.RUN_NOT_STABLE: "The run did not complete and has no explicit checkpoint.",
    ErrorCode.RUN_ROLLED_BACK: "The run was taken back.",
    ErrorCode.RUN_NOT_STARTED: "No provider has accepted the run's turn.",
    ErrorCode.RUN_ALREADY_STARTED: "The start of the run was reported before.",
    ErrorCode.RUN_NOT_ACTIVE: "The run has ended.",
    ErrorCode.PLAN_OUTDATED: "The plan of the run does not hold any more; report a failure to have it planned anew.",
    ErrorCode.THREAD_BUSY: "Another run works in the thread; try again when it has ended.",
    ErrorCode.THREAD_ARCHIVED: "The thread is archived and takes no new work.",
    ErrorCode.NOTHING_TO_MERGE: "The target has all that the source did.",
    ErrorCode.NO_COMMON_ANCESTOR: "The two threads share no history.",
    ErrorCode.NOTHING_TO_HAND_OVER: "The provider knows the whole history, or there is none.",
    ErrorCode.TRANSFER_NOT_PENDING: "The transfer no longer waits.",
    ErrorCode.UNSUPPORTED_TRANSFER: "No way to start on this provider; the message says why.",
    ErrorCode.PROVIDER_UNKNOWN: "There is no provider with this key.",
    ErrorCode.PROVIDER_UNAVAILABLE: "The provider can't be used now.",
    ErrorCode.STORAGE_UNAVAILABLE: "The graph store does not answer; the same request may be sent again.",
    ErrorCode.STORAGE_TIMEOUT: "The graph store took too long; the same request may be sent again.",
    ErrorCode.INTERNAL_ERROR: "Something went wrong in Plait; the log has more under `extensions.errorId`.",
}

AnyCode = cast("type[StrEnum]", StrEnum("AnyCode", {code.name: code.value for code in (*TransportCode, *ErrorCode)}))

described(
    AnyCode,
    "What `errors[].extensions.code` can be. `extensions.retryable` says whether the same request may succeed later.",
    {AnyCode(code.value): meaning for code, meaning in MEANINGS.items()},
    name="ErrorCode",
)
