"""What a perfect generator would score: train against another history of the same process.

    python launch/bench_history.py [etth1 stocks sines air] [--histories 20] [--windows 3000]

Windows of a series overlap, so two random halves of them tell the same story twice, and the judge's
floor is what a copy of train would score. A generator that had learned the process, and not these
very weeks of it, would stand as far from train as train stands from another history. How far that
is, the block bootstrap tells: weeks of train (7 windows' lengths) drawn with replacement make the
other history. Written to ``docs/results/history.json``; the table is made by
``launch/tables.py write``.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the configs

from pacodi_jax import run  # noqa: E402
from pacodi_jax.metrics.cache import Cache, default_folder  # noqa: E402
from pacodi_jax.metrics.panel import score_panel, summarise  # noqa: E402
from pacodi_jax.metrics.registry import SEEDS, Budget  # noqa: E402

OUT = ROOT / "docs" / "results" / "history.json"
SCORES = ("context_fid_v1", "correlational_v1")
BLOCK = 7  # windows' lengths
SETS = ["etth1", "stocks", "sines", "air"]


def other_history(starts: np.ndarray, block: int, count: int, seed: int) -> np.ndarray:
    """Rows of ``count`` windows of a history that blocks of this one, drawn again, make up.

    Args:
      starts: ``(N,)``, the step at which each window begins.
      block: steps; windows that begin in the same block stay together.
      count: how many windows to draw, without replacement if the history has as many.
      seed: of the history.
    """
    rng = np.random.default_rng(seed)
    names, member = np.unique(starts // block, return_inverse=True)
    rows = [np.flatnonzero(member == b) for b in rng.integers(0, len(names), len(names))]
    history = np.concatenate(rows)
    return rng.choice(history, count, replace=count > len(history))


def measure(data: str, histories: int, limit: int) -> dict[str, Any]:
    """Scores other histories of a data set against its train windows, the judge's seeds in turn."""
    config = importlib.import_module(f"configs.{data}").get_config()
    train = run.load_data(config).train.once()
    real = train.recipe.unscale(train.values())[..., train.recipe.scaler.live]
    count = min(limit, len(real))
    found: dict[str, dict[str, list[float]]] = {name: {} for name in SCORES}
    for seed in range(histories):
        rows = other_history(train.starts, BLOCK * train.length, count, seed)
        budget = Budget(seeds=(SEEDS[seed % len(SEEDS)],), windows=count)
        cache = Cache(default_folder())
        panel = score_panel(real, real[rows], budget=budget, cache=cache, only=SCORES)
        for score in panel["scores"]:
            values = found[score["name"]]
            values.setdefault("history", []).append(score["value"])
            if seed < len(SEEDS):  # after that the floors come again
                values.setdefault("floor", []).append(score["floor"]["value"])
    told = {score: {k: summarise(v) for k, v in parts.items()} for score, parts in found.items()}
    steps = train.starts // (BLOCK * train.length)
    return {"windows": count, "blocks": len(np.unique(steps)), "scores": told}


def main() -> None:
    """Measures the data sets named, and keeps the others' figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", choices=SETS)
    parser.add_argument("--histories", type=int, default=20)
    parser.add_argument("--windows", type=int, default=3000)
    given = parser.parse_args()
    record = json.loads(OUT.read_text()) if OUT.exists() else {}
    for data in given.data or SETS:
        record[data] = measure(data, given.histories, given.windows)
        OUT.write_text(json.dumps(record, indent=1) + "\n")
        for name, parts in record[data]["scores"].items():
            told = ", ".join(f"{k} {v['value']:.4f}" for k, v in parts.items())
            print(f"{data:8s} {name:18s} {told}", flush=True)


if __name__ == "__main__":
    main()
