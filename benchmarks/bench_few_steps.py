"""Quality against network evaluations: every solver on a trained run, and how fast it draws.

    python benchmarks/bench_few_steps.py RUN [--windows 1000] [--seeds 3] [--evaluations 5,10,20,50]

For each solver and number of evaluations: Context-FID, discriminative score and windows a second
of processor time, beside the floor. Written point by point to ``docs/results/few_steps/DATA.json``
(one that is there is not measured again); the tables are made by ``benchmarks/tables.py write``.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
from ml_collections import ConfigDict

from pacodi_jax import run
from pacodi_jax.evaluate import sample_key
from pacodi_jax.metrics.cache import Cache, default_folder
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "few_steps"
SCORES = ("context_fid_v1", "discriminative_v1")
#: The times on which each solver does best (docs/solvers.md).
GRIDS = {
    "wiener_ab2": "log_snr",
    "dpmpp_2m": "log_snr",
    "sde_dpmpp_2m": "log_snr",
    "heun": "log_snr",
    "ddim": "log_snr",
    "ancestral": "uniform",
    "euler_maruyama": "uniform",
}


def draw(folder: str, solver: str, evaluations: int, count: int) -> tuple[Any, float]:
    """Draws windows, not calibrated; returns them and how many a second a further batch made.

    The second is one of processor time, which other programs on the machine change little.
    """
    config = run.load(folder).config
    steps = evaluations // 2 if solver == "heun" else evaluations
    wanted = {"solver": solver, "grid": GRIDS[solver], "steps": steps}
    batch = min(count, 250)
    sample = ConfigDict({**config.sample.to_dict(), **wanted, "batch": batch})
    trained = run.load(folder, ConfigDict({**config.to_dict(), "sample": sample.to_dict()}))
    trained = replace(trained, generator=replace(trained.generator, calibration=None))
    windows = trained.sample(sample_key(0), count)
    start = time.process_time()
    jax.block_until_ready(trained.generator.sample(sample_key(1), trained.params, batch))
    return windows, batch / (time.process_time() - start)


def measure(folder: str, evaluations: list[int], count: int, seeds: int) -> Path:
    """Measures every point that is not there yet."""
    trained = run.load(folder)
    dataset = run.load_data(trained.config)
    real = trained.recipe.unscale(dataset.train.values())
    path = OUT / f"{trained.recipe.source}-{trained.config.data.length}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"model": trained.card, "windows": count, "seeds": seeds, "points": {}}
    record = json.loads(path.read_text()) if path.exists() else facts
    for fact in ("model", "windows", "seeds"):
        if record[fact] != facts[fact]:
            raise SystemExit(f"{path} was measured with another {fact}; move it away to start anew")
    budget = Budget(seeds=tuple(range(seeds)), windows=count)
    for solver in GRIDS:
        for number in evaluations:
            name = f"{solver}/{number}"
            if name in record["points"]:
                continue
            windows, speed = draw(folder, solver, number, count)
            panel = score_panel(
                real, windows, budget=budget, cache=Cache(default_folder()), only=SCORES
            )
            found = {score["name"]: score for score in panel["scores"]}
            point = {"grid": GRIDS[solver], "windows_per_second": speed}
            for score in SCORES:
                point[score] = found[score]["values"]
                record[f"floor/{score}"] = found[score]["floor"]["values"]
            record["points"][name] = point
            path.write_text(json.dumps(record, indent=1) + "\n")
            told = ", ".join(f"{score} {found[score]['value']:.4f}" for score in SCORES)
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
