"""Small runs of baselines: a table with structure, and what was learned of it."""

from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from pacodi_jax.metrics.surrogates import shuffled
from pacodi_jax.metrics.transport import sliced_wasserstein
from pacodi_jax.models import Batch
from pacodi_jax.run import parts
from pacodi_jax.settings import Config
from pacodi_jax.train import from_config, optimiser

LENGTH = 8
#: Windows drawn; T2S pays for each as for a much longer one.
DRAWN = 128


def waves(channels: int = 2, rows: int = 600) -> pd.DataFrame:
    """Sines with noise, a period of 16 steps, the channels shifted against one another."""
    steps = np.arange(rows)[:, None] / 16 + np.arange(channels) / 8
    noise = np.random.default_rng(0).normal(size=(rows, channels))
    values = np.sin(2 * np.pi * steps) + 0.1 * noise
    return pd.DataFrame({f"c{i}": column for i, column in enumerate(values.T)})


class Learned(NamedTuple):
    """What came of a run.

    Attributes:
      before: the validation score of the first weights.
      after: that of the last.
      distance: of samples to training windows, sliced Wasserstein in the model's scale.
      surrogate: of training values shuffled over windows and steps.
    """

    before: float
    after: float
    distance: float
    surrogate: float


def learn(name: str, table: pd.DataFrame, **changes: Any) -> Learned:
    """Trains a tiny model in memory and judges it by cheap measures."""
    plain = {"data.length": LENGTH, "train.batch": 32}
    config = Config.default(name, "tiny").changed(plain | changes)
    outcome = from_config.train(config, table=table)
    model, real = outcome.model, outcome.dataset.train.values()
    generator = parts.build_generator(config, model.shape, model.arrays, optimiser.build)
    score = from_config.validator(generator, outcome.dataset.validation, 32)
    first = jax.jit(generator.init)(jax.random.key(config.seed), Batch(real[:2], np.arange(2)))
    drawn = generator.sample(jax.random.key(1), model.weights, DRAWN)
    destroyed = shuffled(real, seed=0)
    distances = [sliced_wasserstein(real, made, seed=0) for made in (drawn, destroyed)]
    return Learned(score(first), score(outcome.run.state), *distances)
