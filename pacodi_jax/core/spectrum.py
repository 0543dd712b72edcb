"""The half spectrum of a real window, and the law of white noise in it (paper, appendix A).

With the orthonormal transform a window ``x`` of length L has ``K = L // 2 + 1`` independent
bins. White noise of variance σ² has, in bin k, the variances ::

    Var(real) = σ² (1 + δ) / 2,    Var(imag) = σ² (1 − δ) / 2,

where δ = 1 for a bin that is its own conjugate: DC, and Nyquist when L is even.
"""

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core.checks import (
    check_finite,
    check_length,
    check_noise_law,
    check_rank,
    check_spectrum,
)
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Key, Quadratures


def bin_count(length: int) -> int:
    """K = ⌊L/2⌋ + 1, the number of independent bins of a real window of length L."""
    return check_length(length) // 2 + 1


def self_conjugate(length: int) -> np.ndarray:
    """Which bins are their own conjugate: DC, and Nyquist when L is even. Shape ``(K,)``."""
    bins = np.arange(bin_count(length))
    return (2 * bins) % length == 0


def to_spectrum(series: Array) -> Quadratures:
    """Transforms a window to its orthonormal half spectrum, X = F(x) = R + jI (section 3.1).

    Args:
      series: one window, ``(L, C)``.

    Returns:
      Its real and imaginary parts, ``(K, C)`` each.
    """
    check_rank("series", series, 2, "(L, C)")
    check_length(jnp.shape(series)[0])
    check_finite("series", series)
    spectrum = jnp.fft.rfft(series, axis=0, norm="ortho")
    return Quadratures(spectrum.real, spectrum.imag)


def to_series(spectrum: Quadratures, length: int) -> Array:
    """Transforms a half spectrum back, x = F⁻¹(X). K does not determine L, so L is an argument.

    Imaginary parts of self-conjugate bins have no counterpart in a real window and are ignored.
    """
    check_spectrum("spectrum", spectrum, bin_count(length))
    return jnp.fft.irfft(jax.lax.complex(*spectrum), n=length, axis=0, norm="ortho")


def noise_variance(length: int, variance: float = 1.0) -> Quadratures:
    """The Hermitian noise law V = σ²(1 ± δ)/2 of length L, ``(K, 1)`` per part (appendix A).

    Other functions take this value as an argument, since K does not determine L.
    """
    delta = self_conjugate(length)[:, None]
    return Quadratures(
        jnp.asarray(variance * (1 + delta) / 2), jnp.asarray(variance * (~delta) / 2)
    )


def sample_noise(key: Key, variance: Quadratures, channels: int) -> Quadratures:
    """Draws Hermitian noise E ~ N(0, V), independent slot by slot (theorem 3.1, appendix A).

    Args:
      key: random key.
      variance: the noise law V, ``(K, 1)`` or ``(K, C)`` per part.
      channels: C.

    Returns:
      ``(K, C)`` per part, exactly 0 where V = 0.
    """
    check_noise_law(variance, channels)
    keys = Quadratures(*jax.random.split(key))

    def draw(key: Key, variance: Array) -> Array:
        shape = (variance.shape[0], channels)
        return jnp.sqrt(variance) * jax.random.normal(key, shape, variance.dtype)

    return jax.tree.map(draw, keys, variance)


def covariance(length: int, variance: float = 1.0) -> Quadratures:
    """Σ_r and Σ_i on the redundant grid of all L bins, ``(L, L)`` each (appendix A).

    ``Σ_r[k, l] = σ²/2 [δ_L(k−l) + δ_L(k+l)]`` and ``Σ_i[k, l] = σ²/2 [δ_L(k−l) − δ_L(k+l)]``,
    where δ_L(n) = 1 if L divides n. It has the shape of an X and is singular, since conjugate bins
    repeat.
    """
    bins = np.arange(check_length(length))
    same = (bins[:, None] - bins[None, :]) % length == 0
    mirrored = (bins[:, None] + bins[None, :]) % length == 0
    half = variance / 2
    return Quadratures(
        jnp.asarray(half * (same * 1.0 + mirrored)), jnp.asarray(half * (same * 1.0 - mirrored))
    )


def precision(variance: Quadratures) -> Quadratures:
    """Σ⁻¹ on the independent chart: 1/V, and 0 where V = 0 (appendix A's support inverse)."""
    return jax.tree.map(lambda v: jnp.where(v > 0, 1 / jnp.where(v > 0, v, 1), 0), variance)


def live(variance: Quadratures) -> Quadratures:
    """Which slots carry noise: 1 where V > 0, else 0, in the dtype of ``variance``."""
    return jax.tree.map(lambda v: (v > 0).astype(v.dtype), variance)


def mahalanobis(error: Quadratures, variance: Quadratures) -> Array:
    """The squared norm ‖e‖²_{Σ⁻¹} = Σ e²/V over bins and channels (sections 3.2 and 5.2).

    For the noise law of a window it equals the temporal squared error exactly (Parseval):
    ``mahalanobis(to_spectrum(x) − to_spectrum(y), noise_variance(L)) == sum((x − y)²)``.
    """
    weighted = jax.tree.map(lambda e, w: jnp.sum(w * e**2), error, precision(variance))
    return weighted.real + weighted.imag


def keep_band(spectrum: Quadratures, keep: int, *, nyquist: bool = False) -> Quadratures:
    """Keeps the ``keep`` lowest bins, and the last bin too if ``nyquist`` is set (section 5.3)."""
    bins = spectrum.real.shape[0]
    if not 1 <= keep <= bins - nyquist:
        raise PacodiError(
            f"keep={keep} with nyquist={nyquist} does not fit {bins} bins; "
            f"accepted: 1 to {bins - nyquist}."
        )
    rows = np.r_[0:keep, bins - 1 : bins] if nyquist else np.arange(keep)
    return jax.tree.map(lambda part: part[rows], spectrum)


def pad_band(band: Quadratures, length: int, *, nyquist: bool = False) -> Quadratures:
    """Puts a kept band back into the half spectrum of a window of length L, zeros elsewhere."""
    bins, kept = bin_count(length), band.real.shape[0]
    keep = kept - nyquist
    if not 1 <= keep <= bins - nyquist:
        raise PacodiError(
            f"band has {kept} bins (nyquist={nyquist}), which does not fit length={length} "
            f"with {bins} bins."
        )

    def pad(part: Array) -> Array:
        full = jnp.zeros((bins, *part.shape[1:]), part.dtype).at[:keep].set(part[:keep])
        return full.at[-1].set(part[-1]) if nyquist else full

    return jax.tree.map(pad, band)
