"""A model small enough to compile in a second, on windows with structure."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import models
from pacodi_jax.core.spectrum import to_spectrum
from pacodi_jax.models.settings import Diffusion, Network, Sampling, SpectralSettings
from pacodi_jax.models.spectral import SpectralDiffusion
from pacodi_jax.models.views import View
from pacodi_jax.types import Quadratures

LENGTH, CHANNELS, BATCH = 8, 2, 16


def windows(count: int = 64, length: int = LENGTH, seed: int = 0) -> jax.Array:
    """Random walks with a level, two correlated channels."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(count, length, CHANNELS)) @ np.array([[1.0, 0.5], [0.0, 0.3]])
    return jnp.asarray(3.0 + np.cumsum(steps, axis=1), jnp.float32)


SGD = optax.sgd(0.01)


def settings(
    name="pacodi", *, block=500, steps=4, solver="wiener_ab2", **diffusion
) -> SpectralSettings:
    """Settings of a tiny network."""
    grid = "angle" if solver == "wiener_ab2" else "uniform"
    return SpectralSettings(
        Network(name=name, width=16, depth=1, heads=2),
        Diffusion(**diffusion),
        Sampling(solver=solver, steps=steps, grid=grid, batch=block),
    )


@functools.cache
def build(name="pacodi", *, optimiser=SGD, **options) -> SpectralDiffusion:
    """A tiny generator fitted to :func:`windows`."""
    return fitted(settings(name, **options), windows(), optimiser, BATCH)


def fitted(chosen: SpectralSettings, train, optimiser, batch: int) -> SpectralDiffusion:
    """A generator fitted to training windows."""
    family = models.FAMILIES[chosen.model.name]
    arrays = family.prepare(chosen, np.asarray(train), None)
    training = models.Training(lambda **changes: optax.flatten(optimiser), batch, 0.999, 0.1, 100)
    return family.build(chosen, models.Shape(*train.shape[1:]), arrays, training)


def batch(count: int = BATCH, first: int = 0) -> models.Batch:
    """Some windows in the slots ``first …`` of a global batch."""
    return models.Batch(windows()[first : first + count], jnp.arange(first, first + count))


@functools.cache
def params(name: str = "pacodi") -> Any:
    """A network's first parameters, moved off zero so that its output is not."""
    made = jax.jit(build(name).view.init)(jax.random.key(0), _states())
    return jax.tree.map(lambda p: p + 0.05, made)


def _states() -> Quadratures:
    return jax.vmap(to_spectrum)(windows(2))


def state(model: SpectralDiffusion, first: Any) -> models.TrainState:
    """The state before the first step, with given parameters."""
    return models.TrainState(
        *jnp.zeros((1,), jnp.int32),
        first,
        first,
        model.learning.optimiser.init(first),
        jnp.int32(0),
        jnp.int32(0),
        jax.random.key_data(jax.random.key(4)),
    )


def silent(model: SpectralDiffusion) -> SpectralDiffusion:
    """The model with a network that says 0: the diagonal Gaussian, and quick to compile."""
    zero = View(lambda key, state: {}, lambda p, state, *rest: jax.tree.map(jnp.zeros_like, state))
    return dataclasses.replace(model, view=zero)
