"""Quality against network evaluations: every solver on a trained run, and how fast it draws.

    python benchmarks/bench_few_steps.py RUN [--windows 1000] [--seeds 3] [--evaluations 5,10,20,50]

For each solver and number of evaluations: Context-FID, discriminative score and windows per second
of processor time, beside the floor. Written point by point to ``docs/results/few_steps/DATA.json``
(one that is there is not measured again); the tables are made by ``benchmarks/tables.py write``.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from pacodi_jax.metrics.cache import default_cache
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import Trained, sample_key

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "few_steps"
SCORES = ("context_fid_v1", "discriminative_v1")
#: The times on which each solver does best (docs/explanation/solvers.md).
GRIDS = {
    "wiener_ab2": "log_snr",
    "dpmpp_2m": "log_snr",
    "sde_dpmpp_2m": "log_snr",
    "heun": "log_snr",
    "ddim": "log_snr",
    "ancestral": "uniform",
    "euler_maruyama": "uniform",
}


def uncalibrated(run: str) -> Trained:
    """The model of a run without the calibration of its samples."""
    trained = folder.load(run)
    arrays = {name: part for name, part in trained.arrays.items() if name != "calibration"}
    return replace(trained, arrays=arrays)


def draw(trained: Trained, solver: str, evaluations: int, count: int) -> tuple[np.ndarray, float]:
    """Draws windows; returns them and the windows per second of a second batch.

    Seconds are of processor time, which depends little on other programs on the machine.
    """
    steps = evaluations // 2 if solver == "heun" else evaluations
    batch = min(count, 250)
    how = {"solver": solver, "grid": GRIDS[solver], "steps": steps, "batch": batch}
    windows = trained.draw(count, seed=0, **how).values
    start = time.process_time()
    trained.draw_scaled(sample_key(1), batch, **how)
    return windows, batch / (time.process_time() - start)


def measure(run: str, evaluations: list[int], count: int, seeds: int) -> Path:
    """Measures every point that is not there yet."""
    trained = uncalibrated(run)
    dataset = parts.load_data(trained.config)
    live = trained.recipe.scaler.live
    real = trained.recipe.deliver(dataset.train.values())[..., live]
    path = OUT / f"{trained.recipe.source}-{trained.config.data.length}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"model": trained.facts, "windows": count, "seeds": seeds, "points": {}}
    record = json.loads(path.read_text()) if path.exists() else facts
    for fact in ("model", "windows", "seeds"):
        if record[fact] != facts[fact]:
            raise SystemExit(
                f"{path} was measured with another {fact}; move it away to start again"
            )
    budget = Budget(seeds=tuple(range(seeds)), windows=count)
    for solver in GRIDS:
        for number in evaluations:
            name = f"{solver}/{number}"
            if name in record["points"]:
                continue
            windows, speed = draw(trained, solver, number, count)
            panel = score_panel(
                real, windows[..., live], budget=budget, cache=default_cache(), only=SCORES
            )
            point = {"grid": GRIDS[solver], "windows_per_second": speed}
            for score in panel.scores:
                point[score.name] = score.measured.values
                record[f"floor/{score.name}"] = score.floor.values
            record["points"][name] = point
            path.write_text(json.dumps(record, indent=1) + "\n")
            told = ", ".join(f"{score.name} {score.value:.4f}" for score in panel.scores)
            print(f"{name:24s} {told}, {speed:8.0f} windows/s", flush=True)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run")
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", default="5,10,20,50,100,500")
    given = parser.parse_args()
    numbers = [int(number) for number in given.evaluations.split(",")]
    print(measure(given.run, numbers, given.windows, given.seeds))
