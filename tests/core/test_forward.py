"""The forward process: closedness (theorem A.1), the DDPM chain, the spectral Wiener process."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pacodi_jax.core import diffusion, schedule, spectrum
from pacodi_jax.types import Quadratures
from tests.core.gaussian import basis

DRAWS = 10_000


def _clean(length: int, channels: int = 2) -> Quadratures:
    window = np.random.default_rng(length).normal(1.0, 2.0, (length, channels))
    return spectrum.to_spectrum(jnp.asarray(window))


def _assert_law(draws: Quadratures, mean: Quadratures, variance: Quadratures) -> None:
    """Mean, variance and uncorrelatedness of ``(N, K, C)`` draws within five standard errors."""
    flat = np.asarray(jax.vmap(lambda part: ravel_pytree(part)[0])(draws), np.float64)
    expected = np.asarray(ravel_pytree(mean)[0])
    spread = ravel_pytree(jax.tree.map(lambda m, v: jnp.broadcast_to(v, m.shape), mean, variance))
    law = np.asarray(spread[0])
    dead, count = law == 0, flat.shape[0]
    assert (np.abs(flat.mean(0) - expected)[~dead] <= 5 * np.sqrt(law[~dead] / count)).all()
    np.testing.assert_allclose(flat[:, dead], np.broadcast_to(expected[dead], (count, dead.sum())))
    covariance = np.cov(flat.T)
    error = np.sqrt((np.outer(law, law) + np.diag(law) ** 2) / count)
    assert (np.abs(covariance - np.diag(law)) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("length", [8, 9])
def test_superposed_noise_is_noise_of_the_summed_weights(x64, length):
    weights = np.array([0.3, -1.2, 0.7, 2.0])
    transform = basis(length, 1)
    stacked = np.concatenate([weight * transform for weight in weights], axis=1)
    law = np.concatenate([np.asarray(part).ravel() for part in spectrum.noise_variance(length)])
    # Four independent white windows side by side: the sum's covariance is (Σw²) V, exactly.
    np.testing.assert_allclose(stacked @ stacked.T, np.diag(np.sum(weights**2) * law), atol=1e-13)


@pytest.mark.parametrize("length", [8, 9])
def test_thousand_transitions_have_the_closed_form_marginal(x64, length):
    chosen = schedule.ddpm_linear(1000)
    betas = jnp.asarray(schedule.discrete_betas(chosen, 1000))
    law, first = spectrum.noise_variance(length), _clean(length)
    key, other = jax.random.key(0), jax.random.key(1)
    noise = [spectrum.sample_noise(k, law, 2) for k in (key, other)]
    apart = jax.tree.map(jnp.subtract, *noise)

    def step(carry: tuple, beta: jax.Array) -> tuple:
        """Mean and variance through `transition` itself: its gain is read off two keys."""
        mean, scale, worst = carry
        ends = [diffusion.transition(k, mean, beta, law) for k in (key, other)]
        gap = jax.tree.map(jnp.subtract, *ends)
        gain = jnp.vdot(gap.real, apart.real) / jnp.vdot(apart.real, apart.real)
        odd = jax.tree.map(lambda g, a: jnp.abs(g - gain * a).max(), gap, apart)
        slope = jax.jvp(lambda x: diffusion.transition(key, x, beta, law), (mean,), (mean,))[1]
        kept = jnp.vdot(slope.real, mean.real) / jnp.vdot(mean.real, mean.real)
        moved = jax.tree.map(lambda x, e: x - gain * e, ends[0], noise[0])
        return (moved, kept**2 * scale + gain**2, jnp.maximum(worst, odd.real + odd.imag)), None

    start = (first, jnp.zeros(()), jnp.zeros(()))
    (mean, scale, worst), _ = jax.jit(lambda b: jax.lax.scan(step, start, b))(betas)
    for part, clean in zip(mean, first, strict=True):
        np.testing.assert_allclose(part, chosen.alpha(1.0) * clean, rtol=1e-9, atol=1e-12)
    assert float(scale) == pytest.approx(float(chosen.sigma(1.0)) ** 2, rel=1e-10)
    assert float(worst) < 1e-12


@pytest.mark.parametrize("length", [8, 9])
def test_chain_of_draws_has_the_closed_form_marginal(length):
    chosen = schedule.ddpm_linear(100)
    betas = jnp.asarray(schedule.discrete_betas(chosen, 100), jnp.float32)[:40]
    law, first = spectrum.noise_variance(length), _clean(length)

    def chain(key: jax.Array) -> Quadratures:
        keys = jax.random.split(key, betas.size)
        return jax.lax.scan(
            lambda x, inputs: (diffusion.transition(inputs[0], x, inputs[1], law), None),
            first,
            (keys, betas),
        )[0]

    draws = jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(0), DRAWS))
    alpha, sigma = chosen.alpha(0.4), chosen.sigma(0.4)
    mean = jax.tree.map(lambda x: alpha * x, first)
    _assert_law(draws, mean, jax.tree.map(lambda v: sigma**2 * v, law))


@pytest.mark.parametrize("length", [8, 9])
def test_perturb_draws_from_the_forward_marginal(length):
    chosen, law, first = schedule.vp(), spectrum.noise_variance(length), _clean(length)
    keys = jax.random.split(jax.random.key(3), DRAWS)
    noisy, noise = jax.jit(jax.vmap(lambda key: diffusion.perturb(key, chosen, first, 0.3, law)))(
        keys
    )
    alpha, sigma = chosen.alpha(0.3), chosen.sigma(0.3)
    mean = jax.tree.map(lambda x: alpha * x, first)
    _assert_law(noisy, mean, jax.tree.map(lambda v: sigma**2 * v, law))
    rebuilt = diffusion.marginal(jax.tree.map(lambda x: x[None], first), noise, alpha, sigma)
    np.testing.assert_allclose(rebuilt.real, noisy.real, atol=1e-5)


def test_wiener_increments_have_covariance_sigma_times_step(x64):
    times, law = jnp.array([0.0, 0.1, 0.15, 0.6]), spectrum.noise_variance(8)
    keys = jax.random.split(jax.random.key(0), DRAWS)
    draws = jax.jit(jax.vmap(lambda k: diffusion.wiener_increments(k, times, law, 1)))(keys)
    assert draws.real.shape == (DRAWS, 3, 5, 1)
    zero = jax.tree.map(lambda v: jnp.zeros((5, 1)), law)
    for index, width in enumerate([0.1, 0.05, 0.45]):
        step = jax.tree.map(lambda part, i=index: part[:, i], draws)
        _assert_law(step, zero, jax.tree.map(lambda v, w=width: w * v, law))
    flat = np.asarray(draws.real[:, :, 1, 0])
    apart = np.corrcoef(flat.T)[np.triu_indices(3, 1)]
    assert np.abs(apart).max() < 5 / np.sqrt(DRAWS)  # increments over disjoint steps: independent


@pytest.mark.parametrize("length", [8, 9])
def test_simulated_forward_sde_has_the_law_of_perturb(length):
    chosen, law, first = schedule.vp(), spectrum.noise_variance(length), _clean(length)
    times = jnp.linspace(0.0, 0.3, 101)
    keys = jax.random.split(jax.random.key(1), 10_000)
    draws = jax.jit(
        jax.vmap(lambda key: diffusion.simulate_forward(key, chosen, first, times, law))
    )(keys)
    # What Euler's steps make of it, exactly: products of 1 − ½βh, sums of βh.
    betas = np.asarray(chosen.beta(np.asarray(times[:-1])), np.float64) * np.diff(times)
    alpha, scale = np.prod(1 - betas / 2), 0.0
    for beta in betas:
        scale = (1 - beta / 2) ** 2 * scale + beta
    _assert_law(
        draws,
        jax.tree.map(lambda x: alpha * x, first),
        jax.tree.map(lambda v: scale * v, law),
    )
    assert alpha == pytest.approx(float(chosen.alpha(0.3)), rel=2e-2)
    assert scale == pytest.approx(float(chosen.sigma(0.3)) ** 2, rel=2e-2)


def test_forward_steps_leave_dead_slots_alone(x64):
    law, first = spectrum.noise_variance(8), _clean(8)
    noisy, noise = diffusion.perturb(jax.random.key(0), schedule.vp(), first, 0.5, law)
    dead = np.asarray(law.imag[:, 0]) == 0
    assert (np.asarray(noise.imag)[dead] == 0).all()
    np.testing.assert_array_equal(np.asarray(noisy.imag)[dead], 0)
