"""A run of a few hundred steps, and how far its samples are from real windows."""

import json
from pathlib import Path

import numpy as np

from pacodi_jax.metrics.surrogates import shuffled
from pacodi_jax.metrics.transport import sliced_wasserstein
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import Outcome, train


def table(rows: int = 600) -> np.ndarray:
    """Two channels of one noisy wave, the second late."""
    rng, steps = np.random.default_rng(0), np.arange(rows)
    waves = np.stack([np.sin(steps / 1.7), np.sin((steps - 2) / 1.7)], axis=1)
    return waves + 0.1 * rng.normal(size=(rows, 2))


def learned(config: Config, workdir: Path) -> tuple[Outcome, list[float]]:
    """A run on :func:`table`, and its validation scores."""
    outcome = train(config.changed({"data.length": 8}), workdir, table=table())
    lines = (workdir / "metrics.jsonl").read_text().splitlines()
    return outcome, [line["validation"] for line in map(json.loads, lines) if "validation" in line]


def distances(outcome: Outcome, count: int = 300) -> tuple[float, float]:
    """How far samples, and shuffled real windows, are from real ones: sliced Wasserstein."""
    model = outcome.model
    real = model.recipe.deliver(outcome.dataset.train.values())
    made = model.draw(count).values

    def far(windows: np.ndarray) -> float:
        return sliced_wasserstein(real, windows, seed=0)

    return far(made), far(shuffled(real, seed=0))
