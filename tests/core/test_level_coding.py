"""Level and scale modes: each decodes what it encoded, and only the oracle needs real windows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import level_coding, spectrum
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Quadratures


def _windows(length):
    key = jax.random.key(0)
    level, scale, shape = jax.random.split(key, 3)
    return jax.random.normal(shape, (30, length, 2)) * jnp.exp(
        jax.random.normal(scale, (30, 1, 2))
    ) + 3 * jax.random.normal(level, (30, 1, 2))


@pytest.mark.parametrize("length", [9, 10])
@pytest.mark.parametrize("mode", level_coding.MODES)
def test_decode_inverts_encode(mode, length):
    windows = _windows(length)
    fitted = level_coding.fit(mode, windows)
    spectra = jax.vmap(fitted.encode)(windows)
    borrowed = jax.vmap(fitted.real)(windows) if mode == "oracle" else ()
    np.testing.assert_allclose(jax.vmap(fitted.decode)(spectra, *borrowed), windows, atol=2e-5)


def test_only_generated_statistics_open_the_imaginary_dc_slot():
    windows = _windows(8)
    slots = {m: float(level_coding.fit(m, windows).variance.imag[0, 0]) for m in level_coding.MODES}
    assert slots == {"none": 0, "generated": 1, "oracle": 0}


def test_generated_and_oracle_spectra_hold_no_level_of_their_own():
    windows = _windows(8)
    shifted = 5 * windows + 100
    oracle = level_coding.fit("oracle", windows)
    for a, b in zip(
        jax.vmap(oracle.encode)(windows), jax.vmap(oracle.encode)(shifted), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_the_oracle_says_what_it_is_and_nothing_else_takes_real_statistics():
    windows = _windows(8)
    clean = Quadratures(*spectrum.to_spectrum(windows[0]))
    assert "REAL" in level_coding.fit("oracle", windows).label
    with pytest.raises(PacodiError, match="oracle"):
        level_coding.fit("oracle", windows).decode(clean)
    with pytest.raises(PacodiError, match="oracle"):
        level_coding.fit("generated", windows).decode(clean, jnp.zeros(2), jnp.ones(2))
    with pytest.raises(PacodiError, match="Did you mean 'generated'"):
        level_coding.fit("generate", windows)
