"""The ends of windows, where a model of spectra may tie the last step to the first."""

import numpy as np

from pacodi_jax.metrics.inputs import checked
from pacodi_jax.metrics.transport import sorted_distance


def end_values(windows: np.ndarray) -> np.ndarray:
    """First steps, last steps and jumps across the ring x₀ − x_{L−1} of windows: ``(3, N, C)``."""
    windows = np.asarray(windows, np.float64)
    first, last = windows[:, 0], windows[:, -1]
    return np.stack([first, last, first - last])


@checked()
def window_ends_distance(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """W₁ between the laws of the first step, the last step and the jump x₀ − x_{L−1}.

    Each in standard deviations of the real ones, averaged over the three and over channels. A
    Fourier series is periodic: a model that wraps around makes jumps too small. Between normal laws
    of one mean, a jump whose deviation is s times the true one adds |1 − s| √(2/π).

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    ends = [end_values(windows) for windows in (real, synthetic)]
    spread = np.maximum(ends[0].std(axis=1), 1e-6)
    apart = [sorted_distance(ours, theirs) for ours, theirs in zip(*ends, strict=True)]
    return float((np.stack(apart) / spread).mean())
