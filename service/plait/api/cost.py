"""How much a document asks for, counted before it is validated, each fragment once however often it is spread.

A guard against documents that are costly by their shape alone. It does not know how much a field reads.
"""

from typing import NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from plait.domain.errors import ErrorCode, InvalidInput

MAX_DEPTH = 20
MAX_FIELDS = 500
"""As written, and as selected when every fragment stands where it is spread. GraphiQL's introspection selects 229."""
MAX_ALIASES = 100
MAX_NESTING = 100
"""Selections within selections of any kind, fragments included."""


class Cost(NamedTuple):
    """`fields` and `aliases` count every selected field, `depth` the longest way down through fields."""

    fields: int = 0
    aliases: int = 0
    depth: int = 0


def check_cost(document: DocumentNode) -> None:
    """Raises `InvalidInput` for a document that asks for too much."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    counter = _Counter(fragments)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    costs = [counter.of(operation.selection_set) for operation in operations]
    for name in fragments:
        counter.of_fragment(name)
    for name, count, largest in (
        ("holds", counter.written, MAX_FIELDS),
        ("selects", sum(cost.fields for cost in costs), MAX_FIELDS),
        ("renames", sum(cost.aliases for cost in costs), MAX_ALIASES),
        ("nests", max((cost.depth for cost in costs), default=0), MAX_DEPTH),
    ):
        if count > largest:
            raise InvalidInput(f"The document {name} more than {largest} fields.", ErrorCode.LIMIT_EXCEEDED)


class _Counter:
    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._known: dict[str, Cost] = {}
        self.written = 0

    def of(self, selections: SelectionSetNode | None, nesting: int = 0) -> Cost:
        if selections is None:
            return Cost()
        if nesting > MAX_NESTING:
            raise InvalidInput(f"The document nests selections more than {MAX_NESTING} deep.", ErrorCode.LIMIT_EXCEEDED)
        fields = aliases = depth = 0
        for node in selections.selections:
            below = 0
            if isinstance(node, FieldNode):
                fields += 1
                self.written += 1
                aliases += node.alias is not None
                below = 1
                cost = self.of(node.selection_set, nesting + 1)
            elif isinstance(node, InlineFragmentNode):
                cost = self.of(node.selection_set, nesting + 1)
            elif isinstance(node, FragmentSpreadNode):
                cost = self.of_fragment(node.name.value, nesting + 1)
            else:
                continue
            fields += cost.fields
            aliases += cost.aliases
            depth = max(depth, cost.depth + below)
        return Cost(fields, aliases, depth)

    def of_fragment(self, name: str, nesting: int = 0) -> Cost:
        known = self._known.get(name)
        if known is None:
            self._known[name] = Cost()  # a fragment within itself is refused by validation
            fragment = self._fragments.get(name)
            known = self._known[name] = self.of(fragment and fragment.selection_set, nesting)
        return known
