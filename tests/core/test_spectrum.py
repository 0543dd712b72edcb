"""The half spectrum and the law of white noise in it: theorem 3.1, appendix A, Parseval."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pacodi_jax.core import spectrum
from pacodi_jax.types import Quadratures
from tests.core.strategies import CHANNELS, DTYPES, LENGTHS, MODEST, SEEDS, draw_window, tolerance

SIZES = (1, 2, 3, 8, 9, 24)


def _unitary(length: int) -> np.ndarray:
    """The orthonormal DFT matrix U of appendix A, written out."""
    grid = np.outer(np.arange(length), np.arange(length))
    return np.exp(-2j * np.pi * grid / length) / np.sqrt(length)


def _full_grid(half: np.ndarray, length: int, sign: int) -> np.ndarray:
    """Puts the redundant bins back: X_{L−k} = conj(X_k), so the imaginary part changes sign."""
    return np.concatenate([half, sign * half[1 : (length + 1) // 2][::-1]])


@functools.cache
def _noise_draws(length: int) -> tuple[np.ndarray, np.ndarray]:
    """200,000 draws of spectral noise on all L bins, ``(L, 200000)`` per part."""
    keys = jax.random.split(jax.random.key(length), 2000)
    law = spectrum.noise_variance(length)
    draws = jax.jit(jax.vmap(lambda key: spectrum.sample_noise(key, law, 100)))(keys)
    real, imag = (np.moveaxis(np.asarray(p), 1, 0).reshape(-1, 200_000) for p in draws)
    return _full_grid(real, length, 1), _full_grid(imag, length, -1)


def _assert_within_five_errors(a, b, expected, variance_a, variance_b):
    a, b, count = a.astype(np.float64), b.astype(np.float64), a.shape[1]
    error = np.sqrt((np.outer(variance_a, variance_b) + expected**2) / count)
    gap = np.abs(a @ b.T / count - expected)
    assert (gap[error > 0] <= 5 * error[error > 0]).all()
    assert (gap[error == 0] == 0).all()


@pytest.mark.parametrize("length", SIZES)
def test_noise_draws_have_the_covariance_of_appendix_a(length):
    real, imag = _noise_draws(length)
    exact = Quadratures(*(np.asarray(part, np.float64) for part in spectrum.covariance(length)))
    var_r, var_i = np.diag(exact.real), np.diag(exact.imag)
    _assert_within_five_errors(real, real, exact.real, var_r, var_r)
    _assert_within_five_errors(imag, imag, exact.imag, var_i, var_i)
    assert (imag[var_i == 0] == 0).all()
    assert (var_i == 0).sum() == (1 if length % 2 else 2)


@pytest.mark.parametrize("length", SIZES)
def test_real_and_imaginary_noise_are_uncorrelated(length):
    real, imag = _noise_draws(length)
    exact = spectrum.covariance(length)
    _assert_within_five_errors(
        real, imag, np.zeros((length, length)), np.diag(exact.real), np.diag(exact.imag)
    )


@pytest.mark.parametrize("length", SIZES)
def test_covariance_is_the_algebra_of_the_unitary_matrix(x64, length):
    unitary = _unitary(length)
    exact = spectrum.covariance(length, variance=1.7)
    np.testing.assert_allclose(exact.real, 1.7 * unitary.real @ unitary.real.T, atol=1e-12)
    np.testing.assert_allclose(exact.imag, 1.7 * unitary.imag @ unitary.imag.T, atol=1e-12)
    np.testing.assert_allclose(unitary.real @ unitary.imag.T, 0, atol=1e-12)
    hermitian = exact.real + exact.imag
    np.testing.assert_allclose(hermitian, 1.7 * (unitary @ unitary.conj().T).real, atol=1e-12)


@pytest.mark.parametrize("length", [*SIZES, 25, 96])
def test_noise_variance_is_the_diagonal_of_the_covariance(x64, length):
    law, full = spectrum.noise_variance(length, 0.3), spectrum.covariance(length, 0.3)
    bins = spectrum.bin_count(length)
    for part, matrix in zip(law, full, strict=True):
        np.testing.assert_allclose(part[:, 0], np.diag(matrix)[:bins], atol=1e-15)
    assert sum((np.asarray(part) > 0).sum() for part in law) == length


def test_dc_bin_is_self_conjugate_where_the_paper_lists_only_nyquist():
    assert spectrum.self_conjugate(8).tolist() == [True, False, False, False, True]
    assert spectrum.self_conjugate(9).tolist() == [True, False, False, False, False]
    assert spectrum.bin_count(8) == spectrum.bin_count(9) == 5


@pytest.mark.parametrize("length", [8, 9])
def test_mahalanobis_loss_is_the_temporal_squared_error(x64, length):
    law, random = spectrum.noise_variance(length), np.random.default_rng(0)
    for _ in range(100):
        x, y = random.normal(size=(2, length, 3))
        a, b = spectrum.to_spectrum(jnp.asarray(x)), spectrum.to_spectrum(jnp.asarray(y))
        error = jax.tree.map(jnp.subtract, a, b)
        assert abs(spectrum.mahalanobis(error, law) - np.sum((x - y) ** 2)) <= 1e-10


def test_precision_is_the_support_inverse_of_the_noise_law(x64):
    law = spectrum.noise_variance(8)
    weights = spectrum.precision(law)
    assert weights.real[:, 0].tolist() == [1, 2, 2, 2, 1]
    assert weights.imag[:, 0].tolist() == [0, 2, 2, 2, 0]
    assert spectrum.live(law).imag[:, 0].tolist() == [0, 1, 1, 1, 0]


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES)
def test_spectrum_and_back_is_the_window_itself(seed, length, channels, dtype):
    with jax.enable_x64(dtype == np.float64):
        window = draw_window(seed, length, channels, dtype)
        half = jax.jit(spectrum.to_spectrum)(window)
        assert half.real.shape == half.imag.shape == (length // 2 + 1, channels)
        assert half.real.dtype == dtype
        back = jax.jit(lambda half: spectrum.to_series(half, length))(half)
        assert back.dtype == dtype
        np.testing.assert_allclose(back, window, atol=tolerance(dtype) * np.abs(window).max())


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES)
def test_window_and_back_is_the_spectrum_itself(seed, length, channels, dtype):
    with jax.enable_x64(dtype == np.float64):
        real, imag = np.random.default_rng(seed).normal(size=(2, length // 2 + 1, channels))
        imag[spectrum.self_conjugate(length)] = 0
        half = Quadratures(real.astype(dtype), imag.astype(dtype))
        back = jax.jit(lambda half: spectrum.to_spectrum(spectrum.to_series(half, length)))(half)
        for part, again in zip(half, back, strict=True):
            np.testing.assert_allclose(again, part, atol=10 * tolerance(dtype))


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES)
def test_padded_band_has_the_kept_bins_and_zeros_elsewhere(seed, length, channels, dtype):
    bins = length // 2 + 1
    keep, nyquist = 1 + seed % bins, bool(seed % 2)
    keep = min(keep, bins - nyquist)
    if keep < 1:
        return
    with jax.enable_x64(dtype == np.float64):

        @jax.jit
        def through_the_band(window: jax.Array) -> tuple[Quadratures, Quadratures]:
            half = spectrum.to_spectrum(window)
            band = spectrum.keep_band(half, keep, nyquist=nyquist)
            return half, spectrum.pad_band(band, length, nyquist=nyquist)

        half, full = through_the_band(draw_window(seed, length, channels, dtype))
        kept = np.arange(bins) < keep
        kept[-1] |= nyquist
        for part, padded in zip(half, full, strict=True):
            np.testing.assert_array_equal(padded, np.where(kept[:, None], part, 0))


def test_imaginary_parts_without_a_counterpart_are_ignored(x64):
    half = spectrum.to_spectrum(jnp.asarray(draw_window(0, 8, 2, np.float64)))
    spoiled = half._replace(imag=half.imag.at[jnp.array([0, 4])].set(9.0))
    np.testing.assert_array_equal(spectrum.to_series(spoiled, 8), spectrum.to_series(half, 8))
