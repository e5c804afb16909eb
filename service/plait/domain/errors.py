"""The one hierarchy of refusals. Every refusal has a code that clients may rely on.

PlaitError
├── InvalidInput            INVALID_INPUT, LIMIT_EXCEEDED
├── NotFound                NOT_FOUND
├── IdempotencyConflict     IDEMPOTENCY_CONFLICT
├── Refused                 the rules of lineage say no (RUN_ACTIVE, THREAD_BUSY, …)
└── StorageUnavailable      STORAGE_UNAVAILABLE, STORAGE_TIMEOUT
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Every code a client can meet in `extensions.code`."""

    INVALID_INPUT = "INVALID_INPUT"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    NOT_FOUND = "NOT_FOUND"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    ID_TAKEN = "ID_TAKEN"
    NO_STABLE_POINT = "NO_STABLE_POINT"
    RUN_ACTIVE = "RUN_ACTIVE"
    RUN_NOT_STABLE = "RUN_NOT_STABLE"
    RUN_ROLLED_BACK = "RUN_ROLLED_BACK"
    RUN_NOT_STARTED = "RUN_NOT_STARTED"
    RUN_ALREADY_STARTED = "RUN_ALREADY_STARTED"
    RUN_NOT_ACTIVE = "RUN_NOT_ACTIVE"
    PLAN_OUTDATED = "PLAN_OUTDATED"
    THREAD_BUSY = "THREAD_BUSY"
    THREAD_ARCHIVED = "THREAD_ARCHIVED"
    NOTHING_TO_MERGE = "NOTHING_TO_MERGE"
    NO_COMMON_ANCESTOR = "NO_COMMON_ANCESTOR"
    NOTHING_TO_HAND_OVER = "NOTHING_TO_HAND_OVER"
    TRANSFER_NOT_PENDING = "TRANSFER_NOT_PENDING"
    UNSUPPORTED_TRANSFER = "UNSUPPORTED_TRANSFER"
    PROVIDER_UNKNOWN = "PROVIDER_UNKNOWN"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    STORAGE_UNAVAILABLE = "STORAGE_UNAVAILABLE"
    STORAGE_TIMEOUT = "STORAGE_TIMEOUT"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class PlaitError(Exception):
    """A refusal: a code, one sentence for a person, and whether the same request may succeed later."""

    def __init__(self, code: ErrorCode, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


class InvalidInput(PlaitError):
    """The input can't be right in any state of the graph."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INVALID_INPUT) -> None:
        super().__init__(code, message)


class NotFound(PlaitError):
    """No such record."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, message)


class IdempotencyConflict(PlaitError):
    """The `clientMutationId` was used before, for something else."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.IDEMPOTENCY_CONFLICT, message)


class Refused(PlaitError):
    """The rules of lineage refuse the command in the present state of the graph."""


class StorageUnavailable(PlaitError):
    """Neo4j does not answer, or not in time; the same request may be sent again."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.STORAGE_UNAVAILABLE) -> None:
        super().__init__(code, message, retryable=True)
