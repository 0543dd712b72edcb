"""Filters per channel, applied to bins, against convolutions of the steps themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.networks.filters import GROUPS, TAPS, Filter, distances, response
from pacodi_jax.networks.steps import from_steps, to_steps


def convolved(steps, taps, count):
    """Σ_j h_j x_{n−js}, circular, channel by channel."""
    expected = np.zeros_like(steps)
    width = steps.shape[-1]
    for channel in range(width):
        group = next(g for g in range(GROUPS) if channel < round(width * (g + 1) / GROUPS))
        for tap in range(TAPS):
            shift = (tap - TAPS // 2) * distances(count)[group]
            expected[..., channel] += taps[tap, channel] * np.roll(steps[..., channel], shift, 1)
    return expected


@pytest.mark.parametrize(("length", "width"), [(1, 4), (7, 5), (24, 8), (64, 2), (130, 6)])
def test_a_filter_of_bins_is_a_circular_convolution_of_steps(length, width):
    steps = jax.random.normal(jax.random.key(length), (2, length, width))
    bins = length // 2 + 1
    module, branches = Filter(length), from_steps(steps, bins)
    params = module.init(jax.random.key(0), *branches)
    found = to_steps(*module.apply(params, *branches), length)
    taps = np.asarray(params["params"]["taps"])
    if length % 2:
        expected = convolved(np.asarray(steps), taps, length)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    else:  # the Nyquist bin has no imaginary part, so no filter can turn it
        spectra = [np.fft.rfft(x, axis=1)[:, :-1] for x in (found, convolved(steps, taps, length))]
        np.testing.assert_allclose(*spectra, atol=1e-3)


def test_filters_reach_a_fixed_share_of_the_window():
    assert distances(24) == [1, 1, 1, 2]
    assert distances(128) == [1, 2, 4, 8]
    assert distances(4096)[0] == 1
    assert distances(4096)[-1] == 256


def test_a_response_is_exact_in_long_windows():
    """Angles of thousands of turns would lose their fraction in float32."""
    length, bins = 16_384, 8_193
    taps = np.zeros((TAPS, GROUPS), np.float32)
    taps[-1] = 1.0
    real, imag = response(jnp.asarray(taps), bins, length)
    delays = 2 * np.array(distances(length))
    expected = np.exp(-2j * np.pi * np.outer(np.arange(bins), delays) / length)
    np.testing.assert_allclose(real + 1j * imag, expected, atol=1e-6)
