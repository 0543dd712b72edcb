"""Scaling that a recipe can undo: per channel an offset, a factor, perhaps bounds and a curve."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from pacodi_jax.data import bounds as links
from pacodi_jax.data import mapped
from pacodi_jax.data.bounds import Bounds
from pacodi_jax.data.column import Column, observe
from pacodi_jax.errors import PacodiError, choose

_BLOCK = 1 << 13
_PIECES = 128  # of a curve: a share of equal values is kept to within 0.05, small ones are not


class Curve(NamedTuple):
    """A rising line of straight pieces from normal scores to a channel's values, and back.

    A value that many rows share (a sensor's zero) is a level piece: all scores on it become that
    value, and the value becomes the score of its middle rank. Beyond both ends the curve continues
    with its mean slope, so that unseen values survive the round trip.

    Attributes:
      scores: ``(P + 1,)``, rising.
      values: ``(P + 1,)``, not falling.
    """

    scores: np.ndarray
    values: np.ndarray

    def to_scores(self, values: np.ndarray) -> np.ndarray:
        """Maps values ``(…)`` to scores."""
        upper = np.interp(values, self.values, self.scores)
        lower = -np.interp(-values, -self.values[::-1], -self.scores[::-1])
        level = upper > lower
        upper[level] = ndtri((ndtr(upper[level]) + ndtr(lower[level])) / 2)
        return upper + self._beyond(values, self.values) / self._slope

    def to_values(self, scores: np.ndarray) -> np.ndarray:
        """Maps scores ``(…)`` to values."""
        inside = np.interp(scores, self.scores, self.values)
        return inside + self._beyond(scores, self.scores) * self._slope

    @property
    def _slope(self) -> float:
        return float(np.ptp(self.values) / np.ptp(self.scores))

    @staticmethod
    def _beyond(x: np.ndarray, ends: np.ndarray) -> np.ndarray:
        return x - np.clip(x, ends[0], ends[-1])


class Scaler(NamedTuple):
    """``scaled = curve((link(value) − offset) / factor)``, for each of the user's C channels.

    A channel that is constant in train has factor 0: it is left out of what the model sees and
    put back, with the value ``offset``, by :meth:`unscale`.

    Attributes:
      offset: ``(C,)``.
      factor: ``(C,)``.
      scores: ``(P + 1,)`` of all curves; empty without.
      knots: ``(P + 1, C)``, the value of each channel at each score; empty without.
      bounds: ``(C, 3)``, the :class:`~pacodi_jax.data.bounds.Bounds` of each channel; empty if no
        channel has any.
    """

    offset: np.ndarray
    factor: np.ndarray
    scores: np.ndarray = np.empty(0)
    knots: np.ndarray = np.empty(0)
    bounds: np.ndarray = np.empty((0, 3))

    @property
    def live(self) -> np.ndarray:
        """``(C,)`` which channels the model sees."""
        return self.factor > 0

    @property
    def _curves(self) -> list[Curve]:
        """One per channel that the model sees; none without knots."""
        columns = self.knots[:, self.live].T if self.scores.size else ()
        return [Curve(self.scores, column) for column in columns]

    def links(self) -> list[tuple[int, Bounds]]:
        """The bounded channels that the model sees, by their number among these."""
        kept = self.bounds[self.live] if len(self.bounds) else ()
        every = ((i, Bounds(*row)) for i, row in enumerate(np.asarray(kept).tolist()))
        return [(i, found) for i, found in every if found.words]

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Scales ``(T, C)`` to float32 ``(T, C_live)`` in the memory of ``values``, which are lost.

        A scaled row takes no more room than the row it comes from, so that block after block can
        be written to the front. Missing values become 0; the caller keeps windows away from them.
        """
        live = self.live
        shape = (len(values), int(live.sum()))
        room = values.reshape(-1).view(np.float32)
        out = room[: shape[0] * shape[1]].reshape(shape)
        offset, factor, curves = self.offset[live], self.factor[live], self._curves
        linked = self.links()
        for part in mapped.blocks(values, _BLOCK):
            block = values[part]
            block = block if live.all() else block[:, live]
            with np.errstate(over="ignore"):
                block = (_linked(block, linked) - offset) / factor
                for column, curve in enumerate(curves):
                    block[:, column] = curve.to_scores(block[:, column])
                out[part] = np.where(np.isnan(block), 0, block)
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
        curves = self._curves
        if curves:
            columns = (c.to_values(windows[..., i]) for i, c in enumerate(curves))
            windows = np.stack(list(columns), axis=-1)
        out[...] = self.offset
        out[..., live] += windows * self.factor[live]
        seen = np.flatnonzero(live)
        for i, found in self.links():
            out[..., seen[i]] = links.from_line(out[..., seen[i]], found)
        return out


def _linked(block: np.ndarray, linked: list[tuple[int, Bounds]]) -> np.ndarray:
    """Takes the bounded columns of ``(T, C_live)`` to the line, in double."""
    if not linked:
        return block
    block = block.astype(np.float64)
    for i, found in linked:
        block[:, i] = links.to_line(block[:, i], found)
    return block


def _min_max(column: Column) -> tuple[float, float]:
    low, high = column.least, column.most
    return low / 2 + high / 2, high / 2 - low / 2


def _standard(column: Column) -> tuple[float, float]:
    return column.mean, column.deviation


def _robust(column: Column) -> tuple[float, float]:
    low, middle, high = (float(q) for q in np.quantile(column.values, (0.05, 0.5, 0.95)))
    return middle, (high - low) / 2 or column.deviation


def _none(column: Column) -> tuple[float, float]:
    return 0.0, 1.0


#: ``min_max`` to [−1, 1]; ``standard`` to mean 0 and deviation 1; ``robust`` to the median at 0 and
#: the middle 90 % in about [−1, 1], for spiky data; ``quantile`` to a normal law by a curve, for
#: skewed data; ``none`` leaves values as they are.
SCALINGS: dict[str, Callable[[Column], tuple[float, float]]] = {
    "min_max": _min_max,
    "standard": _standard,
    "robust": _robust,
    "quantile": _standard,
    "none": _none,
}
_CURVED = ("quantile",)


def _knots(column: Column, offset: float, factor: float, scores: np.ndarray) -> np.ndarray:
    """The scaled values at these normal scores; the least and the greatest at the ends.

    In double, as values are scaled: equal values must fall on their level piece exactly.
    """
    values = (column.values.astype(np.float64) - offset) / (factor or 1.0)
    inner = np.quantile(values, ndtr(scores[1:-1]))
    ends = (np.array([column.least, column.most]) - offset) / (factor or 1.0)
    return np.array([ends[0], *inner, ends[1]], np.float64)


def fit(
    values: np.ndarray,
    rows: np.ndarray,
    scaling: str,
    names: tuple[str, ...],
    bound: Callable[[str, Column], Bounds] | None = None,
) -> Scaler:
    """Fits a scaler to the observed values of some rows.

    Args:
      values: ``(T, C)``, in memory or on disk; of those on disk, quantiles are of a sample.
      rows: ``(T,)`` which rows may be looked at: those of train.
      scaling: a name in ``SCALINGS``.
      names: the channels' names, for messages.
      bound: the bounds of a channel, of its name and what it is in these rows; none by default.

    Returns:
      The scaler.

    Raises:
      PacodiError: if a channel has no value in these rows or spans more than floats hold.
    """
    measure = choose("scaling", scaling, SCALINGS)
    # Half a row lies beyond the first and the last score: as far out as so many normal draws go.
    end = float(-ndtri(0.5 / rows.sum()))
    scores = np.linspace(-end, end, _PIECES + 1) if scaling in _CURVED else np.empty(0)
    fitted, knots = [], []
    for name, seen in zip(names, observe(values, rows), strict=True):
        if seen is None:
            raise PacodiError(f"column {name!r} has no value in the training part; leave it out")
        found = Bounds()
        if bound is not None and seen.least < seen.most:
            found = bound(name, seen)
        with np.errstate(over="ignore", invalid="ignore"):
            seen = seen.on_line(found)
            offset, factor = _fit_column(name, seen, measure)
        fitted.append((offset, factor, found))
        if scores.size:
            knots.append(_knots(seen, offset, factor, scores))
    offsets, factors, chosen = zip(*fitted, strict=True)
    if not any(factors):
        raise PacodiError(f"every channel is constant in the training part: {', '.join(names)}")
    bounded = np.array(chosen if any(found.words for found in chosen) else np.empty((0, 3)))
    return Scaler(np.array(offsets), np.array(factors), scores, np.array(knots).T, bounded)


def _fit_column(
    name: str, seen: Column, measure: Callable[[Column], tuple[float, float]]
) -> tuple[float, float]:
    """Offset and factor of a channel; factor 0 for one that is constant."""
    if seen.least == seen.most:
        return seen.least, 0.0
    offset, factor = measure(seen)
    if not np.isfinite([offset, factor]).all() or factor > 1e300:
        raise PacodiError(f"column {name!r} spans too wide a range; rescale it")
    return offset, factor
