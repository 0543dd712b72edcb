"""Scores of ConTSG-Bench, an open benchmark of conditional generation, by its definitions.

https://github.com/seqml/ConTSG-Bench, https://arxiv.org/abs/2603.04767. Windows are ``(N, L, C)``,
of one length; embeddings ``(N, D)`` are given, as the benchmark's encoder is no part of this
package. Its WAPE is that of :mod:`pacodi_jax.metrics.conditional`; its FID is
:func:`~pacodi_jax.metrics.frechet.frechet_distance` of embeddings with a ridge of 1e-4.

| group | scores |
|---|---|
| fidelity | ``acd``, ``sd``, ``kd``, ``mdd``, :func:`precision_recall` of embeddings |
| adherence | :func:`joint_precision_recall` and ``jftsd`` of embeddings of series and text |
| utility | ``dtw``, ``ed``, ``crps`` |
"""

from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import conditional
from pacodi_jax.metrics.frechet import frechet_distance

_TINY = 1e-8
_RIDGE = 1e-4  # the benchmark adds it to the covariance of what is generated
_LAGS, _BINS, _NEIGHBOURS = 50, 32, 5


class PrecisionRecall(NamedTuple):
    """How much of what is generated looks real, how much of what is real is generated."""

    precision: float
    recall: float
    f1: float


def _checked(*windows: np.ndarray) -> list[np.ndarray]:
    """Windows as float64, their steps and channels the same."""
    arrays = [np.asarray(one, np.float64) for one in windows]
    if any(one.ndim != 3 or not len(one) or one.shape[1:] != arrays[0].shape[1:] for one in arrays):
        told = " and ".join(str(one.shape) for one in arrays)
        raise PacodiError(f"windows have shapes {told}; expected (N, L, C) of one L and C")
    return arrays


def _autocorrelation(windows: np.ndarray, lags: int) -> np.ndarray:
    """Mean over windows of each window's autocorrelation, ``(lags + 1, C)``; flat ones left out."""
    centred = windows - windows.mean(1, keepdims=True)
    power = (centred**2).sum(1)
    rows = []
    for lag in range(lags + 1):
        product = (centred[:, : windows.shape[1] - lag] * centred[:, lag:]).sum(1)
        share = np.where(power > _TINY, product / (power + _TINY), 0.0)
        rows.append(share.sum(0) / np.maximum((power > _TINY).sum(0), 1))
    return np.stack(rows)


def acd(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Autocorrelation difference: mean over channels and lags 0 to 50 of |ρ_real − ρ_synthetic|."""
    real, synthetic = _checked(real, synthetic)
    lags = min(_LAGS, real.shape[1] - 1)
    return float(np.abs(_autocorrelation(real, lags) - _autocorrelation(synthetic, lags)).mean())


def _moment(windows: np.ndarray, order: int) -> np.ndarray:
    """The standardised central moment of all values of each channel, ``(C,)``."""
    values = windows.reshape(-1, windows.shape[-1])
    centred = values - values.mean(0)
    deviation = np.sqrt((centred**2).mean(0) + _TINY)
    return (centred**order).mean(0) / (deviation**order + _TINY)


def sd(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Skewness difference of all values, averaged over channels."""
    real, synthetic = _checked(real, synthetic)
    return float(np.abs(_moment(real, 3) - _moment(synthetic, 3)).mean())


def kd(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Kurtosis difference of all values, averaged over channels."""
    real, synthetic = _checked(real, synthetic)
    return float(np.abs(_moment(real, 4) - _moment(synthetic, 4)).mean())


def mdd(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Marginal distribution difference: mean |p_real − p_synthetic| over steps, channels and bins.

    Each step of each channel has 32 bins between the least and the greatest real value; what lies
    beyond them counts in the outermost ones.
    """
    real, synthetic = _checked(real, synthetic)
    low, high = real.min(0), real.max(0)
    flat = high - low < 1e-6
    low, high = np.where(flat, low - 0.5, low), np.where(flat, low + 0.5, high)
    shares = []
    for windows in (real, synthetic):
        place = np.ceil((windows - low) / (high - low) * _BINS).astype(int) - 1
        place = np.clip(place, 0, _BINS - 1)
        shares.append(np.stack([(place == number).mean(0) for number in range(_BINS)]))
    return float(np.abs(shares[0] - shares[1]).mean())


def ed(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Euclidean distance of each window to its own, averaged over windows."""
    real, synthetic = _paired(real, synthetic)
    return float(np.sqrt(((real - synthetic) ** 2).sum((1, 2))).mean())


def dtw(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Dynamic time warping: the least √Σ‖x_i − y_j‖² along a path, averaged over windows."""
    real, synthetic = _paired(real, synthetic)
    costs = ((real[:, :, None] - synthetic[:, None]) ** 2).sum(-1)
    length = real.shape[1]
    best = np.full((len(real), length + 1, length + 1), np.inf)
    best[:, 0, 0] = 0.0
    for i in range(length):
        for j in range(length):
            before = np.minimum(best[:, i, j], np.minimum(best[:, i, j + 1], best[:, i + 1, j]))
            best[:, i + 1, j + 1] = costs[:, i, j] + before
    return float(np.sqrt(best[:, -1, -1]).mean())


def _paired(real: np.ndarray, synthetic: np.ndarray) -> list[np.ndarray]:
    """Windows one to one."""
    if len(real) != len(synthetic):
        raise PacodiError(f"{len(synthetic)} windows for {len(real)} real ones; give one for each")
    return _checked(real, synthetic)


def precision_recall(
    real: np.ndarray, synthetic: np.ndarray, neighbours: int = _NEIGHBOURS
) -> PrecisionRecall:
    """Shares of points within the radius of their nearest point on the other side.

    The radius of a point is the distance to its k-th neighbour on its own side. Precision asks
    this of generated points, recall of real ones.

    Args:
      real: embeddings ``(N, D)``.
      synthetic: embeddings ``(M, D)``.
      neighbours: k.
    """
    real, synthetic = np.asarray(real, np.float64), np.asarray(synthetic, np.float64)
    if min(len(real), len(synthetic)) <= neighbours:
        raise PacodiError(f"{neighbours} neighbours need more than {neighbours} points per side")
    across = _distances(real, synthetic)
    radii = [np.sort(_distances(one, one), axis=1)[:, neighbours] for one in (real, synthetic)]
    precision = float((across.min(0) <= radii[0][across.argmin(0)]).mean())
    recall = float((across.min(1) <= radii[1][across.argmin(1)]).mean())
    total = precision + recall
    return PrecisionRecall(precision, recall, 2 * precision * recall / total if total else 0.0)


def _distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Squared distances ``(N, M)``, never below 0."""
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    return np.maximum(squares, 0.0)


def joint_precision_recall(
    real: np.ndarray, synthetic: np.ndarray, text: np.ndarray, neighbours: int = _NEIGHBOURS
) -> PrecisionRecall:
    """:func:`precision_recall` of series beside their texts, each standardised by itself.

    Args:
      real: embeddings of real series ``(N, D)``.
      synthetic: of generated ones, for the same texts ``(N, D)``.
      text: of the texts ``(N, E)``.
      neighbours: k.
    """
    both = np.concatenate([real, synthetic])
    mean, deviation = both.mean(0), both.std(0) + 1e-6
    told = (text - text.mean(0)) / (text.std(0) + 1e-6)
    left, right = (
        np.concatenate([(one - mean) / deviation, told], axis=1) for one in (real, synthetic)
    )
    return precision_recall(left, right, neighbours)


def jftsd(real: np.ndarray, synthetic: np.ndarray, text: np.ndarray, told: np.ndarray) -> float:
    """Joint Fréchet distance of embeddings of series and text side by side.

    Args:
      real: embeddings of the reference's series ``(M, D)``.
      synthetic: of the generated series ``(N, D)``.
      text: of the reference's texts ``(M, E)``.
      told: of the texts that the generated series were drawn for ``(N, E)``.
    """
    reference = np.concatenate([real, text], axis=1)
    return frechet_distance(reference, np.concatenate([synthetic, told], axis=1), _RIDGE)


def crps(real: np.ndarray, draws: np.ndarray) -> float:
    """E|X − y| − ½E|X − X'| over different draws X, X', fair at any number of them.

    :func:`pacodi_jax.metrics.conditional.crps` scores the draws as a distribution instead, and so
    counts each draw against itself.

    Args:
      real: ``(N, L, C)``.
      draws: ``(n, N, L, C)``, n of 2 and more.
    """
    if len(draws) < 2:
        raise PacodiError("the fair CRPS compares different draws; give 2 or more per window")
    error = float(np.abs(draws - real).mean())
    spread = error - conditional.crps(real, draws)
    return error - spread * len(draws) / (len(draws) - 1)
