"""Correlations across channels and over time, and how far synthetic windows are from real ones."""

import numpy as np

from pacodi_jax.metrics.inputs import checked

WINDOWS = 1000


def cross_correlation(windows: np.ndarray) -> np.ndarray:
    """Returns the ``(C, C)`` correlation matrix over all steps of ``windows (N, L, C)``.

    A constant channel has correlation 0 with everything.
    """
    rows = np.asarray(windows, np.float64).reshape(-1, windows.shape[-1])
    rows = rows - rows.mean(axis=0)
    deviation = rows.std(axis=0)
    rows = rows / np.where(deviation > 0, deviation, np.inf)
    return rows.T @ rows / len(rows)


@checked()
def correlational_score(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """Σ |ρ_real − ρ_synthetic| over the lower triangle of the correlation matrices, over 10.

    On 1000 random windows per side, as published; their sampling error is most of the floor. After
    Liao et al., "Conditional Sig-Wasserstein GANs for Time Series Generation", 2020.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: of the choice of windows.
    """
    rng = np.random.default_rng(seed)
    matrices = [
        cross_correlation(windows[rng.permutation(len(windows))[:WINDOWS]])
        for windows in (real, synthetic)
    ]
    return float(np.abs(np.tril(matrices[0] - matrices[1])).sum() / 10)


def autocorrelation(windows: np.ndarray) -> np.ndarray:
    """Returns the autocorrelation ``(L, C)`` at lags 0…L−1, pooled over ``windows (N, L, C)``.

    Deviations are from the channel's mean over all windows, so that a level which lasts a whole
    window counts as correlation. Each lag is averaged over its pairs of steps.
    """
    return _autocorrelation(windows - windows.mean(axis=(0, 1), dtype=np.float64))


def own_mean_autocorrelation(windows: np.ndarray) -> np.ndarray:
    """Returns the same ``(L, C)`` with deviations from each window's own mean.

    What remains is the dependence within a window: of white noise it is −1/(L − 1) at every lag,
    where the pooled one is 0, and a level that is added to a window changes nothing.
    """
    return _autocorrelation(windows - windows.mean(axis=1, keepdims=True, dtype=np.float64))


def _autocorrelation(centred: np.ndarray) -> np.ndarray:
    """Covariances of deviations ``(N, L, C)`` by lag, each over its pairs of steps, over lag 0."""
    length = centred.shape[1]
    power = np.abs(np.fft.rfft(centred, 2 * length, axis=1)) ** 2
    sums = np.fft.irfft(power.mean(axis=0), 2 * length, axis=0)[:length]
    covariance = sums / np.arange(length, 0, -1)[:, None]
    return covariance / np.where(covariance[0] > 0, covariance[0], np.inf)


@checked()
def autocorrelation_distance(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """Mean |difference| of the autocorrelations over channels and lags 1…L−1.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    return float(np.abs(autocorrelation(real) - autocorrelation(synthetic))[1:].mean())


@checked()
def own_mean_autocorrelation_distance(
    real: np.ndarray, synthetic: np.ndarray, *, seed: int
) -> float:
    """Mean |difference| of the autocorrelations around each window's own mean, as above.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    curves = [own_mean_autocorrelation(windows) for windows in (real, synthetic)]
    return float(np.abs(curves[0] - curves[1])[1:].mean())
