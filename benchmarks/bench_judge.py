"""Where the judge's time goes: processor seconds of every score, first with its compilation.

  python benchmarks/bench_judge.py REAL.npy SYNTHETIC.npy [--seeds 2]

Prints one line per score: the first run (with compilation), a further one, and how many a
verdict of five seeds takes; then the total that ``effort.seconds`` announces.
"""

import argparse
import time

import numpy as np

from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.metrics import draws, effort, memorisation, panel, registry
from pacodi_jax.metrics.cache import Cache
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.metrics.representations import encoders
from pacodi_jax.metrics.threads import one_thread


def _timed(measurement: panel.Measurement, windows: draws.Windows, limit: int) -> float:
    start = time.process_time()
    measurement.run(windows, limit)
    return time.process_time() - start


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("real")
    parser.add_argument("synthetic")
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    reuse_memory()
    budget = Budget(seeds=tuple(range(asked.seeds)))
    windows = draws.prepare(np.load(asked.real), np.load(asked.synthetic))
    metrics = registry.paper_metrics(budget, encoders(windows, budget, Cache(None)))
    metrics += (*registry.further_metrics(budget), memorisation.metric(windows))
    print("| score | first, s | further, s | per verdict |\n|---|---:|---:|---:|")
    with one_thread():
        for metric in metrics:
            took = [
                _timed(panel.Measurement(metric, "train", role, seed), windows, budget.windows)
                for seed in budget.seeds
                for role in ("score", "floor")
            ]
            count = 2 * 5 + (panel.CEILINGS if metric.trained else 5)
            print(f"| {metric.name} | {took[0]:.2f} | {np.median(took[2:]):.2f} | {count} |")
    five = [
        (m.name, seed)
        for m in metrics
        for role in panel.ROLES
        for seed in range(panel.CEILINGS if m.trained and role == "ceiling" else 5)
    ]
    print(f"\nannounced: {effort.seconds(five, windows.real.shape, Budget()):.0f} s")


if __name__ == "__main__":
    main()
