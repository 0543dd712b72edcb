"""Windows drawn given observed values: those that share a mask share one table of gains."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError

#: ``draw(rows, mask, block, progress) -> windows``: draws rows that share one mask.
DrawGroup = Callable[[np.ndarray, np.ndarray, int, Callable[[int, int], None] | None], np.ndarray]


class Known(NamedTuple):
    """Checked :class:`Observed` of many windows in host memory; unobserved values are 0."""

    values: np.ndarray
    mask: np.ndarray
    noise: np.ndarray


def check(observed: Observed, shape: tuple[int, int, int]) -> Known:
    """Observed values ``(N, L, C)`` as arrays.

    Raises:
      PacodiError: for other shapes, or an observed value that is not finite.
    """
    values = np.asarray(observed.values, np.float32)
    mask, noise = np.asarray(observed.mask, bool), np.asarray(observed.noise, np.float32)
    for name, found in (("values", values), ("mask", mask)):
        if found.shape != shape:
            raise PacodiError(f"observed {name} have shape {found.shape}; expected {shape}.")
    if noise.shape != shape[2:] or not (noise >= 0).all():
        raise PacodiError(f"noise={noise}; expected {shape[2]} numbers of 0 or more.")
    if not np.isfinite(values[mask]).all():
        raise PacodiError("an observed value is not finite; leave it out of the mask.")
    return Known(np.where(mask, values, 0), mask, noise)


def groups(mask: np.ndarray) -> Iterator[np.ndarray]:
    """Row numbers of windows ``(N, L, C)`` that share a mask, one array per mask."""
    packed = np.packbits(mask.reshape(len(mask), -1), axis=1)
    which = np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(which, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def in_groups(
    draw: DrawGroup,
    observed: Known,
    most: int,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Draws windows group by group and puts the observed values into them.

    All groups are drawn in blocks of one size, a power of two that fits the smallest group, so that
    one compiled program serves them all.

    Args:
      draw: draws the rows of one group.
      observed: ``(N, L, C)``, from :func:`check`.
      most: rows per block at most.
      progress: called with (drawn, count).
    """
    count = len(observed.mask)
    found = list(groups(observed.mask))
    block = min(most, 1 << (min(map(len, found)) - 1).bit_length())
    windows = np.empty(observed.values.shape, np.float32)
    done = 0
    for rows in found:
        shift = None if progress is None else _shifted(progress, done, count)
        windows[rows] = draw(rows, observed.mask[rows[0]], block, shift)
        done += len(rows)
    exact = observed.mask & (observed.noise == 0)
    return np.where(exact, observed.values, windows)


def _shifted(progress: Callable[[int, int], None], done: int, count: int) -> Any:
    return lambda drawn, _: progress(done + drawn, count)
