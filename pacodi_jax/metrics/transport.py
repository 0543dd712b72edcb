"""Wasserstein distances of each channel's values and of random projections of whole windows."""

import numpy as np
import scipy.stats

from pacodi_jax.metrics.inputs import checked

PROJECTIONS = 256
#: Quantiles at which two sorted samples of different sizes are compared.
QUANTILES = 4096


def sorted_distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """W₁ between the columns of ``(n, D)`` and ``(m, D)``: mean gap between their quantiles."""
    first, second = np.sort(first, axis=0), np.sort(second, axis=0)
    if len(first) != len(second):
        levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
        first, second = (
            rows[np.minimum((levels * len(rows)).astype(int), len(rows) - 1)]
            for rows in (first, second)
        )
    return np.abs(first - second).mean(axis=0)


@checked()
def wasserstein(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """W₁ between the values of a channel in real and synthetic windows, averaged over channels.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    channels = range(real.shape[-1])
    distances = [
        scipy.stats.wasserstein_distance(real[..., c].ravel(), synthetic[..., c].ravel())
        for c in channels
    ]
    return float(np.mean(distances))


@checked()
def sliced_wasserstein(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """W₁ between whole windows along random directions of ℝ^(L·C), averaged.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: of the 256 directions.
    """
    rng = np.random.default_rng(seed)
    size = real.shape[1] * real.shape[2]
    directions = rng.standard_normal((size, PROJECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    projected = [
        np.asarray(w, np.float64).reshape(len(w), -1) @ directions for w in (real, synthetic)
    ]
    return float(sorted_distance(*projected).mean())
