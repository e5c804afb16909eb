"""How large the benchmarks are: the sizes of `--quick`, for trying out, and those of a full run, which count."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of one run. `…_samples` count pairs; `…_seconds` are lengths of one window of load."""

    name: str
    warm_forks: int
    """Forks before anything is measured: Java compiles what it runs often, and that takes thousands of them."""
    cold_starts: int
    overhead_samples: int
    overhead_windows: int
    overhead_seconds: float
    throughput_windows: int
    throughput_seconds: float
    long_runs: int
    """Runs of the long thread that forks are taken from; the short one has `SHORT_RUNS`."""
    length_samples: int
    resolution_samples: int
    stretch_runs: int
    """Runs that the long thread of `planning` has on one provider thread before the next; the short one has a tenth."""
    planning_samples: int
    merge_rounds: int
    """Merged diamonds, and on each of two branches merges with four generations to each."""
    merge_samples: int
    large_threads: int
    """Threads of the large graph; the small one has `SMALL_THREADS`."""
    graph_samples: int
    graph_warm_forks: int


SHORT_RUNS = 10
SMALL_THREADS = 1_000
TOLD_RUNS = (100, 10_000)
"""Runs of the two threads whose context is built; each alone is larger than the default budget of a handoff."""
STRETCHES = (5, 50)
"""Provider threads of the two threads whose starts are planned."""
CLIENTS = 8

QUICK = Scale(
    name="quick",
    warm_forks=1_500,
    cold_starts=1,
    overhead_samples=200,
    overhead_windows=3,
    overhead_seconds=1.5,
    throughput_windows=2,
    throughput_seconds=3.0,
    long_runs=10_000,
    length_samples=200,
    resolution_samples=20,
    stretch_runs=20,
    planning_samples=40,
    merge_rounds=50,
    merge_samples=10,
    large_threads=100_000,
    graph_samples=200,
    graph_warm_forks=300,
)
FULL = Scale(
    name="full",
    warm_forks=10_000,
    cold_starts=3,
    overhead_samples=1_000,
    overhead_windows=8,
    overhead_seconds=3.0,
    throughput_windows=4,
    throughput_seconds=8.0,
    long_runs=100_000,
    length_samples=1_000,
    resolution_samples=60,
    stretch_runs=200,
    planning_samples=200,
    merge_rounds=500,
    merge_samples=40,
    large_threads=1_000_000,
    graph_samples=1_000,
    graph_warm_forks=4_000,
)
