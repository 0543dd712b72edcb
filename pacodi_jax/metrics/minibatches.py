"""Train and test parts and minibatches of the trained metrics, from one NumPy generator."""

import numpy as np

TRAIN_SHARE = 0.8


def divide(rng: np.random.Generator, windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a random four fifths of ``windows (N, L, C)`` to train on and the rest to test."""
    order = rng.permutation(len(windows))
    cut = int(len(windows) * TRAIN_SHARE)
    windows = np.asarray(windows, np.float32)
    return windows[order[:cut]], windows[order[cut:]]


def batch_rows(rng: np.random.Generator, count: int, batch: int, steps: int) -> np.ndarray:
    """Returns ``(steps, min(batch, count))`` rows, each step's drawn without replacement."""
    size = min(batch, count)
    return np.stack([rng.permutation(count)[:size] for _ in range(steps)]).astype(np.int32)
