"""All that a caption may say about a window, measured once and worded many times."""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import properties
from pacodi_jax.text.properties import Direction, Extremes, Trend, Yardsticks
from pacodi_jax.text.segments import Segment, segments


class Facts(NamedTuple):
    """The measured properties of one window, as :mod:`pacodi_jax.text.properties` defines them.

    Attributes:
      level: grade 0 to 6 of the window's mean.
      outline: grades 0 to 6 at the start, first quarter, middle, third quarter and end.
      story: one to four straight pieces.
      trend: direction and strength of the straight line through it.
      spread: grade 0 to 4 of its range.
      volatility: grade 0 to 4 of its roughness.
      peaks: interior peaks.
      dips: interior dips.
      highest: place of the largest value in [0, 1].
      lowest: place of the smallest value in [0, 1].
      cycles: cycles of the dominant period, 0 where none dominates.
      parts: directions of both halves, then of the three thirds.
      compared: signs of second half less first half in level, the same in roughness, and of the
        last value less the first; 0 where both are alike.
    """

    level: int
    outline: tuple[int, ...]
    story: tuple[Segment, ...]
    trend: Trend
    spread: int
    volatility: int
    peaks: Extremes
    dips: Extremes
    highest: float
    lowest: float
    cycles: int
    parts: tuple[Direction, ...]
    compared: tuple[int, int, int]


def measure(window: np.ndarray, yardsticks: Yardsticks) -> Facts:
    """Measures one channel's window ``(L,)`` against the yardsticks of its channel.

    Raises:
      PacodiError: for a window that is not a finite vector of at least four values.
    """
    window = np.asarray(window, dtype=np.float64)
    if window.ndim != 1 or window.shape[0] < 4:
        raise PacodiError(f"a caption needs one channel (L,) with L >= 4, got {window.shape}.")
    if not np.isfinite(window).all():
        raise PacodiError("a caption needs finite values; fill or drop the missing ones first.")
    last, edges = window.shape[0] - 1, yardsticks.level.tolist()
    return Facts(
        level=bisect_left(edges, window.mean()),
        outline=tuple(bisect_left(edges, value) for value in properties.landmarks(window)),
        story=segments(window, yardsticks),
        trend=properties.trend(window, yardsticks),
        spread=properties.spread_grade(window, yardsticks),
        volatility=properties.volatility_grade(window, yardsticks),
        peaks=properties.peaks(window, yardsticks),
        dips=properties.dips(window, yardsticks),
        highest=float(window.argmax()) / last,
        lowest=float(window.argmin()) / last,
        cycles=properties.cycles(window, yardsticks),
        parts=tuple(
            properties.trend(part, yardsticks).direction
            for count in (2, 3)
            for part in properties.split(window, count)
        ),
        compared=properties.compare(window, yardsticks),
    )
