"""Scaling that a recipe can undo: one offset and one factor a channel, fitted on train only."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError, choose

_BLOCK = 1 << 13


class Scaler(NamedTuple):
    """``scaled = (value − offset) / factor``, a number for each of the user's C channels.

    A channel that is constant in train has factor 0: it is left out of what the model sees and
    put back, with the value ``offset``, by :meth:`unscale`.
    """

    offset: np.ndarray
    factor: np.ndarray

    @property
    def live(self) -> np.ndarray:
        """``(C,)`` which channels the model sees."""
        return self.factor > 0

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Scales ``(T, C)`` to float32 ``(T, C_live)`` in the memory of ``values``, which are lost.

        A scaled row takes no more room than the row it comes from, so that block after block can
        be written to the front. Missing values become 0; the caller keeps windows away from them.
        """
        live = self.live
        shape = (len(values), int(live.sum()))
        room = values.reshape(-1).view(np.float32)
        out = room[: shape[0] * shape[1]].reshape(shape)
        offset, factor = self.offset[live], self.factor[live]
        for begin in range(0, len(values), _BLOCK):
            block = values[begin : begin + _BLOCK]
            block = block if live.all() else block[:, live]
            with np.errstate(over="ignore"):
                block = (block - offset) / factor
                out[begin : begin + _BLOCK] = np.where(np.isnan(block), 0, block)
        return out

    def unscale(self, windows: np.ndarray) -> np.ndarray:
        """Takes ``(…, C_live)`` back to the user's units: float64 ``(…, C)``, constants back."""
        windows = np.asarray(windows, np.float64)
        live = self.live
        if windows.shape[-1] != live.sum():
            raise PacodiError(
                f"windows have {windows.shape[-1]} channels; the recipe knows {int(live.sum())}"
            )
        out = np.empty((*windows.shape[:-1], len(live)))
        out[...] = self.offset
        out[..., live] += windows * self.factor[live]
        return out


def _min_max(column: np.ndarray) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    return low / 2 + high / 2, high / 2 - low / 2


def _standard(column: np.ndarray) -> tuple[float, float]:
    return float(column.mean(dtype=np.float64)), float(column.std(dtype=np.float64))


def _robust(column: np.ndarray) -> tuple[float, float]:
    low, middle, high = (float(q) for q in np.quantile(column, (0.05, 0.5, 0.95)))
    return middle, (high - low) / 2 or _standard(column)[1]


def _none(column: np.ndarray) -> tuple[float, float]:
    return 0.0, 1.0


#: ``min_max`` to [−1, 1]; ``standard`` to mean 0 and deviation 1; ``robust`` to the median at 0 and
#: the middle 90 % in about [−1, 1], for spiky data; ``none`` leaves values as they are.
SCALINGS: dict[str, Callable[[np.ndarray], tuple[float, float]]] = {
    "min_max": _min_max,
    "standard": _standard,
    "robust": _robust,
    "none": _none,
}


def fit(values: np.ndarray, rows: np.ndarray, scaling: str, names: tuple[str, ...]) -> Scaler:
    """Fits a scaler to the observed values of some rows.

    Args:
      values: ``(T, C)``.
      rows: ``(T,)`` which rows may be looked at: those of train.
      scaling: a name in ``SCALINGS``.
      names: the channels' names, for messages.

    Returns:
      The scaler.

    Raises:
      PacodiError: if a channel has no value in these rows or spans more than floats hold.
    """
    measure = choose("scaling", scaling, SCALINGS)
    first, last = int(rows.argmax()), len(rows) - int(rows[::-1].argmax())
    within = slice(first, last) if rows[first:last].all() else rows
    offsets, factors = [], []
    for name, column in zip(names, values.T, strict=True):
        seen = np.ascontiguousarray(column[within])
        holes = np.isnan(seen)
        seen = seen[~holes] if holes.any() else seen
        if not seen.size:
            raise PacodiError(f"column {name!r} has no value in the training part; leave it out")
        if (seen == seen[0]).all():
            offset, factor = float(seen[0]), 0.0
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                offset, factor = measure(seen)
        if not np.isfinite([offset, factor]).all() or factor > 1e300:
            raise PacodiError(f"column {name!r} spans too wide a range; rescale it")
        offsets.append(offset)
        factors.append(factor)
    if not any(factors):
        raise PacodiError(f"every channel is constant in the training part: {', '.join(names)}")
    return Scaler(np.array(offsets), np.array(factors))
