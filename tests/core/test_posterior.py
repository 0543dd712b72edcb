"""The reverse posterior: proposition 3.2 and appendix C by exact Gaussian conditioning."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import diffusion, schedule, spectrum
from pacodi_jax.core.solvers import time_grid
from tests.core.gaussian import basis


def _condition_on_the_noisy_state(length: int, chosen, t: float, s: float):
    """q(X_s | X_t, X₀) on the live slots, from temporal white noise: gain and covariance.

    Nothing about the spectral noise is assumed: two white windows make x_s and x_t, the explicit
    transform takes them to frequency, and the Schur complement conditions one on the other.
    """
    transform = basis(length, 1)
    law = np.concatenate([np.asarray(part).ravel() for part in spectrum.noise_variance(length)])
    live = law > 0
    transform = transform[live]
    ratio = float(chosen.alpha(t) / chosen.alpha(s))
    at_s = np.hstack([float(chosen.sigma(s)) * transform, np.zeros_like(transform)])
    at_t = ratio * at_s + np.hstack([np.zeros_like(transform), np.sqrt(1 - ratio**2) * transform])
    gain = at_s @ at_t.T @ np.linalg.inv(at_t @ at_t.T)
    return gain, at_s @ at_s.T - gain @ at_t @ at_s.T, law[live], live


@pytest.mark.parametrize("length", [8, 9])
@pytest.mark.parametrize(("t", "s"), [(0.5, 0.499), (0.9, 0.2), (0.02, 0.001)])
def test_joint_posterior_is_the_product_of_the_branch_posteriors(x64, length, t, s):
    chosen = schedule.vp()
    gain, covariance, law, live = _condition_on_the_noisy_state(length, chosen, t, s)
    real = np.arange(live.size)[live] < live.size // 2
    for matrix in (gain, covariance):  # neither means nor spreads cross the quadratures
        np.testing.assert_allclose(matrix[np.ix_(real, ~real)], 0, atol=1e-12)
        np.testing.assert_allclose(matrix[np.ix_(~real, real)], 0, atol=1e-12)
    branch = diffusion.posterior(chosen, jnp.asarray(t), jnp.asarray(s))
    size = law.size
    np.testing.assert_allclose(gain, branch.from_state * np.eye(size), atol=1e-10)
    # mean = α_s x₀ + gain (x_t − α_t x₀), so x₀ enters with α_s − gain α_t.
    from_clean = chosen.alpha(s) * np.eye(size) - gain * chosen.alpha(t)
    np.testing.assert_allclose(from_clean, branch.from_clean * np.eye(size), atol=1e-10)
    np.testing.assert_allclose(covariance, np.diag(branch.variance * law), atol=1e-10)


def test_posterior_is_the_paper_s_formula_on_a_ddpm_grid(x64):
    steps, i = 100, 37
    chosen = schedule.ddpm_linear(steps)
    beta = schedule.discrete_betas(chosen, steps)[i - 1]
    bar, before = (np.prod(1 - schedule.discrete_betas(chosen, steps)[:n]) for n in (i, i - 1))
    law = diffusion.posterior(chosen, jnp.asarray(i / steps), jnp.asarray((i - 1) / steps))
    assert float(law.from_state) == pytest.approx(np.sqrt(1 - beta) * (1 - before) / (1 - bar))
    assert float(law.from_clean) == pytest.approx(np.sqrt(before) * beta / (1 - bar))
    assert float(law.variance) == pytest.approx(beta * (1 - before) / (1 - bar))


def test_posterior_mean_in_terms_of_noise_is_the_paper_s(x64):
    chosen, t, s = schedule.ddpm_linear(100), jnp.asarray(0.37), jnp.asarray(0.36)
    random = np.random.default_rng(0)
    clean, noise = random.normal(size=(2, 5))
    state = chosen.alpha(t) * clean + chosen.sigma(t) * noise
    law, ratio = diffusion.posterior(chosen, t, s), (chosen.alpha(t) / chosen.alpha(s)) ** 2
    mean = law.from_state * state + law.from_clean * clean
    paper = (state - (1 - ratio) / chosen.sigma(t) * noise) / jnp.sqrt(ratio)
    np.testing.assert_allclose(mean, paper, rtol=1e-10)


@pytest.mark.parametrize("name", ["vp", "cosine"])
def test_posterior_keeps_its_digits_in_single_precision(name):
    """A thousand log-SNR steps take 1 − a² down to 1e-7, where subtracting from 1 loses it all."""
    chosen = schedule.SCHEDULES[name]()
    times = time_grid("log_snr", chosen, 1000).astype(np.float32)
    single = diffusion.posterior(chosen, jnp.asarray(times[:-1]), jnp.asarray(times[1:]))
    with jax.enable_x64(True):
        wide = times.astype(np.float64)
        exact = diffusion.posterior(chosen, jnp.asarray(wide[:-1]), jnp.asarray(wide[1:]))
        exact = jax.tree.map(np.asarray, exact)
    for approximate, expected in zip(single, exact, strict=True):
        np.testing.assert_allclose(approximate, expected, rtol=1e-2)
