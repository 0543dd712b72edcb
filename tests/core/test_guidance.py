"""Guides map denoisers to denoisers; classifier-free guidance is one of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import schedule, spectrum
from pacodi_jax.core.guidance import classifier_free, fold
from pacodi_jax.types import Denoiser, Guide, Prediction, Quadratures
from tests.core.gaussian import asymmetric, circulant

T = jnp.asarray(0.4)


def _fail(state: Quadratures, t: jax.Array) -> Prediction:
    raise AssertionError("this denoiser must not be evaluated")


def _state() -> Quadratures:
    return spectrum.sample_noise(jax.random.key(0), spectrum.noise_variance(8), 2)


def _affine(factor: float, shift: float) -> Guide:
    """A guide that maps every number of a prediction to factor·number + shift."""

    def guide(denoiser: Denoiser) -> Denoiser:
        return lambda state, t: jax.tree.map(lambda x: factor * x + shift, denoiser(state, t))

    return guide


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_scales_zero_and_one_evaluate_one_denoiser(scale):
    plain = asymmetric(8).denoiser(schedule.vp())
    bound, free = (_fail, plain) if scale == 0 else (plain, _fail)
    assert classifier_free(free, scale)(bound) is plain
    assert fold(bound, (classifier_free(free, scale),)) is plain


@pytest.mark.parametrize("scale", [-0.5, 0.3, 2.0, 7.5])
def test_guided_prediction_is_on_the_line_through_both(x64, scale):
    chosen, state = schedule.vp(), _state()
    bound, free = asymmetric(8).denoiser(chosen), circulant(8).denoiser(chosen)
    guided = classifier_free(free, scale)(bound)(state, T)
    ends = free(state, T), bound(state, T)
    for mixed, a, b in zip(*(jax.tree.leaves(p) for p in (guided, *ends)), strict=True):
        np.testing.assert_allclose(mixed, a + scale * (b - a), atol=1e-12)
    # Both estimates stay those of one state: x = α x̂₀ + σ ε̂.
    for x, clean, noise in zip(state, guided.clean, guided.noise, strict=True):
        live = np.abs(np.asarray(noise)) > 0
        rebuilt = chosen.alpha(T) * clean + chosen.sigma(T) * noise
        np.testing.assert_allclose(np.asarray(rebuilt)[live], np.asarray(x)[live], atol=1e-10)


def test_without_guides_the_denoiser_is_returned_as_it_is():
    assert fold(_fail, ()) is _fail


def test_guides_apply_in_order_each_to_what_the_one_before_made(x64):
    plain, state = asymmetric(8).denoiser(schedule.vp()), _state()
    guided = fold(plain, (_affine(2.0, 1.0), _affine(1.0, 3.0), _affine(5.0, 0.0)))(state, T)
    for found, x in zip(jax.tree.leaves(guided), jax.tree.leaves(plain(state, T)), strict=True):
        np.testing.assert_allclose(found, 5 * (2 * x + 1 + 3), atol=1e-12)


def test_a_guide_after_classifier_free_guidance_sees_the_guided_denoiser(x64):
    chosen, state = schedule.vp(), _state()
    bound, free = asymmetric(8).denoiser(chosen), circulant(8).denoiser(chosen)
    guided = fold(bound, (classifier_free(free, 3.0), _affine(2.0, 0.0)))(state, T)
    alone = classifier_free(free, 3.0)(bound)(state, T)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, 2 * b), guided, alone)
