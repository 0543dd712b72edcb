"""Scores, the reverse drift and the losses: section 4.2 and appendices C and D in x64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacodi_jax.core import diffusion, level, schedule, spectrum
from pacodi_jax.types import Quadratures
from tests.core.gaussian import asymmetric
from tests.core.strategies import CHANNELS, DTYPES, LENGTHS, MODEST, SEEDS, draw_window, tolerance

VP = schedule.vp()


def _random_spectrum(length: int, channels: int, seed: int) -> Quadratures:
    return spectrum.sample_noise(jax.random.key(seed), spectrum.noise_variance(length), channels)


def _assert_close(a: Quadratures, b: Quadratures, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(a.real, b.real, atol=tolerance)
    np.testing.assert_allclose(a.imag, b.imag, atol=tolerance)


@pytest.mark.parametrize("length", [8, 9])
def test_score_noise_identity_is_the_gradient_of_the_conditional_density(x64, length):
    law, clean = spectrum.noise_variance(length), _random_spectrum(length, 2, 0)
    alpha, sigma = VP.alpha(0.3), VP.sigma(0.3)
    noisy, noise = diffusion.perturb(jax.random.key(1), VP, clean, 0.3, law)

    def log_density(state: Quadratures) -> jax.Array:
        gap = jax.tree.map(lambda x, c: x - alpha * c, state, clean)
        return -0.5 * spectrum.mahalanobis(gap, law) / sigma**2

    identity = diffusion.score_from_noise(noise, sigma, law)
    _assert_close(identity, jax.grad(log_density)(noisy))
    _assert_close(diffusion.noise_from_score(identity, sigma, law), noise)
    _assert_close(diffusion.clean_from_noise(noisy, noise, alpha, sigma), clean)


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES, st.floats(0.05, 0.4))
def test_noise_score_and_clean_state_are_made_of_each_other(seed, length, channels, dtype, t):
    with jax.enable_x64(dtype == np.float64):

        @jax.jit
        def there_and_back(windows: jax.Array) -> list[Quadratures]:
            law, alpha, sigma = spectrum.noise_variance(length), VP.alpha(t), VP.sigma(t)
            clean, noise = (spectrum.to_spectrum(window) for window in windows)
            noisy = diffusion.marginal(clean, noise, alpha, sigma)
            score = diffusion.score_from_noise(noise, sigma, law)
            back = diffusion.noise_from_score(score, sigma, law)
            cleaned = diffusion.clean_from_noise(noisy, back, alpha, sigma)
            return [noise, back, clean, cleaned]

        windows = [draw_window(seed + i, length, channels, dtype) for i in range(2)]
        made = there_and_back(np.stack(windows))
        assert {part.dtype for part in jax.tree.leaves(made)} == {np.dtype(dtype)}
        scale = max(float(jnp.abs(part).max()) for part in jax.tree.leaves(made))
        for before, after in zip(made[::2], made[1::2], strict=True):
            _assert_close(after, before, 20 * tolerance(dtype) * max(scale, 1.0))


@pytest.mark.parametrize("length", [8, 9])
@pytest.mark.parametrize("t", [0.01, 0.3, 1.0])
def test_exact_denoiser_gives_the_gradient_of_the_exact_log_density(x64, length, t):
    process = asymmetric(length)
    state = _random_spectrum(length, 2, 3)
    prediction = process.denoiser(VP)(state, jnp.asarray(t))
    score = diffusion.score_from_noise(prediction.noise, VP.sigma(t), process.variance)
    _assert_close(score, jax.grad(process.log_density(VP))(state, jnp.asarray(t)), 1e-9)


@pytest.mark.parametrize("length", [8, 9])
def test_wirtinger_score_is_half_the_conjugate_of_the_complex_gradient(x64, length):
    process, t = asymmetric(length), jnp.asarray(0.3)
    density = process.log_density(VP)
    state = _random_spectrum(length, 2, 5)
    complex_gradient = jax.grad(lambda x: density(Quadratures(x.real, x.imag), t))(
        state.real + 1j * state.imag
    )
    noise = process.denoiser(VP)(state, t).noise
    score = diffusion.score_from_noise(noise, VP.sigma(t), process.variance)
    np.testing.assert_allclose(
        diffusion.wirtinger_score(score), 0.5 * jnp.conj(complex_gradient), atol=1e-10
    )


@pytest.mark.parametrize("length", [8, 9])
def test_reverse_drift_is_the_complex_form_with_both_wirtinger_terms(x64, length):
    law, beta = spectrum.noise_variance(length), 3.0
    state, score = _random_spectrum(length, 2, 0), _random_spectrum(length, 2, 1)
    drift = diffusion.reverse_drift(state, score, beta, law)
    towards = diffusion.wirtinger_score(score)
    correction = (law.real + law.imag) * towards + (law.real - law.imag) * jnp.conj(towards)
    complex_form = -0.5 * beta * (state.real + 1j * state.imag) - beta * correction
    np.testing.assert_allclose(drift.real + 1j * drift.imag, complex_form, atol=1e-12)


@pytest.mark.parametrize("length", [8, 9])
def test_noise_loss_reads_as_a_temporal_mean_squared_error(x64, length):
    law = spectrum.noise_variance(length)
    a, b = _random_spectrum(length, 3, 0), _random_spectrum(length, 3, 1)
    gap = spectrum.to_series(a, length) - spectrum.to_series(b, length)
    assert float(diffusion.noise_loss(a, b, law)) == pytest.approx(float(jnp.mean(gap**2)), 1e-12)


def test_losses_count_the_slots_that_carry_noise(x64):
    ones = Quadratures(jnp.ones((5, 3)), jnp.ones((5, 3)))
    zeros = jax.tree.map(jnp.zeros_like, ones)
    for law, slots in ((spectrum.noise_variance(8), 8), (level.noise_variance(8), 9)):
        assert float(diffusion.slot_loss(ones, zeros, law)) == pytest.approx(1.0)
        total = float(spectrum.mahalanobis(ones, law)) / (slots * 3)
        assert float(diffusion.noise_loss(ones, zeros, law)) == pytest.approx(total)


@pytest.mark.parametrize("length", [8, 9])
def test_score_matching_loss_equals_noise_loss_with_the_paper_s_weights(x64, length):
    """Appendix D.5: λ(t)‖s_θ − s‖²_Σ = λ_t‖ε_θ − ε‖²_{Σ⁻¹} with λ(t) = (1 − α_t)/(2α_t)."""
    chosen, t, s = schedule.ddpm_linear(100), jnp.asarray(0.37), jnp.asarray(0.36)
    law, sigma = spectrum.noise_variance(length), chosen.sigma(t)
    noise, guess = _random_spectrum(length, 2, 0), _random_spectrum(length, 2, 1)
    scores = [diffusion.score_from_noise(e, sigma, law) for e in (noise, guess)]
    gap = jax.tree.map(lambda a, b, v: jnp.sum(v * (a - b) ** 2), *scores, law)
    ratio = (chosen.alpha(t) / chosen.alpha(s)) ** 2
    continuous = (1 - ratio) / (2 * ratio) * (gap.real + gap.imag)
    error = jax.tree.map(jnp.subtract, guess, noise)
    discrete = diffusion.elbo_weight(chosen, t, s) * spectrum.mahalanobis(error, law)
    assert float(continuous) == pytest.approx(float(discrete), rel=1e-10)


def test_elbo_weight_is_the_divergence_with_the_large_variance(x64):
    """KL of two posteriors is ½Δμᵀ Σ⁻¹ Δμ; the paper's λ_t is the one with variance β_t."""
    t, s = jnp.asarray(0.5), jnp.asarray(0.49)
    law = diffusion.posterior(VP, t, s)
    beta = diffusion.step_beta(VP, t, s)
    shift = law.from_clean * VP.sigma(t) / VP.alpha(t)  # Δμ for a unit error of ε̂
    paper = diffusion.elbo_weight(VP, t, s)
    assert float(0.5 * shift**2 / beta) == pytest.approx(float(paper), rel=1e-10)
    exact = float(0.5 * shift**2 / law.variance)
    assert exact == pytest.approx(float(paper * (VP.sigma(t) / VP.sigma(s)) ** 2), rel=1e-10)


def test_elbo_weight_tends_to_its_continuous_form(x64):
    t, step = jnp.asarray(0.5), 1e-6
    discrete = diffusion.elbo_weight(VP, t, t - step) / step
    assert float(discrete) == pytest.approx(float(diffusion.elbo_weight(VP, t)), rel=1e-4)
