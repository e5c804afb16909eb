"""The settings: each is documented, and nothing else reads the environment."""

from __future__ import annotations

import re
from pathlib import Path

import plait
from plait.settings import Settings

PACKAGE = Path(plait.__file__).parent


def test_every_setting_says_what_it_means() -> None:
    undocumented = [name for name, field in Settings.model_fields.items() if not field.description]

    assert undocumented == []


def test_one_module_reads_settings_from_the_environment() -> None:
    reading = re.compile(r"os\.(environ(\.get\(|\[)|getenv)")

    readers = [file.name for file in PACKAGE.rglob("*.py") if reading.search(file.read_text(encoding="utf-8"))]

    assert readers == []
