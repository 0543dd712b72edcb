"""Samples with train's means and covariances: a small linear correction of every bin.

What train has in every bin and quadrature is known: the mean m and the covariance R of the
channels. Samples of a trained network miss them by a little, since the errors of its steps add
up; some draws tell by how much: their mean m̂ and their covariance S. Then ::

    x ↦ m + A (x − m̂),    A = S^(−½) (S^½ R S^½)^½ S^(−½),

all in units of each channel's deviation in train, has train's mean and covariance and, as the
optimal transport of one Gaussian to the other, moves samples as little as any map that has. What
is corrected is shrunk by how far two halves of the draws disagree on it. What the real part of one
channel has to do with the imaginary part of another (which of them leads) is not corrected. The
paper has nothing like it; docs/results.md has what it does.
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

    Of what separates draws from train, d, as much is believed as two halves of the draws agree on:
    their difference has four times the chance of the whole, so d counts 1 − |d₁ − d₂|²/(4 |d|²),
    once for the mean and once for the covariance. For a single channel that is a rough guess.

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
    mask = 1.0 if len(train) >= WINDOWS_A_CHANNEL * len(scale) else np.eye(len(scale))
    wanted = _covariance(train, mask)
    halves = drawn, drawn[::2], drawn[1::2]
    excess = [_covariance(x, mask) - wanted for x in halves]
    shift = [x.mean(axis=0) for x in halves]
    matrix = transport(wanted + _believed(*excess) * excess[0], wanted)
    mean = target + scale * _believed(*shift) * shift[0]
    return mean, target, scale[:, None] * matrix / scale


def transport(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A = S^(−½) (S^½ R S^½)^½ S^(−½), which takes covariance S to R: A S A = R, A = Aᵀ."""
    root, inverse = _power(start, 0.5), _power(start, -0.5)
    return inverse @ _power(root @ end @ root, 0.5) @ inverse


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, FLOOR**2) ** exponent) @ vectors.T


def _covariance(x: np.ndarray, mask: np.ndarray | float) -> np.ndarray:
    size = x.shape[1]
    return np.cov(x, rowvar=False).reshape(size, size) * mask + FLOOR * np.eye(size)


def _believed(whole: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """How much of an estimate is not chance, in [0, 1], from those of two halves of the draws."""
    size = float(np.sum(whole**2))
    return max(0.0, 1 - float(np.sum((first - second) ** 2)) / (4 * size)) if size else 0.0
