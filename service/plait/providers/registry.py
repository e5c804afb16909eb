"""The providers that are known: built-in entries from what the real programs do, and those of the settings."""

from collections.abc import Mapping

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from plait.domain.errors import InvalidInput
from plait.domain.planning import PROVIDER_KEY, Capabilities, ContextInjection, ForkSupport

# Read off the programs themselves (docs/providers.md has what was seen): where each can cut its own thread, and
# how context reaches it besides the user's words.
BUILT_IN: tuple[Capabilities, ...] = (
    Capabilities(
        key="codex",
        driver="codex",
        fork=ForkSupport.AT_TURN,
        revert=True,
        injection=ContextInjection.OWN_ITEM,
        reports_children=True,
    ),
    Capabilities(
        key="claude",
        driver="claude",
        fork=ForkSupport.AT_TURN,
        injection=ContextInjection.BEFORE_MESSAGE,
        bound_to_directory=True,
        reports_children=True,
    ),
    Capabilities(
        key="opencode",
        driver="opencode",
        fork=ForkSupport.AT_TURN,
        revert=True,
        injection=ContextInjection.OWN_ITEM,
        reports_children=True,
    ),
    Capabilities(key="acp", driver="acp", fork=ForkSupport.LATEST, injection=ContextInjection.BEFORE_MESSAGE),
)


_FIELDS = {name.replace("_", ""): name for name in Capabilities.model_fields}
"""Environment variables know no upper case and JSON likes camel case: a field is known by its letters."""


def registry(extra: Mapping[str, Mapping[str, object]]) -> dict[str, Capabilities]:
    """All providers by key. An entry of the settings changes what it names of a built-in one, or adds one.

    `driver` of a new entry says which built-in one it behaves like: two accounts of one provider are two keys.
    Raises `InvalidInput` naming the entry.
    """
    known = {entry.key: entry for entry in BUILT_IN}
    for key, given in extra.items():
        if not PROVIDER_KEY.fullmatch(key):
            raise InvalidInput(
                f"PLAIT_PROVIDERS: a provider's key is 1 to 64 letters a-z, digits, dots, dashes, underscores; "
                f"not {key!r}."
            )
        named = {_FIELDS.get(name.replace("_", "").lower(), name): value for name, value in given.items()}
        driver = str(named.get("driver", key))
        base = known.get(key) or known.get(driver) or Capabilities(key=key, driver=driver)
        try:
            known[key] = Capabilities.model_validate(base.model_dump() | {"driver": driver} | named | {"key": key})
        except ValidationError as error:
            wrong = "; ".join(
                f"{to_camel(str(detail['loc'][0]))}: {detail['msg'][0].lower()}{detail['msg'][1:]}"
                for detail in error.errors()
            )
            raise InvalidInput(f"PLAIT_PROVIDERS: the entry {key} is wrong: {wrong}.") from None
    return known


def strangers(known: Mapping[str, Capabilities]) -> list[Capabilities]:
    """Entries whose driver no built-in one has: meant so, or misspelt, which would otherwise never be noticed."""
    drivers = {entry.driver for entry in BUILT_IN}
    return [entry for entry in known.values() if entry.driver not in drivers]
