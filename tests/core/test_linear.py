"""The best linear denoisers, and a network that learns what no linear filter can."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import models
from pacodi_jax.core.linear import linear_denoiser, noise_error
from pacodi_jax.core.spectrum import to_spectrum
from pacodi_jax.types import Quadratures
from tests.models import small


def _setting(statistics="none"):
    model = small.build(statistics=statistics)
    schedule, variance = model.process.schedule, model.coding.variance
    return model, schedule, variance


def test_the_full_linear_denoiser_is_the_gaussian_posterior_mean():
    # The same by dense algebra on the live slots: E[ε|x] = σ V (α²S + σ²V)⁻¹ (x − αm).
    model, schedule, variance = _setting()
    spectra = jax.vmap(model.coding.encode)(small.windows())
    shape = spectra.real.shape[1:]
    flat = lambda q: np.concatenate([np.ravel(q.real), np.ravel(q.imag)])  # noqa: E731
    noise = flat(jax.tree.map(lambda v: np.broadcast_to(v, shape), variance)).astype(np.float64)
    live = noise > 0
    rows = np.stack([flat(Quadratures(r, i)) for r, i in zip(*spectra, strict=True)])
    rows = rows.astype(np.float64)[:, live]
    t = jnp.float32(0.3)
    alpha, sigma = float(schedule.alpha(t)), float(schedule.sigma(t))
    total = alpha**2 * np.cov(rows, rowvar=False, bias=True) + sigma**2 * np.diag(noise[live])
    state = jax.tree.map(lambda x: x[3] * 0.8, spectra)
    rest = flat(state).astype(np.float64)[live] - alpha * rows.mean(0)
    expected = np.zeros(len(live))
    expected[live] = sigma * noise[live] * np.linalg.solve(total, rest)
    found = linear_denoiser(spectra, schedule, variance)(state, t).noise
    np.testing.assert_allclose(flat(found), expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("statistics", ["none", "generated"])
def test_a_silent_network_is_the_best_diagonal_denoiser(statistics):
    model, schedule, variance = _setting(statistics)
    clean = jax.vmap(model.coding.encode)(small.windows())
    diagonal = linear_denoiser(clean, schedule, variance, diagonal=True)
    silent = small.silent(model).denoiser({})
    key = jax.random.key(0)
    first, second = (noise_error(d, key, schedule, clean, variance) for d in (diagonal, silent))
    assert float(first) == pytest.approx(float(second), rel=1e-4)


def test_the_full_denoiser_is_better_than_the_diagonal_one():
    model, schedule, variance = _setting()
    clean = jax.vmap(model.coding.encode)(small.windows(2000))
    full, diagonal = (
        noise_error(
            linear_denoiser(clean, schedule, variance, diagonal=d),
            jax.random.key(0),
            schedule,
            clean,
            variance,
        )
        for d in (False, True)
    )
    assert float(full) < 0.9 * float(diagonal)


def test_a_trained_network_is_better_than_the_best_diagonal_denoiser_on_unseen_sines():
    rng = np.random.default_rng(0)
    frequency, phase = rng.uniform(0, 0.1, (2, 600, 1, 2))
    steps = np.arange(24)[None, :, None]
    windows = jnp.asarray((np.sin(2 * np.pi * frequency * steps + phase) + 1) / 2, jnp.float32)
    train, unseen = windows[:400], windows[400:]
    model = small.fitted(small.settings(), train, optax.adam(3e-3), 64)
    state = jax.jit(model.init)(jax.random.key(1), models.Batch(train[:64], jnp.arange(64)))

    @jax.jit
    def learn(state):
        def one(state, step):
            rows = (step * 64 + jnp.arange(64)) % len(train)
            return model.update(state, models.Batch(train[rows], jnp.arange(64)))[0], None

        return jax.lax.scan(one, state, jnp.arange(300))[0]

    params = learn(state).ema
    schedule, variance = model.process.schedule, model.coding.variance
    clean, seen = jax.vmap(to_spectrum)(unseen), jax.vmap(to_spectrum)(train)
    key = jax.random.key(2)
    network = noise_error(model.denoiser(params), key, schedule, clean, variance)
    diagonal = noise_error(
        linear_denoiser(seen, schedule, variance, diagonal=True), key, schedule, clean, variance
    )
    assert float(network) < float(diagonal)
