"""A stronger discriminator: a small transformer, which recognises phase-randomised copies."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.metrics.descent import descend
from pacodi_jax.metrics.inputs import checked
from pacodi_jax.metrics.minibatches import batch_rows, by_chunks, divide, padded
from pacodi_jax.types import Array, Key

STEPS = 500
BATCH = 32
WIDTH = 32
DEPTH = 2
HEADS = 4
#: Windows longer than this are read in patches, so that attention stays cheap.
TOKENS = 32
PEAK_RATE = 3e-3
WEIGHT_DECAY = 0.05
DROPOUT = 0.1


def patches(windows: Array) -> Array:
    """Cuts windows ``(B, L, C)`` and their steps' differences into at most 32 tokens each."""
    steps = jnp.diff(windows, axis=1, prepend=windows[:, :1])
    features = jnp.concatenate([windows, steps], axis=-1)
    batch, length, width = features.shape
    size = -(-length // TOKENS)
    padded = jnp.pad(features, ((0, 0), (0, -length % size), (0, 0)))
    return padded.reshape(batch, -1, size * width)


class Classifier(nn.Module):
    """Pre-norm transformer over tokens ``(B, T, F)``, averaged into one logit per window."""

    @nn.compact
    def __call__(self, tokens: Array, train: bool) -> Array:
        """Returns logits ``(B,)``; ``train`` turns dropout on."""
        x = nn.Dense(WIDTH)(tokens)
        x = x + self.param("place", nn.initializers.normal(0.02), x.shape[1:])
        for _ in range(DEPTH):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(HEADS)(y)
            y = nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x)))
            y = nn.Dropout(DROPOUT, deterministic=not train)(y)
            x = x + nn.Dense(WIDTH)(y)
        x = nn.LayerNorm()(x)
        return nn.Dense(1)(x.mean(axis=1))[:, 0]


def _logits(params: dict, windows: Array, key: Key | None) -> Array:
    rngs = None if key is None else {"dropout": key}
    return Classifier().apply({"params": params}, patches(windows), key is not None, rngs=rngs)  # type: ignore[return-value]


@jax.jit
def _train(key: Key, real: Array, synthetic: Array, rows: Array) -> dict:
    """Trains on rows ``(steps, 2, batch)`` of windows ``(N, L, C)``; returns the weights."""
    init_key, step_key = jax.random.split(key)
    params = Classifier().init(init_key, patches(real[:1]), False)["params"]
    rate = optax.warmup_cosine_decay_schedule(0.0, PEAK_RATE, len(rows) // 10, len(rows))
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=WEIGHT_DECAY)
    )

    def loss(params: dict, step: tuple[Array, Array]) -> Array:
        number, rows = step
        key = jax.random.fold_in(step_key, number)
        batch = jnp.concatenate([real[rows[0]], synthetic[rows[1]]])
        labels = jnp.repeat(jnp.array([1.0, 0.0]), rows.shape[1])
        return optax.sigmoid_binary_cross_entropy(_logits(params, batch, key), labels).mean()

    return descend(loss, params, optimiser, (jnp.arange(len(rows)), rows))


@jax.jit
def _called_real(params: dict, windows: Array) -> Array:
    return _logits(params, windows, None) > 0


@checked(at_least=10)
def strong_discriminative_score(
    real: np.ndarray, synthetic: np.ndarray, *, seed: int, steps: int = STEPS
) -> float:
    """|accuracy − ½| of a small transformer on the fifth of the windows it was not trained on.

    Width 32, two blocks, four heads, values and differences as input, batches of 32 per side,
    AdamW with a cosine rate. Unlike the recurrent score's C // 2 units, it sees order in time.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``, in the same scale.
      seed: of the division, the weights and the batches.
      steps: of training.
    """
    rng = np.random.default_rng(seed)
    real_train, real_test = divide(rng, real)
    synthetic_train, synthetic_test = divide(rng, synthetic)
    centre, spread = real_train.mean((0, 1)), real_train.std((0, 1)) + 1e-6
    sets = [
        (part - centre) / spread
        for part in (real_train, real_test, synthetic_train, synthetic_test)
    ]
    rows = [batch_rows(rng, len(part), BATCH, steps) for part in (sets[0], sets[2])]
    size = min(rows[0].shape[1], rows[1].shape[1])
    drawn = np.stack([r[:, :size] for r in rows], axis=1)
    params = _train(jax.random.key(seed), padded(sets[0]), padded(sets[2]), drawn)
    called = [by_chunks(partial(_called_real, params), part) for part in (sets[1], sets[3])]
    right = called[0].sum() + (~called[1]).sum()
    return float(abs(right / (len(sets[1]) + len(sets[3])) - 0.5))
