"""A model small enough to compile in a second, on windows with structure."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import models

LENGTH, CHANNELS, BATCH = 8, 2, 16


def windows(count: int = 64, length: int = LENGTH, seed: int = 0) -> jax.Array:
    """Random walks with a level, two correlated channels."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(count, length, CHANNELS)) @ np.array([[1.0, 0.5], [0.0, 0.3]])
    return jnp.asarray(3.0 + np.cumsum(steps, axis=1), jnp.float32)


@functools.cache
def build(name="pacodi", *, block=500, steps=4, solver="wiener_ab2", **settings):
    """A tiny generator fitted to :func:`windows`."""
    grid = "angle" if solver == "wiener_ab2" else "uniform"
    settings = models.Settings(**settings)
    coding, fitted = models.fit(settings.statistics, windows())
    sampler = models.make_sampler(
        settings, fitted, coding.variance, solver=solver, steps=steps, grid=grid, block=block
    )
    return models.build(
        models.Architecture(name, width=16, depth=1, heads=2),
        settings,
        coding,
        fitted,
        sampler=sampler,
        optimiser=optax.flatten(optax.adam(1e-3)),
        batch=BATCH,
    )


def batch(count: int = BATCH, first: int = 0) -> models.Batch:
    """Some windows in the slots ``first …`` of a global batch."""
    return models.Batch(windows()[first : first + count], jnp.arange(first, first + count))


def init(model: models.SpectralDiffusion) -> models.TrainState:
    """The state before the first step."""
    return jax.jit(model.init)(jax.random.key(0), batch())
