"""Predictive score: train on synthetic, test on real."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.metrics import gru
from pacodi_jax.metrics.descent import descend
from pacodi_jax.metrics.inputs import checked
from pacodi_jax.metrics.minibatches import batch_rows, by_chunks, padded
from pacodi_jax.types import Array

STEPS = 5000
BATCH = 128


def _predict(params: gru.Params, inputs: Array) -> Array:
    """Predictions ``(L − 1, B)`` in (0, 1) from inputs ``(L − 1, I, B)``."""
    return jax.nn.sigmoid(gru.read(params, gru.run(params, inputs)))


def _task(windows: Array) -> tuple[Array, Array]:
    """Inputs ``(L − 1, I, B)`` and targets ``(L − 1, B)`` of windows ``(B, L, C)``."""
    series = windows.transpose(1, 2, 0)
    inputs = series[:-1, :-1] if series.shape[1] > 1 else series[:-1]
    return inputs, series[1:, -1]


@jax.jit
def _train(params: gru.Params, windows: Array, rows: Array) -> gru.Params:
    """Trains on rows ``(steps, batch)`` of windows ``(N, L, C)``; returns the weights."""

    def loss(params: gru.Params, rows: Array) -> Array:
        inputs, targets = _task(windows[rows])
        return jnp.abs(_predict(params, inputs) - targets).mean()

    return descend(loss, params, optax.adam(gru.LEARNING_RATE), rows)


@jax.jit
def _errors(params: gru.Params, windows: Array) -> Array:
    """The mean absolute error of each of the windows ``(B,)``."""
    inputs, targets = _task(windows)
    return jnp.abs(_predict(params, inputs) - targets).mean(axis=0)


@checked(at_least=10)
def predictive_score(
    real: np.ndarray, synthetic: np.ndarray, *, seed: int, steps: int = STEPS
) -> float:
    """Mean absolute error on real windows of a GRU forecaster trained on synthetic ones.

    It predicts the last channel one step ahead from the others (a single channel from itself),
    hidden width max(1, inputs // 2), sigmoid output, batches of 128, Adam at 1e-3. After Yoon et
    al., "Time-series Generative Adversarial Networks", 2019.

    Args:
      real: ``(N, L, C)``, scaled to [0, 1].
      synthetic: ``(M, L, C)``, in the same scale.
      seed: of the weights and the batches.
      steps: of training; the published protocol has 5000.
    """
    rng = np.random.default_rng(seed)
    rows = batch_rows(rng, len(synthetic), BATCH, steps)
    inputs = max(1, real.shape[-1] - 1)
    start = gru.init(seed, inputs, max(1, inputs // 2))
    params = _train(start, padded(synthetic), rows)
    return float(by_chunks(partial(_errors, params), real).mean(dtype=np.float64))
