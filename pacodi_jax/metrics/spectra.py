"""Spectra of real and synthetic windows: their power, and the coupling of their phases."""

import numpy as np

from pacodi_jax.metrics.inputs import checked

#: Power is clipped from below at this share of a channel's total, where it is rounding error.
POWER_FLOOR = 1e-8


def power_spectrum(windows: np.ndarray) -> np.ndarray:
    """Returns the mean periodogram ``(L // 2 + 1, C)`` of ``windows (N, L, C)``.

    Deviations are from the channel's mean over all windows, so bin 0 is the variance of levels.
    """
    centred = windows - windows.mean(axis=(0, 1), dtype=np.float64)
    return (np.abs(np.fft.rfft(centred, axis=1, norm="ortho")) ** 2).mean(axis=0)


@checked()
def power_spectrum_distance(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """Mean |10 log₁₀(P_synthetic / P_real)| over bins and channels, in decibels.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    powers = [power_spectrum(windows) for windows in (real, synthetic)]
    floor = POWER_FLOOR * powers[0].sum(axis=0) + np.finfo(np.float64).tiny
    levels = [10 * np.log10(np.maximum(power, floor)) for power in powers]
    return float(np.abs(levels[0] - levels[1]).mean())


def _phasors(windows: np.ndarray) -> np.ndarray:
    """Unit quadratures (cos φ, sin φ) of each bin above 0: ``(N, 2, L // 2, C)``; 0 where flat."""
    centred = windows - windows.mean(axis=1, keepdims=True, dtype=np.float64)
    spectrum = np.fft.rfft(centred, axis=1)[:, 1:]
    size = np.abs(spectrum)
    unit = spectrum / np.where(size > 1e-6 * size.max(), size, np.inf)
    return np.stack([unit.real, unit.imag], axis=1).astype(np.float32)


def phase_coherence(windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How phases of ``windows (N, L, C)`` are coupled across bins and across channels.

    With φ the phase of a bin, both are second moments of the quadratures (cos φ, sin φ), so they
    hold the coupling between a window's real and imaginary parts as well as within each.

    Returns:
      Across the bins of a channel, ``(C, 2K, 2K)``, and across the channels of a bin,
      ``(K, 2C, 2C)``, for K = L // 2 bins. Independent uniform phases give ½ on the diagonal
      and 0 elsewhere.
    """
    phasors = _phasors(windows)
    count, _, bins, channels = phasors.shape
    by_channel = phasors.transpose(3, 0, 1, 2).reshape(channels, count, -1)
    by_bin = phasors.transpose(2, 0, 1, 3).reshape(bins, count, -1)
    return tuple(v.swapaxes(1, 2) @ v / count for v in (by_channel, by_bin))


@checked()
def phase_coherence_distance(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """Mean |difference| of the phase coherences, half across bins and half across channels.

    Blind to power, so it sees what spectra and autocorrelations cannot: a phase-randomised copy
    has the same power and no coherence. 0 is best; the worst values are a few tenths.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    pairs = zip(phase_coherence(real), phase_coherence(synthetic), strict=True)
    return float(np.mean([np.abs(first - second).mean() for first, second in pairs]))
