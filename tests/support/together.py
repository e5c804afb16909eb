"""Calls made at the same moment, and what became of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.support.client import Refusal


def together(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What `count` calls give that all start at once, each told its number: its answer, or the `Refusal` it met."""
    gate = threading.Barrier(count)

    def one(number: int) -> Any:
        gate.wait()
        try:
            return call(number)
        except Refusal as refusal:
            return refusal

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def answers(made: Sequence[Any]) -> list[Any]:
    return [result for result in made if not isinstance(result, Refusal)]


def refusals(made: Sequence[Any]) -> list[Refusal]:
    return [result for result in made if isinstance(result, Refusal)]
