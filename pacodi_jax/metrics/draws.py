"""Which windows are compared: the two sides of a score, of its floor and of its ceiling."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.inputs import Scale, canonical, check_alike, check_windows, fit_scale
from pacodi_jax.metrics.registry import Metric

LEAST = 20


class Windows(NamedTuple):
    """The sets of one evaluation, scaled by the real ones, in canonical order."""

    real: np.ndarray
    synthetic: np.ndarray
    held_out: np.ndarray | None
    scale: Scale


def prepare(
    real: np.ndarray,
    synthetic: np.ndarray,
    held_out: np.ndarray | None = None,
    names: Sequence[str] | None = None,
) -> Windows:
    """Checks, scales and orders the windows ``(N, L, C)`` of one evaluation.

    Args:
      real: what the generator was trained on.
      synthetic: what it made.
      held_out: real windows that it did not see.
      names: of the channels, for errors.

    Raises:
      PacodiError: for anything that cannot be scored, saying where and why.
    """
    real = check_windows("real", real, LEAST)
    scale = fit_scale(real, names)
    sets = []
    for name, windows in (("synthetic", synthetic), ("held_out", held_out)):
        if windows is not None:
            windows = check_windows(name, windows, LEAST)
            check_alike(name, windows, real)
            windows = canonical(scale.apply(windows))
        sets.append(windows)
    if real.shape[1] < 2:
        raise PacodiError(
            "windows of a single step have no time structure; at least 2 steps are needed"
        )
    return Windows(canonical(scale.apply(real)), sets[0], sets[1], scale)  # type: ignore[arg-type]


def _pick(windows: np.ndarray, seed: int, stream: int, start: int, count: int) -> np.ndarray:
    """Windows ``start … start + count`` of the permutation that belongs to ``(seed, stream)``."""
    order = np.random.default_rng((seed, stream)).permutation(len(windows))
    return windows[order[start : start + count]]


def own(synthetic: np.ndarray, seed: int, size: int) -> np.ndarray:
    """The synthetic windows that a seed judges: disjoint between seeds while there are enough.

    Seeds that judge the same windows share sampling error, which an interval over seeds then
    leaves out. Once all windows have been used, they are shuffled again.
    """
    again, place = divmod(seed, len(synthetic) // size)
    shuffled = np.random.default_rng(1 + again).permutation(len(synthetic))
    rows = np.sort(shuffled[place * size : (place + 1) * size])
    return synthetic[rows[np.random.default_rng((seed, 1)).permutation(size)]]


def count(windows: Windows, split: str, role: str, limit: int, halves: bool) -> int:
    """How many windows each side of a comparison has.

    Score and ceiling have as many as both sets hold, up to ``limit``; a floor within the real
    windows has at most half of them.
    """
    size = min(limit, len(windows.real), len(windows.synthetic))
    if windows.held_out is not None and split == "held_out":
        size = min(size, len(windows.held_out))
    size = size // 2 if halves else size
    if split == "train" and role == "floor":
        size = min(size, len(windows.real) // 2)
    return size


def pair(
    windows: Windows, metric: Metric, split: str, role: str, seed: int, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the two sides of one comparison.

    Args:
      windows: from ``prepare``.
      metric: decides the size and the ceiling's copy.
      split: ``"train"`` or ``"held_out"``: which real windows are the reference.
      role: ``"score"``; ``"floor"``: train against other train windows, or held-out against
        train windows, which is what a perfect generator of train would score;
        ``"ceiling"``: against a destroyed copy (``Metric.worst``).
      seed: of the choice.
      limit: the most windows per side.
    """
    size = count(windows, split, role, limit, metric.halves)
    if split == "held_out":
        assert windows.held_out is not None
        real = _pick(windows.held_out, seed, 2, 0, size)
        other = _pick(windows.real, seed, 0, 0, size)
    else:
        real = _pick(windows.real, seed, 0, 0, size)
        other = _pick(windows.real, seed, 0, size, size)
    if role == "floor":
        return real, other
    if role == "ceiling":
        return real, metric.worst(real, seed)
    return real, own(windows.synthetic, seed, size)
