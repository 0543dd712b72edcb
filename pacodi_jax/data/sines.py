"""Sines, the one data set that is generated."""

import numpy as np

CHANNELS = 5
WINDOWS = 10_000


def sines(
    length: int, *, windows: int = WINDOWS, channels: int = CHANNELS, seed: int = 0
) -> np.ndarray:
    """Windows of ``(sin(f·n + p) + 1)/2``, f and p uniform on [0, 0.1) for each channel.

    Args:
      length: steps per window.
      windows: how many.
      channels: independent channels per window.
      seed: of the frequencies and phases; they do not depend on ``length``.

    Returns:
      ``(windows, length, channels)`` float32.
    """
    frequency, phase = np.random.default_rng(seed).uniform(0, 0.1, (2, windows, 1, channels))
    steps = np.arange(length)[None, :, None]
    return ((np.sin(frequency * steps + phase) + 1) / 2).astype(np.float32)
