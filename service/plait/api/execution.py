"""One GraphQL request carried out: from the parts of its body to what is answered."""

from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, cast

from graphql import DocumentNode, ExecutionResult, execute  # pyright: ignore[reportUnknownVariableType]

from plait.api.context import RequestContext
from plait.api.documents import DocumentRefused, Documents
from plait.api.errors import JsonObject, field_errors, masked, refusal
from plait.api.executor import ShortWayExecutor
from plait.api.schema import core_schema
from plait.api.services import ApiServices
from plait.domain.errors import ErrorCode, InvalidInput


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    """The parts of a request's body."""

    query: str
    variables: dict[str, Any] | None
    operation_name: str | None


@dataclass(frozen=True, slots=True)
class GraphQLAnswer:
    """What is answered; `executed` is false when the request was refused before any field was looked at."""

    body: JsonObject
    executed: bool


def read_request(body: object) -> GraphQLRequest:
    """The request a JSON body holds. Raises `InvalidInput`."""
    if isinstance(body, list):
        raise InvalidInput("Send one operation a request: a list of them is not taken.")
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object with a query.")
    parts = cast("dict[str, object]", body)
    query, variables, name = parts.get("query"), parts.get("variables"), parts.get("operationName")
    if not isinstance(query, str) or not query:
        raise InvalidInput("The body must have a query, which is a string.")
    if variables is not None and not isinstance(variables, dict):
        raise InvalidInput("variables must be an object.")
    if name is not None and not isinstance(name, str):
        raise InvalidInput("operationName must be a string.")
    return GraphQLRequest(query, cast("dict[str, Any] | None", variables), name or None)


class GraphQLEngine:
    """Carries out requests against the schema with the services of this process."""

    def __init__(self, services: ApiServices) -> None:
        self._services = services
        self._schema = core_schema()
        self._documents = Documents(self._schema)

    async def run(self, request: GraphQLRequest) -> GraphQLAnswer:
        """The answer; never raises for anything a client can send, nor for what the services raise."""
        try:
            document = self._documents.prepare(request.query)
            result = await self._execute(document, request)
        except DocumentRefused as refused:
            return GraphQLAnswer({"errors": refused.errors}, executed=False)
        except Exception as error:
            return GraphQLAnswer({"errors": [masked(error)]}, executed=False)
        return _answer(result)

    async def _execute(self, document: DocumentNode, request: GraphQLRequest) -> ExecutionResult:
        result = execute(
            self._schema,
            document,
            context_value=RequestContext(self._services),
            variable_values=request.variables,
            operation_name=request.operation_name,
            executor_class=ShortWayExecutor,
        )
        return await result if isawaitable(result) else result


def _answer(result: ExecutionResult) -> GraphQLAnswer:
    if not result.errors:
        return GraphQLAnswer({"data": result.data}, executed=True)
    errors = field_errors(result.errors)
    # graphql-core refuses variables and operation names without a path, before any field
    if result.data is None and not any(error.path for error in result.errors):
        return GraphQLAnswer({"errors": errors}, executed=False)
    return GraphQLAnswer({"data": result.data, "errors": errors}, executed=True)


def refused(code: ErrorCode, message: str) -> JsonObject:
    """A GraphQL answer that only says no."""
    return {"errors": [refusal(code, message)]}
