"""Train and test parts and minibatches of the trained metrics, from one NumPy generator."""

from collections.abc import Callable

import numpy as np

from pacodi_jax.types import Array

TRAIN_SHARE = 0.8
#: Windows are padded to a multiple of this, so that sets of different sizes share one program.
PADDED, CHUNK = 3000, 600


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


def padded(windows: np.ndarray, multiple: int | None = None) -> np.ndarray:
    """Returns ``windows (N, L, C)`` with windows of zeros after them, which nothing reads."""
    rest = -len(windows) % (multiple or PADDED)
    return np.pad(np.asarray(windows, np.float32), ((0, rest), (0, 0), (0, 0)))


def by_chunks(function: Callable[[np.ndarray], Array], windows: np.ndarray) -> np.ndarray:
    """Returns what ``function`` makes of each of the windows, ``(N,)``, a chunk at a time."""
    rows = padded(windows, CHUNK).reshape(-1, CHUNK, *windows.shape[1:])
    return np.concatenate([np.asarray(function(chunk)) for chunk in rows])[: len(windows)]
