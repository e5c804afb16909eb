"""The questions, in the order they are asked: each a module with `ask(lab)`, which gives rows of the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bench.lab import Lab
from bench.measure import Row
from bench.questions import cold_start, first_run, large_graph, long_source, merge_base, overhead, planning, throughput

QUESTIONS: dict[str, Callable[[Lab], Awaitable[list[Row]]]] = {
    "overhead": overhead.ask,
    "throughput": throughput.ask,
    "start": cold_start.ask,
    "length": long_source.ask,
    "first-run": first_run.ask,
    "planning": planning.ask,
    "merge-base": merge_base.ask,
    "graph": large_graph.ask,
}
"""By the names that `--only` takes. Memory is looked at after the load, and before the large sources."""
