"""Compares the paper's four scores with an independent reference on pairs of window sets.

  python benchmarks/calibrate_metrics.py FOLDER [--seeds 5] [--only context_fid,…]

FOLDER holds ``NAME.npz`` files with arrays ``real`` and ``fake`` (N, L, C), scaled to [0, 1], and
``reference.json``: ``{NAME: {score: {"mean", "std", "values"}}}``. Prints a table, says which means
agree, and exits with 1 unless all do and every score ranks the pairs as the reference does (pairs
that the reference does not separate are left out).
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

from pacodi_jax.data.files import read_array
from pacodi_jax.metrics import (
    context_fid,
    correlational_score,
    discriminative_score,
    predictive_score,
)

SCORES = {
    "context_fid": context_fid,
    "discriminative": discriminative_score,
    "predictive": predictive_score,
    "correlational": correlational_score,
}
#: What counts as agreement, beside two standard deviations: (share of the reference, absolute).
TOLERANCE = {
    "context_fid": (0.20, 0.0),
    "discriminative": (0.0, 0.02),
    "predictive": (0.05, 0.003),
    "correlational": (0.05, 0.003),
}


def agrees(score: str, values: list[float], reference: dict) -> bool:
    """Whether the mean over seeds lies within the tolerance of the reference's mean."""
    share, absolute = TOLERANCE[score]
    allowed = max(share * reference["mean"], absolute, 2 * reference["std"])
    return abs(float(np.mean(values)) - reference["mean"]) <= allowed


def same_order(score: str, measured: dict, reference: dict) -> bool:
    """Whether pairs that the reference sets apart by two standard deviations rank as there."""
    for first in measured:
        for second in measured:
            there, other = reference[first][score], reference[second][score]
            apart = other["mean"] - there["mean"] > 2 * max(there["std"], other["std"])
            if apart and np.mean(measured[first]) >= np.mean(measured[second]):
                return False
    return True


def measure(folder: Path, names: list[str], scores: list[str], seeds: int) -> dict:
    """Returns ``{score: {pair: values over seeds}}``."""
    measured: dict[str, dict[str, list[float]]] = {score: {} for score in scores}
    todo = [(score, name) for score in scores for name in names]
    for score, name in tqdm(todo, desc="calibrating", disable=not sys.stderr.isatty()):
        pair = [read_array(folder / f"{name}.npz", name=side) for side in ("real", "fake")]
        measured[score][name] = [SCORES[score](*pair, seed=seed) for seed in range(seeds)]
    return measured


def main() -> int:
    """Prints the comparison and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default=",".join(SCORES), help="scores, separated by commas")
    arguments = parser.parse_args()
    reference = json.loads((arguments.folder / "reference.json").read_text())
    scores, names = arguments.only.split(","), sorted(reference)
    start = time.process_time()
    measured = measure(arguments.folder, names, scores, arguments.seeds)
    good = True
    print("| score | pair | here: mean ± std | reference: mean ± std | agrees |")
    print("|---|---|---|---|---|")
    for score in scores:
        for name in names:
            values, there = measured[score][name], reference[name][score]
            fits = agrees(score, values, there)
            good &= fits
            print(
                f"| {score} | {name} | {np.mean(values):.4f} ± {np.std(values):.4f} "
                f"| {there['mean']:.4f} ± {there['std']:.4f} | {'yes' if fits else 'NO'} |"
            )
        ours = sorted(names, key=lambda n: np.mean(measured[score][n]))
        theirs = sorted(names, key=lambda n: reference[n][score]["mean"])
        fits = same_order(score, measured[score], reference)
        good &= fits
        order = f"{' < '.join(ours)} | {' < '.join(theirs)}"
        print(f"| {score} | rank | {order} | {'yes' if fits else 'NO'} |")
    print(f"\n{arguments.seeds} seeds, {time.process_time() - start:.0f} s of CPU time")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
