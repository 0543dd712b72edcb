"""Properties that a text-conditional model is asked for, and the check whether a window has them.

Each property is asked for in five held-out phrasings of captions and in free words. The check uses
the definitions of :mod:`pacodi_jax.text.properties`, as captions do.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pacodi_jax.text import properties


class Request(NamedTuple):
    """A property: how it is asked for in held-out phrasings and in free words, and its check."""

    phrasings: tuple[str, ...]
    free: tuple[str, ...]
    holds: Callable[[np.ndarray, properties.Yardsticks], bool]


def _direction(wanted: str) -> Callable[[np.ndarray, properties.Yardsticks], bool]:
    return lambda series, known: properties.trend(series, known).direction == wanted


def _peaks(wanted: int) -> Callable[[np.ndarray, properties.Yardsticks], bool]:
    return lambda series, known: len(properties.peaks(series, known).places) == wanted


def _volatility(wanted: str) -> Callable[[np.ndarray, properties.Yardsticks], bool]:
    return lambda series, known: properties.volatility(series, known) == wanted


REQUESTS = {
    "up": Request(
        (
            "The data show an upward trend.",
            "The series shows a strong rise.",
            "This series rises throughout.",
            "Here the series goes up overall.",
            "This series increases strongly throughout.",
        ),
        ("a clear upward trend", "values go up over time", "a series that is increasing"),
        _direction("up"),
    ),
    "down": Request(
        (
            "The data show a downward trend.",
            "The series shows a strong decline.",
            "This series falls throughout.",
            "Here the series goes down overall.",
            "This series decreases strongly throughout.",
        ),
        ("a clear downward trend", "values go down over time", "a series that is decreasing"),
        _direction("down"),
    ),
    "flat": Request(
        (
            "The data show no trend.",
            "The series shows a flat course.",
            "This series stays flat throughout.",
            "Here the series neither rises nor falls overall.",
            "The series shows a flat trend.",
        ),
        ("a flat series with no trend", "values stay flat over time", "no trend at all"),
        _direction("flat"),
    ),
    "one peak": Request(
        (
            "It shows one peak.",
            "The series has one clear peak.",
            "It shows one peak in the middle.",
            "The series has one clear peak early on.",
            "It shows one peak late.",
        ),
        ("a series with one peak", "just one peak", "a single peak around the middle"),
        _peaks(1),
    ),
    "two peaks": Request(
        (
            "It shows two peaks.",
            "The series has two clear peaks.",
            "It shows two peaks early on and late.",
            "The series has two clear peaks early and towards the end.",
            "It shows two peaks early on and after the middle.",
        ),
        ("a series with two peaks", "exactly two peaks", "peaks twice"),
        _peaks(2),
    ),
    "high volatility": Request(
        (
            "It shows high volatility.",
            "The line shows very high volatility overall.",
            "Overall the line is rough.",
            "It looks like a very rough curve.",
            "It shows very high volatility.",
        ),
        ("a rough series with high volatility", "volatile", "a jagged line"),
        _volatility("high"),
    ),
    "low volatility": Request(
        (
            "It shows low volatility.",
            "The line shows very low volatility overall.",
            "Overall the line is smooth.",
            "It looks like a very smooth curve.",
            "It shows very low volatility.",
        ),
        ("a smooth series with low volatility", "not volatile", "a calm, smooth line"),
        _volatility("low"),
    ),
}


def base_rates(windows: np.ndarray, yardsticks: properties.Yardsticks) -> dict[str, float]:
    """How often windows ``(N, L, 1)`` have each property without being asked."""
    return {
        name: float(np.mean([request.holds(one, yardsticks) for one in windows[:, :, 0]]))
        for name, request in REQUESTS.items()
    }
