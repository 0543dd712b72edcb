"""Functions of one window lift to a batch: ``jax.vmap`` equals a loop, compiled once per shape."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import diffusion, level, schedule, spectrum, wiener
from pacodi_jax.types import Prediction, Quadratures

LENGTH, CHANNELS, BATCH = 9, 2, 3
VP, LAW = schedule.vp(), spectrum.noise_variance(LENGTH)
WINDOWS = jnp.asarray(np.random.default_rng(0).normal(size=(BATCH, LENGTH, CHANNELS)), jnp.float32)
LEVEL = level.fit(WINDOWS)
MOMENTS = wiener.Moments(
    jax.tree.map(lambda v: jnp.full((5, CHANNELS), 0.3), LAW),
    jax.tree.map(lambda v: jnp.full((5, CHANNELS), 0.7), LAW),
)


@pytest.fixture(autouse=True)
def strict_promotion():
    """No dtype is widened by accident: single precision stays single."""
    with jax.numpy_dtype_promotion("strict"):
        yield


def _perturb(key: jax.Array, window: jax.Array, t: jax.Array) -> tuple[Quadratures, Quadratures]:
    return diffusion.perturb(key, VP, spectrum.to_spectrum(window), t, LAW)


def _losses(key: jax.Array, window: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
    noisy, noise = _perturb(key, window, t)
    return diffusion.noise_loss(noisy, noise, LAW), diffusion.elbo_weight(VP, t)


def _scores(key: jax.Array, window: jax.Array, t: jax.Array) -> tuple[jax.Array, Quadratures]:
    noisy, noise = _perturb(key, window, t)
    score = diffusion.score_from_noise(noise, 1 + VP.sigma(t), LAW)
    drift = diffusion.reverse_drift(noisy, score, VP.beta(t) / 20, LAW)
    return diffusion.wirtinger_score(score), drift


def _wiener(key: jax.Array, window: jax.Array, t: jax.Array) -> tuple[Quadratures, Prediction]:
    noisy, _ = _perturb(key, window, t)
    here = (VP.alpha(t), VP.sigma(t), MOMENTS, LAW)
    z, theta = wiener.to_z(noisy, *here), wiener.angle(*here)
    return z, wiener.predict(z, z, theta, MOMENTS, LAW)


FUNCTIONS = {
    "to_series": lambda key, x, t: spectrum.to_series(spectrum.to_spectrum(x), LENGTH),
    "perturb": _perturb,
    "posterior": lambda key, x, t: diffusion.posterior(VP, t, 0.9 * t),
    "simulate_forward": lambda key, x, t: diffusion.simulate_forward(
        key, VP, spectrum.to_spectrum(x), jnp.linspace(0.0, 0.3, 6), LAW
    ),
    "losses": _losses,
    "scores": _scores,
    "wiener": _wiener,
    "level": lambda key, x, t: level.decode(level.encode(x, LEVEL), LEVEL, LENGTH),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_one_window_lifts_to_a_batch(name):
    chex.clear_trace_counter()

    @jax.jit
    @chex.assert_max_traces(n=1)
    def batch(*inputs: jax.Array) -> object:
        return jax.vmap(FUNCTIONS[name])(*inputs)

    one, t = jax.jit(FUNCTIONS[name]), jnp.linspace(0.2, 0.9, BATCH)
    for seed in range(2):
        inputs = (jax.random.split(jax.random.key(seed), BATCH), (1 + seed) * WINDOWS, t)
        together = batch(*inputs)
        for i in range(BATCH):
            alone = one(*(part[i] for part in inputs))
            chex.assert_trees_all_close(
                jax.tree.map(lambda x, i=i: x[i], together), alone, atol=1e-6, rtol=1e-6
            )
