"""A stand-in for a generator that compiles in a second: it learns the mean window under noise."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import data
from pacodi_jax.data.batches import Order, Resident
from pacodi_jax.settings import TrainSettings
from pacodi_jax.train import optimiser
from pacodi_jax.train.sources import OnDevices, Streamed

LENGTH, CHANNELS, WINDOWS = 16, 2, 40
ORDER = Order(3, 8, WINDOWS)


class State(NamedTuple):
    step: Any
    params: Any
    ema: Any
    optimizer: Any
    skipped: Any
    consecutive_skips: Any


class Double:
    """Minimises |W(x + ε) − x|² for a noise ε drawn per example.

    Args:
      optimizer: an optax transformation.
      key: of the noise.
      poison: the steps from which on, and up to which, the loss is NaN.
    """

    def __init__(self, optimizer, key, poison=(0, 0)):
        self.optimizer, self.key, self.poison = optimizer, key, poison

    def init(self, key, batch):
        width = batch.windows[0].size
        params = {"kernel": 0.1 * jax.random.normal(key, (width, width)), "bias": jnp.zeros(width)}
        zero = jnp.zeros((), jnp.int32)
        return State(zero, params, params, self.optimizer.init(params), zero, zero)

    def loss(self, params, step, batch):
        def one(window, index):
            key = jax.random.fold_in(jax.random.fold_in(self.key, step), index)
            clean = window.reshape(-1)
            noisy = clean + 0.3 * jax.random.normal(key, clean.shape)
            return jnp.mean((noisy @ params["kernel"] + params["bias"] - clean) ** 2)

        loss = jnp.mean(jax.vmap(one)(batch.windows, batch.slot))
        first, last = self.poison
        return loss * jnp.where((step >= first) & (step < last), jnp.nan, 1.0)

    def update(self, state, batch):
        loss, grads = jax.value_and_grad(self.loss)(state.params, state.step, batch)
        updates, optimizer = self.optimizer.update(grads, state.optimizer, state.params, value=loss)
        params = optax.apply_updates(state.params, updates)
        ema = optax.incremental_update(params, state.ema, 0.1)
        moved = (params, ema, optimizer)
        fine = jnp.stack([jnp.isfinite(x).all() for x in jax.tree.leaves(moved)]).all()
        kept = (state.params, state.ema, state.optimizer)
        params, ema, optimizer = jax.tree.map(lambda a, b: jnp.where(fine, a, b), moved, kept)
        skipped = state.skipped + ~fine
        row = jnp.where(fine, 0, state.consecutive_skips + 1)
        state = State(state.step + 1, params, ema, optimizer, skipped, row)
        return state, {"loss": loss, "gradient_norm": optax.tree.norm(grads)}

    def weights(self, state):
        return state.ema


def make(steps, poison=(0, 0), optimizer=None, streamed=False):
    """Returns a generator and where its batches (8 windows each) come from."""
    settings = TrainSettings(learning_rate=1e-2, steps=steps, warmup=2)
    optimizer = optimizer or optimiser.build(settings)
    generator = Double(optimizer, jax.random.key(7), poison)
    rows = np.random.default_rng(0).standard_normal((WINDOWS + LENGTH, CHANNELS))
    if streamed:
        plain = {"length": LENGTH, "fractions": (1.0, 0.0, 0.0), "scaling": "none"}
        found = data.load(data.DataSettings(**plain), table=rows[:-1]).train
        return generator, Streamed(found, ORDER)
    held = Resident(
        rows.astype(np.float32), np.arange(WINDOWS, dtype=np.int32), None, np.arange(LENGTH)
    )
    return generator, OnDevices(held, ORDER)
