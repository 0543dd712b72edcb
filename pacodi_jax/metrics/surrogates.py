"""Destroyed copies of windows: what a score must notice, and what its ceiling is measured on."""

import numpy as np


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
