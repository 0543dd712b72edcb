"""What a perfect generator would score: a block bootstrap of train, scored against train.

    python benchmarks/bench_history.py [etth1 stocks sines air] [--length 24] [--histories 20]

Windows of a series overlap, so other windows of train are nearly the same windows, and the judge's
floor is about what a copy of train would score. A generator that has learned the process differs
from train by the sampling error of the one observed history. The block bootstrap estimates that
error: train stands for the process, and blocks of train, several windows long and drawn with
replacement, stand for another history. Written to ``docs/results/history.json``; the table is made
by ``benchmarks/tables.py write``.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from results_format import SETS

from pacodi_jax.configs import presets
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.cache import default_cache
from pacodi_jax.metrics.draws import LEAST
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import SEEDS, Budget
from pacodi_jax.run import parts

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "results" / "history.json"
SCORES = ("context_fid_v1", "correlational_v1")
BLOCKS = (1, 7, 28)  # windows' lengths
SHORT = 24


def other_history(starts: np.ndarray, block: int, seed: int) -> np.ndarray:
    """Rows of the windows of another history, at least as long as this one.

    Args:
      starts: ``(N,)``, the step at which each window begins.
      block: steps; windows that begin in the same block stay together.
      seed: of the history.
    """
    names, member = np.unique(starts // block, return_inverse=True)
    rows = [np.flatnonzero(member == b) for b in range(len(names))]
    rng = np.random.default_rng(seed)
    drawn: list[np.ndarray] = []
    while sum(map(len, drawn)) < len(starts):
        drawn.append(rows[rng.integers(len(names))])
    return np.concatenate(drawn)


def key(data: str, length: int) -> str:
    """How the record calls a data set: by its name, with the length unless it is 24."""
    return data if length == SHORT else f"{data}-{length}"


def measure(data: str, length: int, histories: int, limit: int) -> dict[str, Any]:
    """Scores other histories of a data set against its train windows, the judge's seeds in turn."""
    train = parts.load_data(presets.config_of(data, {"length": str(length)})).train.once()
    real = train.recipe.deliver(train.values())[..., train.recipe.scaler.live]
    count = min(limit, len(real))
    found: dict[str, Any] = {name: {"floor": {}} for name in SCORES}
    for block in BLOCKS:
        for history in range(histories):
            rows = other_history(train.starts, block * train.length, history)
            seed = SEEDS[history % len(SEEDS)]
            panel = score_panel(
                real,
                real[rows],
                budget=Budget(seeds=(seed,), windows=count),
                cache=default_cache(),
                only=SCORES,
            )
            for score in panel.scores:
                values = found[score.name]
                values.setdefault(str(block), []).append(score.value)
                values["floor"][str(seed)] = score.floor.value
        print(f"{data}, blocks of {block * train.length} steps: {histories} histories", flush=True)
    return {"windows": count, "train": len(real), "scores": found}


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line; all data sets unless some are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help=f"of {', '.join(SETS)}; all by default")
    parser.add_argument("--length", type=int, default=SHORT, help=f"steps per window ({SHORT})")
    parser.add_argument("--histories", type=int, default=20, help="per size of blocks (20)")
    parser.add_argument("--windows", type=int, default=3000, help="the most per side (3000)")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.data if name not in SETS]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(SETS)}")
    if given.histories < 1 or given.windows < LEAST:
        parser.error(f"at least one history, and {LEAST} windows of it")
    if given.length < 2:
        parser.error("--length of 2 or more")
    given.data = given.data or list(SETS)
    return given


def main() -> None:
    """Measures the data sets named, and keeps the others' figures."""
    given = parse(sys.argv[1:])
    record = json.loads(OUT.read_text()) if OUT.exists() else {}
    for data in given.data:
        try:
            found = measure(data, given.length, given.histories, given.windows)
            record[key(data, given.length)] = found
        except PacodiError as error:
            raise SystemExit(f"error: {error}") from None
        OUT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
