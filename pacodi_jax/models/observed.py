"""Windows drawn given observed values: those that share a mask share one table of gains."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.core.checks import check_array
from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError


class Known(NamedTuple):
    """Checked :class:`Observed` of N windows, ``(N, L, C)`` each, in host memory."""

    values: np.ndarray
    mask: np.ndarray
    noise: np.ndarray

    def pick(self, rows: np.ndarray) -> "Known":
        """The windows of these rows."""
        return Known(*(part[rows] for part in self))


def check(observed: Observed, shape: tuple[int, int, int]) -> Known:
    """Observed values as arrays ``(N, L, C)``, 0 where nothing was observed.

    Raises:
      PacodiError: for other shapes, or an observed value that is not finite.
    """
    values, mask = np.asarray(observed.values, np.float32), np.asarray(observed.mask)
    noise = np.asarray(observed.noise, np.float32)
    check_array("observed values", values, shape, float, f"{shape} of floats")
    check_array("the mask of observed values", mask, shape, bool, f"{shape} of bool")
    if noise.shape not in (shape, shape[2:]) or not (noise >= 0).all():
        raise PacodiError(
            f"noise of shape {noise.shape}; expected {shape[2]} numbers of 0 or more, or one per "
            "cell."
        )
    if not np.isfinite(values[mask]).all():
        raise PacodiError("an observed value is not finite; leave it out of the mask.")
    return Known(np.where(mask, values, 0), mask, np.where(mask, noise, 0))


def groups(known: Known) -> list[np.ndarray]:
    """Row numbers of windows that share a mask and its noise, one array per mask."""
    found: dict[bytes, list[int]] = {}
    for row, (mask, noise) in enumerate(zip(known.mask, known.noise, strict=True)):
        found.setdefault(np.packbits(mask).tobytes() + noise.tobytes(), []).append(row)
    return [np.array(rows) for rows in found.values()]


def in_groups(
    draw: Callable[[np.ndarray, Known, int, Any], np.ndarray],
    known: Known,
    most: int,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Draws windows group by group and puts the observed values into them.

    All groups are drawn in blocks of one size, a power of two that fits the smallest group, so that
    one compiled program serves them all.

    Args:
      draw: ``(rows, known, block, progress) -> windows``, draws the rows of one group.
      known: what was observed of all windows.
      most: rows per block at most.
      progress: called with (drawn, count).
    """
    found = groups(known)
    block = min(most, 1 << (min(map(len, found)) - 1).bit_length())
    windows = np.empty(known.values.shape, np.float32)
    done = 0
    for rows in found:
        shift = None if progress is None else _shifted(progress, done, len(windows))
        windows[rows] = draw(rows, known.pick(rows), block, shift)
        done += len(rows)
    return np.where(known.mask & (known.noise == 0), known.values, windows)


def _shifted(progress: Callable[[int, int], None], done: int, count: int) -> Any:
    return lambda drawn, _: progress(done + drawn, count)
