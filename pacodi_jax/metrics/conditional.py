"""Scores of generated windows against the one true window of each condition."""

import numpy as np

from pacodi_jax.errors import PacodiError


def _paired(real: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as float64; refuses draws ``(n, N, L, C)`` whose windows do not match ``real``."""
    if draws.ndim != real.ndim + 1 or draws.shape[1:] != real.shape or not len(draws):
        raise PacodiError(
            f"draws have shape {draws.shape}; expected (draws, {', '.join(map(str, real.shape))}): "
            "one window per condition, in the order of the real windows"
        )
    return np.asarray(real, np.float64), np.asarray(draws, np.float64)


def mse(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Mean squared error of ``synthetic (N, L, C)``, compared window by window."""
    real, draws = _paired(real, synthetic[None])
    return float(((draws[0] - real) ** 2).mean())


def wape(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Weighted absolute percentage error, Σ|synthetic − real| / Σ|real|, as a fraction.

    Raises:
      PacodiError: when all real values are zero.
    """
    real, draws = _paired(real, synthetic[None])
    total = np.abs(real).sum()
    if total == 0:
        raise PacodiError("wape divides by the sum of |real|, which is 0; use mse instead")
    return float(np.abs(draws[0] - real).sum() / total)


def best_of_n(real: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Returns, for each real window, the draw with the least squared error.

    The choice uses the true window, so its error says whether one of n draws is right.

    Args:
      real: ``(N, L, C)``.
      draws: ``(n, N, L, C)``.

    Returns:
      ``(N, L, C)``.
    """
    real, draws = _paired(real, draws)
    best = ((draws - real) ** 2).mean(axis=(2, 3)).argmin(axis=0)
    return draws[best, np.arange(len(real))]


def crps(real: np.ndarray, draws: np.ndarray) -> float:
    """Continuous ranked probability score of the draws' empirical distribution, averaged.

    E|X − y| − ½E|X − X'| for X, X' from the n draws; with one draw it is the absolute error.

    Args:
      real: ``(N, L, C)``.
      draws: ``(n, N, L, C)``.
    """
    real, draws = _paired(real, draws)
    count = len(draws)
    error = np.abs(draws - real).mean()
    weights = 2 * np.arange(count) - count + 1
    spread = np.tensordot(weights, np.sort(draws, axis=0), axes=1).mean() / count**2
    return float(error - spread)
