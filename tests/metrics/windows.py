"""Windows that the tests of the metrics and of the judge share."""

from pathlib import Path

import numpy as np
import pandas as pd

from pacodi_jax.metrics.registry import Budget

#: One small budget and one size, 200 windows of (16, 4), for all tests: programs compile once.
SMALL = Budget(
    seeds=(0, 1, 2),
    windows=200,
    encoder_steps=40,
    discriminative_steps=400,
    predictive_steps=400,
    strong_steps=50,
)


def sines(count: int, length: int = 24, channels: int = 5, *, seed: int = 0) -> np.ndarray:
    """Sine windows in [0, 1], frequency and phase uniform on [0, 0.1) per window and channel."""
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0, 0.1, (2, count, 1, channels))
    steps = np.arange(length)[None, :, None]
    return ((np.sin(frequency * steps + phase) + 1) / 2).astype(np.float32)


def waves(count: int, length: int = 16, channels: int = 4, *, seed: int = 0) -> np.ndarray:
    """Faster sines with one level a window, so that every metric has something to hold on to."""
    rng = np.random.default_rng(seed)
    frequency = rng.uniform(0.3, 0.9, (count, 1, 1))
    phase = rng.uniform(0, 1, (count, 1, 1)) + 0.5 * np.arange(channels)
    level = rng.uniform(-0.5, 0.5, (count, 1, 1))
    series = np.sin(frequency * np.arange(length)[None, :, None] + phase) + level
    return ((series + 1.5) / 3).astype(np.float32)


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


def etth1(folder: Path, count: int, length: int = 24, *, seed: int = 0) -> np.ndarray:
    """Random windows of ETTh1, scaled to [0, 1]."""
    values = pd.read_csv(folder / "ETTh1.csv").iloc[:, 1:].to_numpy(np.float32)
    values = (values - values.min(0)) / np.ptp(values, axis=0)
    windows = np.lib.stride_tricks.sliding_window_view(values, length, axis=0).swapaxes(1, 2)
    return windows[np.random.default_rng(seed).permutation(len(windows))[:count]]
