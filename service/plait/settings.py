"""The settings of a Plait service: the only module that reads the environment (`PLAIT_…`), each field with its meaning.

Lists and maps are given as JSON; `PLAIT_PROVIDERS` may also be given by parts (`PLAIT_PROVIDERS__codex__driver=codex`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENV_PREFIX = "PLAIT_"

MIB = 1024 * 1024

_JSON_VARIABLE = ENV_PREFIX + "PROVIDERS"
"""The one setting that is given as JSON."""

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

_BOLT_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


class SettingsError(Exception):
    """The environment holds values that the service can't start with; the message names each and says what is wrong."""


class Settings(BaseSettings):
    """What the service, its local database and its command line can be told from outside."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        # A pydantic message repeats the value it refuses, and the value may be a password.
        hide_input_in_errors=True,
    )

    # Where the service listens
    host: str = Field(default="127.0.0.1", min_length=1, description="Address the HTTP service listens on.")
    port: int = Field(
        default=8000,
        ge=0,
        le=65535,
        description="Port the HTTP service listens on; 0 lets the system choose a free one.",
    )
    log_level: LogLevel = Field(default="INFO", description="Least severe log lines that are written.")

    # The database
    data_dir: Path = Field(
        default=Path(".plait"), description="Folder of the local Neo4j: its data, its password file and its log."
    )
    neo4j_uri: str | None = Field(
        default=None,
        description="Neo4j to use (`neo4j://`, `neo4j+s://`, `bolt://`, …); none starts a local one in `data_dir`.",
    )
    neo4j_user: str = Field(default="neo4j", min_length=1, description="User for `neo4j_uri`.")
    neo4j_password: SecretStr | None = Field(
        default=None, description="Password for `neo4j_uri`; the local Neo4j makes its own and keeps it in `data_dir`."
    )
    neo4j_database: str = Field(default="neo4j", min_length=1, description="Name of the database that holds the graph.")
    neo4j_pool_size: int = Field(
        default=100, ge=1, le=10_000, description="Most connections to one Neo4j server at the same time."
    )
    neo4j_retry_seconds: float = Field(
        default=5.0,
        ge=0,
        description="How long the driver tries a transaction again after a transient failure, in seconds.",
    )
    neo4j_transaction_timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="How long one transaction may take before the server ends it, in seconds.",
    )

    # The local Neo4j alone
    local_bolt_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Bolt port of the local Neo4j on loopback; 0 lets the system choose a free one.",
    )
    local_heap_initial_mb: int = Field(default=128, ge=64, description="Java heap the local Neo4j starts with, in MiB.")
    local_heap_max_mb: int = Field(default=416, ge=256, description="Most Java heap the local Neo4j takes, in MiB.")
    local_page_cache_mb: int = Field(default=64, ge=8, description="Page cache of the local Neo4j, in MiB.")
    local_transaction_memory_mb: int = Field(
        default=192, ge=16, description="Most memory all transactions of the local Neo4j take together, in MiB."
    )

    # Limits of what callers send and read
    max_text_bytes: int = Field(
        default=MIB, ge=1, description="Largest single text (a message, an item), in bytes of UTF-8."
    )
    max_body_bytes: int = Field(default=8 * MIB, ge=1, description="Largest body of an HTTP request, in bytes.")
    max_page_size: int = Field(default=100, ge=1, le=1000, description="Largest `first` or `last` of a connection.")

    # Runs and providers
    lease_seconds: float = Field(
        default=120.0,
        gt=0,
        description="How long the lease of a run lasts after each sign of life of its executor, in seconds.",
    )
    lease_sweep_seconds: float = Field(
        default=5.0, gt=0, description="How often runs whose lease ran out are looked for and interrupted, in seconds."
    )
    subagent_depth: int = Field(
        default=5, ge=1, le=100, description="How deep subagents may spawn subagents: the most spawns above one."
    )
    subagents_per_run: int = Field(default=50, ge=1, le=1000, description="Most subagents that one run may spawn.")
    providers: dict[str, dict[str, object]] = Field(
        default={}, description="Provider instances by key: the driver of each and the settings of that driver."
    )

    @field_validator("neo4j_uri")
    @classmethod
    def _known_scheme(cls, value: str | None) -> str | None:
        if value is not None and value.partition("://")[0] not in _BOLT_SCHEMES:
            raise ValueError(f"a Neo4j address starts with one of {', '.join(s + '://' for s in _BOLT_SCHEMES)}")
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if self.neo4j_uri is not None and self.neo4j_password is None:
            raise ValueError("PLAIT_NEO4J_URI is set, so PLAIT_NEO4J_PASSWORD must be set as well")
        if self.local_heap_initial_mb > self.local_heap_max_mb:
            raise ValueError("PLAIT_LOCAL_HEAP_INITIAL_MB must not be larger than PLAIT_LOCAL_HEAP_MAX_MB")
        if self.max_text_bytes > self.max_body_bytes:
            raise ValueError("PLAIT_MAX_TEXT_BYTES must not be larger than PLAIT_MAX_BODY_BYTES")
        return self


def load_settings(**overrides: object) -> Settings:
    """The settings of the environment, with `overrides` (of the command line) before it; `None` overrides nothing.

    Raises `SettingsError` with one line for each value that can't be used; it never repeats a value.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(detail["loc"], detail["msg"]) for detail in error.errors())) from None
    except ValueError as error:  # pydantic-settings: a JSON field that is no JSON; its cause says where
        raise SettingsError(f"{_JSON_VARIABLE}: not valid JSON: {error.__cause__ or error}") from None


def unknown_variables() -> list[str]:
    """Names in the environment that look like settings and are none: a misspelt one would otherwise just do nothing.

    It is no error, as platforms put variables of their own there (`PLAIT_SERVICE_HOST`, for a service of that name).
    """
    known = {ENV_PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(
        name for name in os.environ if name.startswith(ENV_PREFIX) and name.upper().partition("__")[0] not in known
    )


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    what = message.removeprefix("Value error, ")
    if not location:
        return what
    name = ENV_PREFIX + "__".join(str(part) for part in location).upper()
    return f"{name}: {what[0].lower()}{what[1:]}"
