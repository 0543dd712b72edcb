"""From tokens of frequency bins to tokens of time steps and back: an orthonormal transform."""

import jax
import jax.numpy as jnp
import numpy as np
from einops import pack, rearrange
from scipy.fft import next_fast_len

from pacodi_jax.networks import choices
from pacodi_jax.types import Array


def step_count(bins: int, length: int = 0) -> int:
    """M, the number of time steps: that of the window, so that what is local stays local.

    Args:
      bins: K.
      length: L of the windows whose K = L//2 + 1 bins these are, or 0 for tokens that are not the
        bins of a window. M is then the first fast transform length from 2K − 1 on, below which K
        bins are not distinguishable.
    """
    return length or next_fast_len(2 * bins - 1, real=True)


def matrix(bins: int, count: int) -> np.ndarray:
    """The transform as a matrix ``(M, 2K)``.

    Step m is R₀/√M + √(2/M) Σ_k (R_k cos 2πkm/M − I_k sin 2πkm/M), and for the Nyquist bin of an
    even window R_k (−1)^m/√M. The columns are orthonormal, except that the imaginary columns of DC
    and Nyquist are 0.
    """
    angles = 2 * np.pi / count * np.outer(np.arange(count), np.arange(bins))
    waves = np.concatenate([np.cos(angles), -np.sin(angles)], axis=1) * np.sqrt(2 / count)
    return (waves * _own_conjugates(bins, count, np.sqrt(0.5), 0.0)).astype(np.float32)


def to_steps(real: Array, imag: Array, count: int, form: str = "auto") -> Array:
    """Transforms bins ``(B, K, D)`` per branch to time steps ``(B, M, D)``; white stays white.

    Args:
      real: the tokens of the real branch.
      imag: the tokens of the imaginary branch; those of DC and Nyquist are not used.
      count: M, from :func:`step_count`.
      form: ``product`` with :func:`matrix`, ``fft``, or ``auto`` for the faster one.
    """
    bins = real.shape[1]
    if _form(form, bins) == "product":
        return _product(matrix(bins, count), pack([real, imag], "b * d")[0])
    scale = _weights(bins, count, np.sqrt(0.5))
    spectrum = jax.lax.complex(scale[0] * real, scale[1] * imag)
    return jnp.fft.irfft(spectrum, n=count, axis=1, norm="ortho")


def from_steps(steps: Array, bins: int, form: str = "auto") -> tuple[Array, Array]:
    """The transpose: time steps ``(B, M, D)`` to bins ``(B, K, D)`` of the two branches."""
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
    """``(2K,)``: ``real`` and ``imag`` at DC and, if present, Nyquist; 1 elsewhere."""
    weights = np.ones((2, bins))
    alone = [0, bins - 1] if count == 2 * (bins - 1) else [0]
    weights[:, alone] = [[real], [imag]]
    return rearrange(weights, "part k -> (part k)")


def _weights(bins: int, count: int, pair: float) -> Array:
    """Weights ``(2, K, 1)`` of the quadratures: ``pair``; at DC and Nyquist 1 and 0."""
    weights = pair * _own_conjugates(bins, count, 1 / pair, 0.0)
    return jnp.asarray(rearrange(weights, "(part k) -> part k 1", part=2), jnp.float32)


def _product(left: np.ndarray, tokens: Array) -> Array:
    """left·tokens for each example, ``(B, M, D)``."""
    if not choices.copies_matrices():
        return jnp.einsum("mk,bkd->bmd", left, tokens)
    lefts = jnp.broadcast_to(left, (tokens.shape[0], *left.shape))
    return jax.lax.dot_general(lefts, tokens, (((2,), (1,)), ((0,), (0,))))
