"""Tokens of frequency bins as tokens of time steps, and back: an orthonormal transform."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.fft import next_fast_len

from pacodi_jax.networks import choices
from pacodi_jax.types import Array


def step_count(bins: int, length: int = 0) -> int:
    """M, the time steps of K bins: the window's own, so that what is local there is local here.

    Args:
      bins: K.
      length: L of the windows, whose K = L//2 + 1 bins these are; or 0 for tokens that are not
        the bins of a window. M is then at least 2K − 1, on which K bins can be told apart, and
        a length that a fast transform likes.
    """
    return length or next_fast_len(2 * bins - 1, real=True)


def matrix(bins: int, count: int) -> np.ndarray:
    """The transform as a matrix ``(M, 2K)``.

    Step m is R₀/√M + √(2/M) Σ_k (R_k cos 2πkm/M − I_k sin 2πkm/M), and for the last bin of an even
    window R_k (−1)^m/√M. All columns are orthonormal, but for the imaginary ones of these two bins,
    which have no part in it.
    """
    angles = 2 * np.pi / count * np.outer(np.arange(count), np.arange(bins))
    waves = np.concatenate([np.cos(angles), -np.sin(angles)], axis=1) * np.sqrt(2 / count)
    return (waves * _own_conjugates(bins, count, np.sqrt(0.5), 0.0)).astype(np.float32)


def to_steps(real: Array, imag: Array, count: int, form: str = "auto") -> Array:
    """Bins ``(B, K, D)`` a branch as time steps ``(B, M, D)``; white tokens stay white.

    Args:
      real: the tokens of the real branch.
      imag: those of the imaginary branch; of bins that are their own conjugates they are left out.
      count: M, from :func:`step_count`.
      form: ``product`` with :func:`matrix`, ``fft``, or ``auto`` for the faster one.
    """
    bins = real.shape[1]
    if _form(form, bins) == "product":
        return _product(matrix(bins, count), jnp.concatenate([real, imag], axis=1))
    scale = _weights(bins, count, np.sqrt(0.5))
    spectrum = jax.lax.complex(scale[0] * real, scale[1] * imag)
    return jnp.fft.irfft(spectrum, n=count, axis=1, norm="ortho")


def from_steps(steps: Array, bins: int, form: str = "auto") -> tuple[Array, Array]:
    """Time steps ``(B, M, D)`` as bins ``(B, K, D)`` of the two branches: the transpose."""
    count = steps.shape[1]
    if _form(form, bins) == "product":
        real, imag = jnp.split(_product(matrix(bins, count).T, steps), 2, axis=1)
        return real, imag
    scale = _weights(bins, count, np.sqrt(2))
    spectrum = jnp.fft.rfft(steps, axis=1, norm="ortho")[:, :bins]
    return scale[0] * jnp.real(spectrum), scale[1] * jnp.imag(spectrum)


def _form(form: str, bins: int) -> str:
    return choices.transform(bins) if form == "auto" else form


def _own_conjugates(bins: int, count: int, real: float, imag: float) -> np.ndarray:
    """``(2K,)``: ``real`` and ``imag`` at the level, and at bin M/2 if it is there; 1 elsewhere."""
    weights = np.ones((2, bins))
    alone = [0, bins - 1] if count == 2 * (bins - 1) else [0]
    weights[:, alone] = [[real], [imag]]
    return weights.reshape(-1)


def _weights(bins: int, count: int, pair: float) -> Array:
    """The weights ``(2, K, 1)`` of both quadratures: ``pair``, 1 and 0 at own conjugates."""
    weights = pair * _own_conjugates(bins, count, 1 / pair, 0.0)
    return jnp.asarray(weights.reshape(2, bins, 1), jnp.float32)


def _product(left: np.ndarray, tokens: Array) -> Array:
    """left·tokens for each example, ``(B, M, D)``."""
    if not choices.copies_matrices():
        return jnp.einsum("mk,bkd->bmd", left, tokens)
    lefts = jnp.broadcast_to(left, (tokens.shape[0], *left.shape))
    return jax.lax.dot_general(lefts, tokens, (((2,), (1,)), ((0,), (0,))))
