"""Discriminative score: accuracy of a small recurrent classifier of real and synthetic windows."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.metrics import gru
from pacodi_jax.metrics.descent import descend
from pacodi_jax.metrics.inputs import checked
from pacodi_jax.metrics.minibatches import batch_rows, by_chunks, divide, padded
from pacodi_jax.types import Array

STEPS = 2000
BATCH = 128


@jax.jit
def _train(params: gru.Params, real: Array, synthetic: Array, rows: Array) -> gru.Params:
    """Trains on rows ``(steps, 2, batch)`` of windows ``(N, L, C)``; returns the weights."""

    def loss(params: gru.Params, rows: Array) -> Array:
        batch = jnp.concatenate([real[rows[0]], synthetic[rows[1]]]).transpose(1, 2, 0)
        labels = jnp.repeat(jnp.array([1.0, 0.0]), rows.shape[1])
        logits = gru.read(params, gru.run(params, batch)[-1])
        return 2 * optax.sigmoid_binary_cross_entropy(logits, labels).mean()

    return descend(loss, params, optax.adam(gru.LEARNING_RATE), rows)


@jax.jit
def _called_real(params: gru.Params, windows: Array) -> Array:
    return gru.read(params, gru.run(params, windows.transpose(1, 2, 0))[-1]) > 0


@checked(at_least=10)
def discriminative_score(
    real: np.ndarray, synthetic: np.ndarray, *, seed: int, steps: int = STEPS
) -> float:
    """|accuracy − ½| of a GRU classifier on the fifth of the windows it was not trained on.

    Hidden width max(1, C // 2), batches of 128 per side, Adam at 1e-3. 0 is indistinguishable, ½ is
    always recognised. After Yoon et al., "Time-series Generative Adversarial Networks", 2019.

    Args:
      real: ``(N, L, C)``, scaled to [0, 1].
      synthetic: ``(M, L, C)``, in the same scale.
      seed: of the division, the weights and the batches.
      steps: of training; the published protocol has 2000.
    """
    rng = np.random.default_rng(seed)
    real_train, real_test = divide(rng, real)
    synthetic_train, synthetic_test = divide(rng, synthetic)
    rows = np.stack(
        [batch_rows(rng, len(part), BATCH, steps) for part in (real_train, synthetic_train)], axis=1
    )
    channels = real.shape[-1]
    start = gru.init(seed, channels, max(1, channels // 2))
    params = _train(start, padded(real_train), padded(synthetic_train), rows)
    called = [
        by_chunks(partial(_called_real, params), part) for part in (real_test, synthetic_test)
    ]
    right = called[0].sum() + (~called[1]).sum()
    return float(abs(right / (len(real_test) + len(synthetic_test)) - 0.5))
