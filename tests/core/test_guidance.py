"""Classifier-free guidance maps two denoisers to one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import schedule, spectrum
from pacodi_jax.core.guidance import classifier_free
from pacodi_jax.types import Prediction, Quadratures
from tests.core.gaussian import asymmetric, circulant


def _fail(state: Quadratures, t: jax.Array) -> Prediction:
    raise AssertionError("this denoiser must not be evaluated")


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_scales_zero_and_one_evaluate_one_denoiser(scale):
    plain = asymmetric(8).denoiser(schedule.vp())
    bound, free = (_fail, plain) if scale == 0 else (plain, _fail)
    assert classifier_free(bound, free, scale) is plain


@pytest.mark.parametrize("scale", [-0.5, 0.3, 2.0, 7.5])
def test_guided_prediction_is_on_the_line_through_both(x64, scale):
    chosen = schedule.vp()
    bound, free = asymmetric(8).denoiser(chosen), circulant(8).denoiser(chosen)
    state = spectrum.sample_noise(jax.random.key(0), spectrum.noise_variance(8), 2)
    t = jnp.asarray(0.4)
    guided = classifier_free(bound, free, scale)(state, t)
    ends = free(state, t), bound(state, t)
    for mixed, a, b in zip(*(jax.tree.leaves(p) for p in (guided, *ends)), strict=True):
        np.testing.assert_allclose(mixed, a + scale * (b - a), atol=1e-12)
    # Both estimates stay those of one state: x = α x̂₀ + σ ε̂.
    for x, clean, noise in zip(state, guided.clean, guided.noise, strict=True):
        live = np.abs(np.asarray(noise)) > 0
        rebuilt = chosen.alpha(t) * clean + chosen.sigma(t) * noise
        np.testing.assert_allclose(np.asarray(rebuilt)[live], np.asarray(x)[live], atol=1e-10)
