"""Measured properties of a series, graded by what is usual for its channel.

Captions word exactly these properties and the check of controllability measures exactly these, so
both share one definition. A series is an array ``(L,)``; :class:`Yardsticks` are fitted on the
train windows of its channel.
"""

import itertools
from bisect import bisect_right
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError

Direction = Literal["up", "down", "flat"]
Grade = Literal["low", "medium", "high"]

_LEVEL_QUANTILES = (0.04, 0.15, 0.37, 0.63, 0.85, 0.96)
_GRADE_QUANTILES = (0.1, 0.35, 0.65, 0.9)
_DRIFT, _TREND, _STRONG_TREND = 0.5, 1.0, 2.5
_PROMINENCE, _SURE_PROMINENCE = 0.3, (0.2, 0.4)
_FLAT_RANGE = 0.25
_PERIODIC_SHARE = 0.6
_ROUGHER, _COMPARABLE = 1.5, 12


class Yardsticks(NamedTuple):
    """What is usual for one channel, fitted on its train windows.

    Attributes:
      level: ``(6,)`` quantiles of the values: the edges of seven grades of level.
      spread: ``(4,)`` quantiles of the windows' ranges: the edges of five grades.
      volatility: ``(4,)`` quantiles of the windows' roughness: the edges of five grades.
      unit: root mean square deviation from the window mean, the unit of a trend.
    """

    level: np.ndarray
    spread: np.ndarray
    volatility: np.ndarray
    unit: float


class Trend(NamedTuple):
    """The straight line through a series: its direction, and how far it climbs.

    Attributes:
      direction: ``"flat"`` where the climb is under one unit of the channel.
      strength: 0 none, 1 a drift that still counts as flat, 2 a trend, 3 a strong trend.
      change: the climb from first to last step in units of the channel.
    """

    direction: Direction
    strength: int
    change: float


class Extremes(NamedTuple):
    """Interior peaks (or dips) of a series.

    Attributes:
      places: their places, each in [0, 1] from the first step to the last.
      sure: whether the count is the same for any required prominence from 0.2 to 0.4.
    """

    places: tuple[float, ...]
    sure: bool


def fit(windows: np.ndarray) -> Yardsticks:
    """Fits a channel's yardsticks on its train windows ``(N, L)``.

    Raises:
      PacodiError: if the windows are not a finite ``(N, L)`` array or never vary.
    """
    windows = np.asarray(windows, dtype=np.float64)
    if windows.ndim != 2 or windows.shape[0] < 1 or windows.shape[1] < 4:
        raise PacodiError(
            f"yardsticks need windows of shape (N, L) with L >= 4, got {windows.shape}; "
            "pass one channel at a time."
        )
    if not np.isfinite(windows).all():
        raise PacodiError("yardsticks need finite windows; fill or drop missing values.")
    unit = float(np.sqrt(np.mean(windows.var(axis=1))))
    if unit == 0.0:
        raise PacodiError("every train window is constant, so there is nothing to describe.")
    return Yardsticks(
        level=np.quantile(windows, _LEVEL_QUANTILES),
        spread=np.quantile(np.ptp(windows, axis=1), _GRADE_QUANTILES),
        volatility=np.quantile(roughness(windows), _GRADE_QUANTILES),
        unit=unit,
    )


def roughness(series: np.ndarray) -> np.ndarray:
    """Root mean square distance of each value from the midpoint of its neighbours.

    Straight lines have none, a slow wave little, a jagged series much. Maps ``(…, L)`` to ``(…)``.
    """
    series = np.asarray(series, dtype=np.float64)
    middle = series[..., 1:-1] - 0.5 * (series[..., :-2] + series[..., 2:])
    return np.sqrt(np.mean(middle**2, axis=-1))


def spread_grade(series: np.ndarray, yardsticks: Yardsticks) -> int:
    """Grades the range of a series: 0 very narrow to 4 very wide."""
    return int(np.searchsorted(yardsticks.spread, np.ptp(series)))


def volatility_grade(series: np.ndarray, yardsticks: Yardsticks) -> int:
    """Grades the roughness of a series: 0 very smooth to 4 very volatile."""
    return int(np.searchsorted(yardsticks.volatility, roughness(series)))


def volatility(series: np.ndarray, yardsticks: Yardsticks) -> Grade:
    """Returns whether the volatility is low (grades 0, 1), medium (2) or high (3, 4)."""
    return ("low", "low", "medium", "high", "high")[volatility_grade(series, yardsticks)]


def trend(series: np.ndarray, yardsticks: Yardsticks) -> Trend:
    """Measures the least-squares line: its climb over the window in units of the channel."""
    series = np.asarray(series, dtype=np.float64)
    time = np.linspace(-0.5, 0.5, series.shape[0])
    change = float(time @ series / (time @ time)) / yardsticks.unit
    strength = bisect_right((_DRIFT, _TREND, _STRONG_TREND), abs(change))
    direction: Direction = "flat" if strength < 2 else "up" if change > 0 else "down"
    return Trend(direction, strength, change)


def split(series: np.ndarray, count: int) -> list[np.ndarray]:
    """Cuts a series into ``count`` parts, as long as each other, that share their border steps."""
    last = series.shape[0] - 1
    edges = [round(last * number / count) for number in range(count + 1)]
    return [series[a : b + 1] for a, b in itertools.pairwise(edges)]


def compare(series: np.ndarray, yardsticks: Yardsticks) -> tuple[int, int, int]:
    """Compares the halves' levels and roughness, and the last value with the first, by signs.

    Levels differ from half a unit of the channel on, roughness by half as much again.
    """
    first, second = split(np.asarray(series, dtype=np.float64), 2)
    level = (second.mean() - first.mean()) / yardsticks.unit
    end = (second[-1] - first[0]) / yardsticks.unit
    rough = (0.0, 0.0)
    if len(series) >= _COMPARABLE:
        rough = (float(roughness(first)), float(roughness(second)))
    rougher = int(rough[1] > _ROUGHER * rough[0]) - int(rough[0] > _ROUGHER * rough[1])
    return _sign(level), rougher, _sign(end)


def _sign(difference: float) -> int:
    return int(difference > _DRIFT) - int(difference < -_DRIFT)


def smooth(series: np.ndarray) -> np.ndarray:
    """Averages each value with its neighbours, weights 1, 2, 1; the ends are repeated."""
    series = np.asarray(series, dtype=np.float64)
    padded = np.concatenate((series[:1], series, series[-1:]))
    return 0.25 * (padded[:-2] + 2.0 * padded[1:-1] + padded[2:])


def peaks(series: np.ndarray, yardsticks: Yardsticks) -> Extremes:
    """Finds interior peaks that stand out by 0.3 of the range of the smoothed series.

    A series whose range is under a quarter of the channel's unit has none. Turning the series
    upside down gives the dips.
    """
    smoothed = smooth(series)
    span = float(np.ptp(smoothed))
    if span < _FLAT_RANGE * yardsticks.unit:
        return Extremes((), sure=True)
    from scipy.signal import find_peaks  # half a second, which loading a model need not wait

    found, details = find_peaks(smoothed, prominence=_SURE_PROMINENCE[0] * span)
    prominence = details["prominences"] / span
    chosen = found[prominence >= _PROMINENCE]
    sure = len(found) == int(np.sum(prominence >= _SURE_PROMINENCE[1]))
    return Extremes(tuple(float(i) / (len(smoothed) - 1) for i in chosen), sure)


def dips(series: np.ndarray, yardsticks: Yardsticks) -> Extremes:
    """Finds interior dips: the peaks of the series upside down."""
    return peaks(-np.asarray(series), yardsticks)


def landmarks(series: np.ndarray) -> np.ndarray:
    """Averages the series around its start, first quarter, middle, third quarter and end, ``(5,)``.

    The weights fall linearly to zero at the neighbouring landmarks.
    """
    series = np.asarray(series, dtype=np.float64)
    time = np.linspace(0.0, 4.0, series.shape[0])
    weights = np.maximum(0.0, 1.0 - np.abs(time - np.arange(5.0)[:, None]))
    return weights @ series / weights.sum(axis=1)


@lru_cache(maxsize=16)
def _waves(length: int) -> np.ndarray:
    """Orthonormal pairs of waves of 1, 2, … cycles, orthogonal to straight lines, ``(K, 2, L)``."""
    time = np.arange(length) / length
    line = np.linalg.qr(np.stack([np.ones(length), time], axis=1))[0]
    pairs = []
    for count in range(1, (length - 1) // 2 + 1):
        pair = np.stack(
            [np.cos(2 * np.pi * count * time), np.sin(2 * np.pi * count * time)], axis=1
        )
        pairs.append(np.linalg.qr(pair - line @ (line.T @ pair))[0].T)
    return np.stack(pairs)


def cycles(series: np.ndarray, yardsticks: Yardsticks) -> int:
    """Counts the cycles of the dominant period, or returns 0 where no period dominates.

    A period dominates if a wave of it explains 0.6 of what the straight line leaves.
    """
    series = np.asarray(series, dtype=np.float64)
    time = np.linspace(-0.5, 0.5, series.shape[0])
    rest = series - series.mean() - time * (time @ series / (time @ time))
    if np.ptp(rest) < _FLAT_RANGE * yardsticks.unit:
        return 0
    power = np.sum((_waves(series.shape[0]) @ rest) ** 2, axis=1)
    strongest = int(np.argmax(power))
    return strongest + 1 if power[strongest] >= _PERIODIC_SHARE * float(rest @ rest) else 0
