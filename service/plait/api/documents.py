"""Documents made ready to run: parsed, measured, validated, and kept for the next request with the same text."""

from collections import OrderedDict

from graphql import DocumentNode, GraphQLSchema, GraphQLSyntaxError, parse, validate

from plait.api.codes import TransportCode
from plait.api.cost import check_cost
from plait.api.errors import JsonObject, refusal, request_errors
from plait.domain.errors import ErrorCode, InvalidInput

MAX_TOKENS = 5_000
MAX_COMMENTS = 1_000
MAX_CHARACTERS = 2_000_000
MAX_ERRORS = 10
ABORTED = " aborted."
"""How graphql-core ends its sentence when it gave up on a document that is too large."""

CACHED_DOCUMENTS = 500
CACHED_CHARACTERS = 250_000
"""Characters of all documents that are kept: a parsed document takes a few hundred bytes for each."""


class DocumentRefused(Exception):
    """A text that is no document this schema runs; `errors` say why."""

    def __init__(self, errors: list[JsonObject]) -> None:
        super().__init__(errors)
        self.errors = errors


class Documents:
    """Prepares documents for one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._kept: OrderedDict[str, DocumentNode] = OrderedDict()
        self._characters = 0

    def prepare(self, text: str) -> DocumentNode:
        """The document of this text, ready to run. Raises `DocumentRefused`."""
        document = self._kept.get(text)
        if document is None:
            document = _parsed(text)
            _validate(self._schema, document)
            self._keep(text, document)
        else:
            self._kept.move_to_end(text)
        return document

    def _keep(self, text: str, document: DocumentNode) -> None:
        if len(text) > CACHED_CHARACTERS // 4:
            return
        self._kept[text] = document
        self._characters += len(text)
        while len(self._kept) > CACHED_DOCUMENTS or self._characters > CACHED_CHARACTERS:
            oldest, _ = self._kept.popitem(last=False)
            self._characters -= len(oldest)


def _parsed(text: str) -> DocumentNode:
    try:
        document = parse(
            text, max_lexical_tokens=MAX_TOKENS, max_comments=MAX_COMMENTS, max_source_length=MAX_CHARACTERS
        )
        check_cost(document)
    except GraphQLSyntaxError as error:
        too_large = error.message.endswith(ABORTED)
        code = ErrorCode.LIMIT_EXCEEDED if too_large else TransportCode.GRAPHQL_PARSE_FAILED
        raise DocumentRefused(request_errors([error], code)) from None
    except InvalidInput as error:
        raise DocumentRefused([refusal(error.code, error.message)]) from None
    return document


def _validate(schema: GraphQLSchema, document: DocumentNode) -> None:
    errors = validate(schema, document, max_errors=MAX_ERRORS)
    if errors:
        too_large = len(errors) == 1 and errors[0].message.endswith(ABORTED)
        code = ErrorCode.LIMIT_EXCEEDED if too_large else TransportCode.GRAPHQL_VALIDATION_FAILED
        raise DocumentRefused(request_errors(errors, code))
