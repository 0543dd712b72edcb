"""A series as a few straight pieces, each with a direction and a pace."""

import itertools
from typing import Literal, NamedTuple

import numpy as np

from pacodi_jax.text.properties import Direction, Yardsticks, smooth

Pace = Literal["slow", "steady", "sharp"]

_MOST = 4
_SHORTEST = 2
_EXPLAINED = 0.85
_FLAT_SHARE = 0.2
_FLAT_UNITS = 0.3
_SHARP, _STEADY = 2.8, 1.4


class Segment(NamedTuple):
    """One straight piece.

    Attributes:
      direction: ``"up"``, ``"down"`` or ``"flat"``.
      pace: how steep: the share of the window's range climbed in a share of its length.
      centre: the place of its middle in [0, 1].
      share: the share of the window that it covers.
    """

    direction: Direction
    pace: Pace
    centre: float
    share: float


def _costs(series: np.ndarray) -> np.ndarray:
    """Squared error of the chord from step i to step j, ``(L, L)``; inf where it is too short."""
    length = series.shape[0]
    time = np.arange(length, dtype=np.float64)
    sums = np.stack([np.ones(length), time, time**2, series, time * series, series**2])
    running = np.concatenate([np.zeros((6, 1)), np.cumsum(sums, axis=1)], axis=1)
    count, t, tt, y, ty, yy = running[:, None, 1:] - running[:, :-1, None]
    gap = np.maximum(time - time[:, None], 1.0)
    slope = (series - series[:, None]) / gap
    offset = series[:, None] - slope * time[:, None]
    error = yy - 2.0 * (offset * y + slope * ty) + offset**2 * count
    error += 2.0 * offset * slope * t + slope**2 * tt
    return np.where(time - time[:, None] >= _SHORTEST, np.maximum(error, 0.0), np.inf)


def _knots(series: np.ndarray) -> list[int]:
    """The fewest knots whose polyline explains 85 % of the variance, at most four pieces."""
    costs = _costs(series)
    enough = (1.0 - _EXPLAINED) * float(np.sum((series - series.mean()) ** 2))
    best = costs[0]
    origins: list[np.ndarray] = []
    while best[-1] > enough and len(origins) + 1 < _MOST:
        candidates = best[:, None] + costs
        if not np.isfinite(candidates[:, -1]).any():
            break
        origins.append(np.argmin(candidates, axis=0))
        best = np.min(candidates, axis=0)
    knots = [series.shape[0] - 1]
    for origin in reversed(origins):
        knots.append(int(origin[knots[-1]]))
    return [0, *reversed(knots)]


def _describe(series: np.ndarray, first: int, last: int, flat: float, span: float) -> Segment:
    """Names the direction and the pace of one piece."""
    change = float(series[last] - series[first])
    share = (last - first) / (series.shape[0] - 1)
    rate = abs(change) / (span * share) if span > 0.0 else 0.0
    pace: Pace = "sharp" if rate > _SHARP else "steady" if rate > _STEADY else "slow"
    direction: Direction = "flat" if abs(change) < flat else "up" if change > 0.0 else "down"
    centre = 0.5 * (first + last) / (series.shape[0] - 1)
    return Segment(direction, "slow" if direction == "flat" else pace, centre, share)


def _merge(pieces: list[Segment]) -> tuple[Segment, ...]:
    """Joins neighbours that read the same."""
    told: list[Segment] = []
    for piece in pieces:
        if told and told[-1][:2] == piece[:2]:
            before = told.pop()
            share = before.share + piece.share
            centre = (before.centre * before.share + piece.centre * piece.share) / share
            piece = Segment(piece.direction, piece.pace, centre, share)
        told.append(piece)
    return tuple(told)


def segments(series: np.ndarray, yardsticks: Yardsticks) -> tuple[Segment, ...]:
    """Describes a series ``(L,)`` by one to four pieces in order of time.

    The pieces are the polyline with the fewest knots on the smoothed series that explains 85 % of
    its variance (dynamic programming); a piece is flat if it climbs less than 0.2 of the window's
    range or 0.3 of the channel's unit.
    """
    smoothed = smooth(series)
    span = float(np.ptp(smoothed))
    flat = max(_FLAT_SHARE * span, _FLAT_UNITS * yardsticks.unit)
    knots = _knots(smoothed)
    pieces = [_describe(smoothed, a, b, flat, span) for a, b in itertools.pairwise(knots)]
    return _merge(pieces)
