"""Calibration: a small linear correction gives samples the means and covariances of train.

The mean m and the covariance R of the channels in train are known for every bin and quadrature.
Samples of a trained network miss them by a little, since the errors of its steps add up. A set of
draws estimates by how much: their mean is m̂ and their covariance S. Then ::

    x ↦ m + A (x − m̂),    A = S^(−½) (S^½ R S^½)^½ S^(−½),

in units of each channel's standard deviation in train, gives samples the mean and covariance of
train. As the optimal transport from one Gaussian to the other it moves samples as little as any
such map. The correction is shrunk by the sampling error of the draws. The covariance between the
real part of one channel and the imaginary part of another (which of them leads) is not corrected.
The paper has no such step; docs/experiments/calibration.md reports its effect.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.core.checks import check_alike
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Quadratures

#: Added to both covariances, in units of each channel's variance in train.
FLOOR = 1e-6

#: With fewer training windows per channel, overlapping ones included, only variances are corrected,
#: not correlations.
WINDOWS_PER_CHANNEL = 10


class Calibration(NamedTuple):
    """The map x ↦ target + matrix·(x − mean) of every bin and quadrature.

    Attributes:
      mean: m̂, of the draws, ``(K, C)`` per part.
      target: m, of train, ``(K, C)`` per part.
      matrix: A, ``(K, C, C)`` per part.
    """

    mean: Quadratures
    target: Quadratures
    matrix: Quadratures


def apply(calibration: Calibration, spectrum: Quadratures) -> Quadratures:
    """Corrects the spectrum ``(K, C)`` of one drawn window."""
    check_alike(calibration=calibration.mean, spectrum=spectrum)

    def correct(x: Array, mean: Array, target: Array, matrix: Array) -> Array:
        return target + jnp.einsum("kij,kj->ki", matrix, x - mean, precision="highest")

    return jax.tree.map(correct, spectrum, *calibration)


def identity(bins: int, channels: int) -> Calibration:
    """The correction that changes nothing, for K bins and C channels."""
    zeros = jnp.zeros((bins, channels), jnp.float32)
    eyes = jnp.broadcast_to(jnp.eye(channels, dtype=jnp.float32), (bins, channels, channels))
    return Calibration(*(Quadratures(x, x) for x in (zeros, zeros, eyes)))


def fit(train: Quadratures, drawn: Quadratures) -> Calibration:
    """Fits the correction to spectra of train ``(N, K, C)`` and of draws ``(M, K, C)``.

    Raises:
      PacodiError: if draws and train differ in bins or channels, or if a draw is not finite.
    """
    one_train, one_drawn = (jax.tree.map(lambda x: x[0], spectra) for spectra in (train, drawn))
    check_alike(train=one_train, drawn=one_drawn)
    if not all(np.isfinite(part).all() for part in drawn):
        raise PacodiError(
            "some of the windows drawn for calibration are not finite; train longer, draw with "
            "more solver steps, or set config.train.calibration=0."
        )

    def part(train: Array, drawn: Array) -> tuple[Array, ...]:
        by_bin = (rearrange(np.asarray(x), "n k c -> k n c") for x in (train, drawn))
        bins = [fit_bin(*pair) for pair in zip(*by_bin, strict=True)]
        return tuple(jnp.asarray(np.stack(x), jnp.float32) for x in zip(*bins, strict=True))

    parts = map(part, train, drawn)
    return Calibration(*(Quadratures(*pair) for pair in zip(*parts, strict=True)))


def fit_bin(train: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The correction of one bin and quadrature, in double precision.

    The difference d between draws and train is partly sampling error. Its expected square is
    tr S/M for the mean of M draws and (E|x|⁴ − |S|²)/M for their covariance, as estimated by Ledoit
    and Wolf ("A well-conditioned estimator for large-dimensional covariance matrices", 2004). So d
    is shrunk by the factor 1 − error/|d|², once for the mean and once for the covariance.

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
    many = len(train) >= WINDOWS_PER_CHANNEL * len(scale)
    mask = np.ones((len(scale), len(scale))) if many else np.eye(len(scale))
    wanted = _covariance(train, mask)
    found, shift = _covariance(drawn, mask), drawn.mean(axis=0)
    squares, excess = (drawn - shift) ** 2, found - wanted
    fourth = np.einsum("mi,ij,mj->m", squares, mask, squares, optimize=True).mean()
    excess *= _shrinkage(excess, (fourth - np.sum(found**2)) / len(drawn))
    shift *= _shrinkage(shift, np.trace(found) / len(drawn))
    matrix = transport(wanted + excess, wanted)
    return target + scale * shift, target, scale[:, None] * matrix / scale


def transport(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A = S^(−½) (S^½ R S^½)^½ S^(−½), which maps covariance S to R: A S A = R, A = Aᵀ."""
    root, inverse = _power(start, 0.5), _power(start, -0.5)
    return inverse @ _power(root @ end @ root, 0.5) @ inverse


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, FLOOR**2) ** exponent) @ vectors.T


def _covariance(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    size = x.shape[1]
    return np.cov(x, rowvar=False).reshape(size, size) * mask + FLOOR * np.eye(size)


def _shrinkage(difference: np.ndarray, error: float) -> float:
    """The share of a difference d that is not sampling error: 1 − error/|d|², in [0, 1]."""
    size = float(np.sum(difference**2))
    return max(0.0, 1 - error / size) if size else 0.0
