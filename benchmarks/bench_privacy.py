"""What trained runs give away of their training windows, and whether they wrap around.

    python benchmarks/bench_privacy.py RUN …               attacks on trained runs
    python benchmarks/bench_privacy.py --memorise 4000     on a run that memorises on purpose

Prints the attacks, the verdict's words and the score of the ends of windows, each beside what a
Gaussian surrogate of train gets, and keeps them in ``docs/results/privacy.json``.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from pacodi_jax import files
from pacodi_jax.data import Dataset
from pacodi_jax.metrics import copying
from pacodi_jax.metrics.attack import gaussian
from pacodi_jax.metrics.audit import audit
from pacodi_jax.metrics.ends import end_values, window_ends_distance
from pacodi_jax.run import folder, parts
from pacodi_jax.run.membership import loss_attack
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import train

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "privacy.json"
TINY = {"data.source": "table", "data.length": 8, "data.split": "blocks", "data.block": 24}
TINY |= {"data.fractions": (0.4, 0.1, 0.5), "train.calibration": 0, "train.validate_every": 0.5}


def memoriser(steps: int) -> tuple[Trained, Dataset]:
    """A run of far too many steps on 240 rows of an AR(1) process."""
    noise = np.random.default_rng(0).standard_normal((240, 2))
    rows = np.zeros_like(noise)
    for step in range(1, len(rows)):
        rows[step] = 0.8 * rows[step - 1] + noise[step]
    config = Config.default("pacodi", "small").changed(TINY | {"train.steps": steps})
    outcome = train(config, table=rows)
    return outcome.model, outcome.dataset


def looked_at(real: tuple, made: np.ndarray, attacks: tuple = ()) -> dict:
    """The audit of synthetic windows and the score of their ends, as a record."""
    own, unseen, starts = real
    memorisation, privacy = audit(own, made, unseen, starts)
    privacy = replace(privacy, attacks=(*privacy.attacks, *attacks))
    jump, usual = (end_values(windows)[2].std(axis=0) for windows in (made, own))
    return {
        "says": copying.alarms(memorisation, privacy),
        "ratio": memorisation.ratio,
        "attacks": [attack.record() for attack in privacy.attacks],
        "ends": window_ends_distance(own, made, seed=0),
        "jump": float((jump / usual).mean()),
    }


def measured(trained: Trained, dataset: Dataset, count: int) -> dict:
    """What a run gives away, beside a surrogate; and the ends of its windows, beside real ones."""
    recipe, live, once = dataset.recipe, trained.recipe.scaler.live, dataset.train.once()
    own, unseen = (recipe.deliver(p.values())[..., live] for p in (once, dataset.held_out))
    real, halves = (own, unseen, once.starts), np.random.default_rng(0).permutation(len(own))
    attack = loss_attack(trained, dataset, seed=0)
    made = trained.draw(count, seed=0).values[..., live]
    some = own[:: max(len(own) // 3000, 1)]
    return {
        "windows": {"train": len(own), "unseen": len(unseen), "synthetic": count},
        "run": looked_at(real, made, () if attack is None else (attack,)),
        "surrogate": looked_at(real, gaussian(some, count, seed=1)),
        "ends_floor": window_ends_distance(*np.array_split(own[halves], 2), seed=0),
    }


def main() -> None:
    """Reads the flags and measures each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--memorise", type=int, help="steps of a run that memorises")
    parser.add_argument("--count", type=int, default=3000, help="windows to draw")
    options = parser.parse_args()
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    for run in options.runs:
        trained = folder.load(run)
        kept[run.name] = measured(trained, parts.load_windows(trained.config), options.count)
        print(run.name, json.dumps(kept[run.name], indent=1), flush=True)
    if options.memorise:
        name = f"memorising, {options.memorise} steps"
        kept[name] = measured(*memoriser(options.memorise), 400)
        print(name, json.dumps(kept[name], indent=1), flush=True)
    files.write_text(OUT, json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
