"""The document of the providers against the registry, and its examples on a real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plait.domain.handoff import MIN_HANDOFF_TOKENS
from plait.domain.planning import Capabilities, ContextInjection, ForkSupport
from plait.localdb import Endpoint
from plait.providers.registry import BUILT_IN, registry
from plait.settings import load_settings
from tests.support.client import Client
from tests.support.markdown import CHECKOUT, blocks, section, table
from tests.support.service import PLAIT, ServiceProcess, use_endpoint

TEXT = (CHECKOUT / "docs" / "providers.md").read_text(encoding="utf-8")
ENTRIES = section(TEXT, "## The built-in entries")
(EXAMPLE,) = [block.text for block in blocks(section(TEXT, "## Add your own")) if block.language == "json"]


def test_the_table_of_built_in_entries_is_the_registry() -> None:
    shown = {provider.key: provider.model_dump(by_alias=True, mode="json") for provider in BUILT_IN}

    head = next(line for line in ENTRIES.splitlines() if line.startswith("| |"))
    keys = [cell.strip(" `") for cell in head.split("|")[2:-1]]
    rows = {row[0].strip("`"): [cell.strip("`") for cell in row[1:]] for row in table(ENTRIES)}

    assert keys == list(shown)
    for field in Capabilities.model_fields.values():
        name = str(field.alias)
        if name != "key":
            assert rows.pop(name) == [
                str(shown[key][name]).replace("True", "true").replace("False", "false") for key in keys
            ]
    assert rows == {}


def test_every_field_and_every_value_is_explained() -> None:
    explained = ENTRIES.partition("| field | means |")[2]

    for field in Capabilities.model_fields.values():
        assert field.alias == "key" or f"| `{field.alias}` |" in explained
    for value in (*ForkSupport, *ContextInjection):
        assert f"`{value.value}`" in explained
    assert f"below {MIN_HANDOFF_TOKENS} it gets none" in explained


def test_entries_may_be_given_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_PROVIDERS__mine__driver", "codex")
    monkeypatch.setenv("PLAIT_PROVIDERS__mine__handoffTokens", "4000")

    mine = registry(load_settings().providers)["mine"]

    assert (mine.driver, mine.fork, mine.handoff_tokens) == ("codex", ForkSupport.AT_TURN, 4000)


@pytest.fixture(scope="module")
def own_providers(neo4j_endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with the providers of the example."""
    folder = tmp_path_factory.mktemp("own-providers")
    variables = use_endpoint(neo4j_endpoint) | {"PLAIT_PROVIDERS": EXAMPLE}
    process = ServiceProcess([str(PLAIT), "serve", "--port", "0"], folder, variables)
    client = Client(process.wait_ready())
    yield client
    client.close()
    process.terminate()


def test_a_second_account_forks_its_own_threads_and_is_told_those_of_the_first(own_providers: Client) -> None:
    thread = own_providers.thread()["id"]
    own_providers.whole_run(thread, "Which port?")

    switched = own_providers.whole_run(thread, "Is it free?", provider="codex-work")
    fork = own_providers.fork(thread)["thread"]["id"]

    assert switched["plan"]["outcome"] == "PORTABLE"
    assert own_providers.explain(fork, "codex-work")["outcome"] == "NATIVE"


def test_a_provider_that_keeps_nothing_is_told_the_history_each_time(own_providers: Client) -> None:
    thread = own_providers.thread()["id"]
    own_providers.whole_run(thread, "Which port?", "8080.", provider="local-llm")

    plan = own_providers.start(thread, "Is it free?", "local-llm")["plan"]

    assert (plan["outcome"], plan["resume"]) == ("PORTABLE", None)
    assert "8080." in plan["injected"]
    assert plan["handoffs"][0]["budgetTokens"] == 4000
