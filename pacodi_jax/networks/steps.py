"""Tokens of frequency bins as tokens of time steps, and back: an orthonormal transform."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.fft import next_fast_len

from pacodi_jax.networks import choices
from pacodi_jax.types import Array


def step_count(bins: int) -> int:
    """M ≥ 2K − 1, the time steps on which K bins can be told apart, whatever the window's length.

    It is the next length that a fast transform likes, so that it is the same for both forms.
    """
    return next_fast_len(2 * bins - 1, real=True)


def matrix(bins: int) -> np.ndarray:
    """The transform as a matrix ``(M, 2K)``, whose columns are orthonormal but for one.

    Step m is R₀/√M + √(2/M) Σ_{k≥1} (R_k cos 2πkm/M − I_k sin 2πkm/M); I₀ has no part in it.
    """
    count = step_count(bins)
    angles = 2 * np.pi / count * np.outer(np.arange(count), np.arange(bins))
    columns = np.concatenate([np.cos(angles), -np.sin(angles)], axis=1) * np.sqrt(2 / count)
    columns[:, 0] /= np.sqrt(2)
    return columns.astype(np.float32)


def to_steps(real: Array, imag: Array, form: str = "auto") -> Array:
    """Bins ``(B, K, D)`` a branch as time steps ``(B, M, D)``; white tokens stay white.

    Args:
      real: the tokens of the real branch.
      imag: those of the imaginary branch; its first token is left out.
      form: ``product`` with :func:`matrix`, ``fft``, or ``auto`` for the faster one.
    """
    bins = real.shape[1]
    if _form(form, bins) == "product":
        return _product(matrix(bins), jnp.concatenate([real, imag], axis=1))
    scale = _pairs(bins, np.sqrt(0.5))
    spectrum = jax.lax.complex(scale[0] * real, scale[1] * imag)
    return jnp.fft.irfft(spectrum, n=step_count(bins), axis=1, norm="ortho")


def from_steps(steps: Array, bins: int, form: str = "auto") -> tuple[Array, Array]:
    """Time steps ``(B, M, D)`` as bins ``(B, K, D)`` of the two branches: the transpose."""
    if _form(form, bins) == "product":
        real, imag = jnp.split(_product(matrix(bins).T, steps), 2, axis=1)
        return real, imag
    scale = _pairs(bins, np.sqrt(2))
    spectrum = jnp.fft.rfft(steps, axis=1, norm="ortho")[:, :bins]
    return scale[0] * jnp.real(spectrum), scale[1] * jnp.imag(spectrum)


def _form(form: str, bins: int) -> str:
    return choices.transform(bins) if form == "auto" else form


def _pairs(bins: int, factor: float) -> Array:
    """The weights ``(2, K, 1)`` of both quadratures: ``factor``, at the level 1 and 0."""
    weights = np.full((2, bins, 1), factor, np.float32)
    weights[:, 0, 0] = 1.0, 0.0
    return jnp.asarray(weights)


def _product(left: np.ndarray, tokens: Array) -> Array:
    """left·tokens for each example, ``(B, M, D)``."""
    if not choices.copies_matrices():
        return jnp.einsum("mk,bkd->bmd", left, tokens)
    lefts = jnp.broadcast_to(left, (tokens.shape[0], *left.shape))
    return jax.lax.dot_general(lefts, tokens, (((2,), (1,)), ((0,), (0,))))
