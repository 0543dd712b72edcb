"""Level and scale in the vacant DC slot: exact to encode and decode, nothing borrowed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pacodi_jax.core import level, spectrum
from tests.core.strategies import CHANNELS, DTYPES, LENGTHS, MODEST, SEEDS, draw_window, tolerance


def _windows(count: int = 400, length: int = 12) -> np.ndarray:
    """Windows whose level and scale vary, two channels of very different units."""
    random = np.random.default_rng(0)
    scale = np.exp(random.normal(0.0, 0.7, (count, 1, 2)))
    walk = random.normal(size=(count, length, 2))
    return (random.normal(5.0, 2.0, (count, 1, 2)) + scale * walk) * np.array([1.0, 1e3])


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES)
def test_decode_is_the_inverse_of_encode(seed, length, channels, dtype):
    with jax.enable_x64(dtype == np.float64):
        windows = np.stack([draw_window(seed + i, length, channels, dtype) for i in range(3)])

        @jax.jit
        def round_trip(windows: jax.Array) -> jax.Array:
            fitted = level.fit(windows)
            return level.decode(level.encode(windows[0], fitted), fitted, length)

        back = round_trip(windows)
        assert back.dtype == dtype
        np.testing.assert_allclose(
            back, windows[0], atol=20 * tolerance(dtype) * np.abs(windows).max()
        )


def test_statistics_of_train_are_standardised_in_the_dc_slots(x64):
    windows = jnp.asarray(_windows())
    fitted = level.fit(windows)
    encoded = jax.vmap(lambda window: level.encode(window, fitted))(windows)
    for slot in (encoded.real[:, 0], encoded.imag[:, 0]):
        np.testing.assert_allclose(slot.mean(0), 0, atol=1e-10)
        np.testing.assert_allclose(slot.std(0), 1, atol=1e-10)


def test_token_count_does_not_change_and_one_more_slot_is_live(x64):
    windows = jnp.asarray(_windows())
    encoded = level.encode(windows[0], level.fit(windows))
    assert encoded.real.shape == spectrum.to_spectrum(windows[0]).real.shape
    for length in (1, 2, 8, 9):
        law = level.noise_variance(length)
        assert sum(int((part > 0).sum()) for part in law) == length + 1
        assert float(law.real[0, 0]) == float(law.imag[0, 0]) == 1.0


def test_flat_windows_have_a_finite_scale_and_come_back(x64):
    windows = _windows()
    windows[0, :, 0] = 3.0
    fitted = level.fit(jnp.asarray(windows))
    encoded = level.encode(jnp.asarray(windows[0]), fitted)
    assert np.isfinite(encoded.imag).all()
    np.testing.assert_allclose(level.decode(encoded, fitted, 12), windows[0], rtol=1e-10)
    _, _, scale = level.standardise(jnp.asarray(windows[0]), fitted.floor)
    assert float(scale[0]) == pytest.approx(level.FLOOR * windows[:, :, 0].std(), rel=1e-10)


def test_quiet_windows_keep_a_part_of_their_amplitude(x64):
    windows = jnp.asarray(_windows())
    fitted = level.fit(windows)
    shape, _, scale = level.standardise(windows[3], fitted.floor)
    deviation, floor = windows[3].std(axis=0), level.FLOOR * windows.std(axis=(0, 1))
    np.testing.assert_allclose(scale**2, deviation**2 + floor**2, rtol=1e-10)
    np.testing.assert_allclose(shape.std(axis=0), deviation / scale, rtol=1e-10)


def test_sampled_level_and_scale_come_from_the_spectrum_alone(x64):
    fitted = level.fit(jnp.asarray(_windows()))
    noise = spectrum.sample_noise(jax.random.key(0), level.noise_variance(12), 2)
    moved = noise._replace(
        real=noise.real.at[0].add(1.0),
        imag=noise.imag.at[0].add(jnp.log(2.0) / fitted.log_deviation),
    )
    before, after = (level.decode(state, fitted, 12) for state in (noise, moved))
    np.testing.assert_allclose(after.mean(0) - before.mean(0), fitted.deviation, rtol=1e-9)
    np.testing.assert_allclose(after.std(0) / before.std(0), 2.0, rtol=1e-9)


def test_constant_data_are_fitted_without_dividing_by_zero(x64):
    fitted = level.fit(jnp.full((5, 8, 1), 2.0))
    encoded = level.encode(jnp.full((8, 1), 2.0), fitted)
    assert all(np.isfinite(part).all() for part in encoded)
    np.testing.assert_allclose(level.decode(encoded, fitted, 8), 2.0)
