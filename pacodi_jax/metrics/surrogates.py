"""Destroyed copies of windows: what a score must notice, and what its ceiling is measured on."""

import numpy as np


def phase_randomised(windows: np.ndarray, *, seed: int, shared: bool = False) -> np.ndarray:
    """Returns windows ``(N, L, C)`` with the same power in each bin and random phases.

    Means, periodograms and circular autocorrelations of every window stay; its shape does not.

    Args:
      windows: ``(N, L, C)``.
      seed: of the phases.
      shared: rotate all channels of a bin by one angle, which keeps the cross spectra too.
    """
    rng = np.random.default_rng(seed)
    count, length, channels = windows.shape
    spectrum = np.fft.rfft(windows, axis=1)
    shape = (count, spectrum.shape[1], 1 if shared else channels)
    turn = np.exp(2j * np.pi * rng.random(shape))
    signs = rng.choice([-1.0, 1.0], shape)
    turn[:, 0] = 1.0
    if length % 2 == 0:
        turn[:, -1] = signs[:, -1]
    return np.fft.irfft(spectrum * turn, length, axis=1).astype(windows.dtype)


def shuffled(windows: np.ndarray, *, seed: int) -> np.ndarray:
    """Returns windows ``(N, L, C)`` with each channel's values permuted over all windows and steps.

    The distribution of each channel's values stays; every dependence is destroyed.
    """
    rng = np.random.default_rng(seed)
    columns = windows.reshape(-1, windows.shape[-1])
    return rng.permuted(columns, axis=0).reshape(windows.shape)


def noise(shape: tuple[int, int, int], *, seed: int) -> np.ndarray:
    """Returns uniform white noise on [0, 1) of ``shape (N, L, C)``."""
    return np.random.default_rng(seed).random(shape, np.float32)
