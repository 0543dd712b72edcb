"""Samples with train's means and covariances: a small linear correction of every bin.

What train has in every bin and quadrature is known: the mean m and the covariance R of the
channels. Samples of a trained network miss them by a little, since the errors of its steps add
up; some draws tell by how much: their mean m̂ and their covariance S. Then ::

    x ↦ m + A (x − m̂),    A = S^(−½) (S^½ R S^½)^½ S^(−½),

all in units of each channel's deviation in train, has train's mean and covariance and, as the
optimal transport of one Gaussian to the other, moves samples as little as any map that has. What
is corrected is shrunk by the chance of the draws. What the real part of one channel has to do with
the imaginary part of another (which of them leads) is not corrected. The paper has nothing like it;
docs/results.md has what it does.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Quadratures

#: Added to both covariances, in units of each channel's variance in train.
FLOOR = 1e-6

#: With fewer training windows for each channel, overlapping ones included, only variances are
#: corrected, not correlations.
WINDOWS_A_CHANNEL = 10


class Calibration(NamedTuple):
    """The map x ↦ target + matrix·(x − mean) of every bin and quadrature.

    Attributes:
      mean: m̂, of the draws, ``(K, C)`` a part.
      target: m, of train, ``(K, C)`` a part.
      matrix: A, ``(K, C, C)`` a part.
    """

    mean: Quadratures
    target: Quadratures
    matrix: Quadratures


def apply(calibration: Calibration, spectrum: Quadratures) -> Quadratures:
    """Corrects the spectrum ``(K, C)`` of one drawn window."""

    def correct(x: Array, mean: Array, target: Array, matrix: Array) -> Array:
        return target + jnp.einsum("kij,kj->ki", matrix, x - mean, precision="highest")

    return jax.tree.map(correct, spectrum, *calibration)


def identity(bins: int, channels: int) -> Calibration:
    """The correction that changes nothing, of K bins and C channels."""
    zeros = jnp.zeros((bins, channels), jnp.float32)
    eyes = jnp.broadcast_to(jnp.eye(channels, dtype=jnp.float32), (bins, channels, channels))
    return Calibration(*(Quadratures(x, x) for x in (zeros, zeros, eyes)))


def fit(train: Quadratures, drawn: Quadratures) -> Calibration:
    """Fits the correction to spectra of train ``(N, K, C)`` and of draws ``(M, K, C)``.

    Raises:
      PacodiError: if a draw is not finite.
    """
    if not all(np.isfinite(part).all() for part in drawn):
        raise PacodiError(
            "some of the windows drawn for calibration are not finite; train longer, draw with "
            "more solver steps, or set config.train.calibration=0."
        )

    def part(train: Array, drawn: Array) -> tuple[Array, ...]:
        pairs = zip(*(np.asarray(x).swapaxes(0, 1) for x in (train, drawn)), strict=True)
        bins = [fit_bin(*pair) for pair in pairs]
        return tuple(jnp.asarray(np.stack(x), jnp.float32) for x in zip(*bins, strict=True))

    parts = map(part, train, drawn)
    return Calibration(*(Quadratures(*pair) for pair in zip(*parts, strict=True)))


def fit_bin(train: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The correction of one bin and quadrature, in double precision.

    What separates draws from train, d, is partly chance: the mean of M draws has tr S/M of it, and
    their covariance (E|x|⁴ − |S|²)/M, as Ledoit and Wolf estimate it ("A well-conditioned estimator
    for large-dimensional covariance matrices", 2004). So d counts 1 − chance/|d|², once for the
    mean and once for the covariance.

    Args:
      train: ``(N, C)``.
      drawn: ``(M, C)``.

    Returns:
      m̂ ``(C,)``, m ``(C,)`` and A ``(C, C)``.
    """
    train, drawn = np.asarray(train, np.float64), np.asarray(drawn, np.float64)
    target, scale = train.mean(axis=0), train.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    train, drawn = (train - target) / scale, (drawn - target) / scale
    many = len(train) >= WINDOWS_A_CHANNEL * len(scale)
    mask = np.ones((len(scale), len(scale))) if many else np.eye(len(scale))
    wanted = _covariance(train, mask)
    found, shift = _covariance(drawn, mask), drawn.mean(axis=0)
    squares, excess = (drawn - shift) ** 2, found - wanted
    fourth = np.einsum("mi,ij,mj->m", squares, mask, squares, optimize=True).mean()
    excess *= _believed(excess, (fourth - np.sum(found**2)) / len(drawn))
    shift *= _believed(shift, np.trace(found) / len(drawn))
    matrix = transport(wanted + excess, wanted)
    return target + scale * shift, target, scale[:, None] * matrix / scale


def transport(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A = S^(−½) (S^½ R S^½)^½ S^(−½), which takes covariance S to R: A S A = R, A = Aᵀ."""
    root, inverse = _power(start, 0.5), _power(start, -0.5)
    return inverse @ _power(root @ end @ root, 0.5) @ inverse


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, FLOOR**2) ** exponent) @ vectors.T


def _covariance(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    size = x.shape[1]
    return np.cov(x, rowvar=False).reshape(size, size) * mask + FLOOR * np.eye(size)


def _believed(difference: np.ndarray, chance: float) -> float:
    """How much of a difference is not chance, in [0, 1]: 1 − chance/|d|², of squared size."""
    size = float(np.sum(difference**2))
    return max(0.0, 1 - chance / size) if size else 0.0
