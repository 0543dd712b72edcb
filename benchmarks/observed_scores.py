"""Masks, scores over hidden cells, and their intervals, for bench_observed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from pacodi_jax.metrics.conditional import crps

#: How many masks of a kind there are: window i has mask i modulo this, so that gains are shared.
PATTERNS = 20
#: Stretches of time into which a part's windows are cut for the bootstrap, and how often it draws.
STRETCHES, DRAWS = 20, 2000
#: The share of values that an interval should cover.
CENTRAL = 0.8


def _scattered(share: float) -> Callable[[np.random.Generator, int, int], np.ndarray]:
    """Exactly a share of the cells."""

    def hide(rng: np.random.Generator, length: int, channels: int) -> np.ndarray:
        size = length * channels
        return (rng.permutation(size) < round(share * size)).reshape(length, channels)

    return hide


def _blocks(rng: np.random.Generator, length: int, channels: int) -> np.ndarray:
    """A third of the steps of each channel, each at its own place."""
    wide = max(1, length // 3)
    after = np.arange(length)[:, None] - rng.integers(0, length - wide + 1, channels)
    return (after >= 0) & (after < wide)


_HIDDEN = {"random 50 %": _scattered(0.5), "random 80 %": _scattered(0.8), "block": _blocks}
KINDS = (*_HIDDEN, "channel", "last half")


def masks(kind: str, length: int, channels: int, seed: int = 0) -> np.ndarray:
    """The masks of a kind, ``(P, L, C)`` bool, True where a cell is hidden."""
    if kind == "channel":
        return np.eye(channels, dtype=bool)[:, None].repeat(length, axis=1)
    if kind == "last half":
        late = np.arange(length) >= length - length // 2
        return late[None, :, None].repeat(channels, axis=2)
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    return np.stack([_HIDDEN[kind](rng, length, channels) for _ in range(PATTERNS)])


class Scores(NamedTuple):
    """One number per window, ``(N,)``: the mean over its hidden cells; coverage None of points."""

    crps: np.ndarray
    mae: np.ndarray
    coverage: np.ndarray | None


def of_draws(truth: np.ndarray, draws: np.ndarray) -> Scores:
    """Scores of draws ``(n, N, H)`` of hidden cells ``(N, H)``; one draw is a point forecast.

    The quantiles of n draws are those at the ranks p (n + 1), which a perfect forecast's next value
    is below with probability p.
    """
    ranked = np.array(
        [crps(real, made) for real, made in zip(truth, draws.swapaxes(0, 1), strict=True)]
    )
    mae = np.abs(np.median(draws, axis=0) - truth).mean(axis=1)
    if len(draws) == 1:
        return Scores(ranked, mae, None)
    tail = (1 - CENTRAL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0, method="weibull")
    return Scores(ranked, mae, ((low <= truth) & (truth <= high)).mean(axis=1))


def of_normal(truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> Scores:
    """Scores of normal laws; CRPS = s [z (2Φ(z) − 1) + 2φ(z) − 1/√π] with z = (y − m)/s."""
    error = truth - mean
    z = error / np.maximum(deviation, 1e-12)
    ranked = deviation * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    within = np.abs(z) <= norm.ppf((1 + CENTRAL) / 2)
    return Scores(ranked.mean(axis=1), np.abs(error).mean(axis=1), within.mean(axis=1))


def joined(parts: list[tuple[np.ndarray, Scores]], count: int) -> Scores:
    """Scores of groups of windows, put back at the windows' row numbers."""
    fields = []
    for values in zip(*(scores for _, scores in parts), strict=True):
        if values[0] is None:
            fields.append(None)
            continue
        whole = np.empty(count)
        for (rows, _), value in zip(parts, values, strict=True):
            whole[rows] = value
        fields.append(whole)
    return Scores(*fields)


def _resampled(count: int) -> np.ndarray:
    """How often each window counts in each draw of the bootstrap, ``(DRAWS, N)``.

    Windows overlap and neighbours are alike: whole stretches of time are drawn, not windows.
    """
    member = np.arange(count) * STRETCHES // count
    even = np.full(STRETCHES, 1 / STRETCHES)
    times = np.random.default_rng(0).multinomial(STRETCHES, even, size=DRAWS)
    return times[:, member]


def interval(values: np.ndarray, over: np.ndarray | None = None) -> list[float]:
    """``[estimate, low, high]`` of a mean over windows, or of the ratio of two, with 95 %.

    Args:
      values: ``(N,)``, one per window, in the order of time.
      over: ``(N,)``, of the same windows: the ratio's denominator.
    """
    below = np.ones(len(values)) if over is None else over
    weight = _resampled(len(values))
    spread = np.quantile((weight @ values) / (weight @ below), [0.025, 0.975])
    return [float(values.mean() / below.mean()), *map(float, spread)]


def table(found: dict[str, Scores], reference: str) -> dict[str, dict[str, list[float]]]:
    """Every method's scores with intervals, and the ratio of its CRPS to the reference's."""
    cells = {}
    for name, scores in found.items():
        told = {
            key: interval(value) for key, value in scores._asdict().items() if value is not None
        }
        cells[name] = told | {"ratio": interval(scores.crps, found[reference].crps)}
    return cells
