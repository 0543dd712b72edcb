"""Pictures of whole series, filled gaps and forecasts. Arrays in, files out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from pacodi_jax.report.names import brief
from pacodi_jax.report.pictures import REAL, SYNTHETIC, save

_CHANNELS = 4
_DRAWS = 12  # thin lines beside the fan


def series(
    synthetic: np.ndarray,
    channels: Sequence[str],
    path: Path,
    *,
    stamps: pd.Index | None = None,
    real: np.ndarray | None = None,
    real_stamps: pd.Index | None = None,
) -> Path:
    """Draws a synthetic series above a real one of the same length, channel by channel.

    Args:
      synthetic: ``(T, C)`` in the user's units.
      channels: C names; the first four are drawn.
      path: of the PNG.
      stamps: ``(T,)``; the steps are counted without.
      real: ``(T', C)``; left out if it is not at hand.
      real_stamps: ``(T',)``.
    """
    sides = [("synthetic", synthetic, stamps, SYNTHETIC)]
    if real is not None:
        sides.append(("real", real, real_stamps, REAL))
    shown = min(_CHANNELS, len(channels))
    rows = shown * len(sides)
    figure = Figure(figsize=(11, 0.6 + 1.5 * rows), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False)[:, 0]
    for number in range(shown):
        own = axes[number * len(sides) : (number + 1) * len(sides)]
        for axis, (name, values, when, colour) in zip(own, sides, strict=True):
            axis.plot(_x(when, len(values)), values[:, number], color=colour, linewidth=0.7)
            axis.set_ylabel(brief(channels[number]), parse_math=False)
            axis.set_title(name, color=colour, weight="bold", fontsize="medium", loc="left", pad=2)
            axis.margins(x=0.005)
            _tidy(axis, when)
        for axis in own[1:]:
            axis.sharey(own[0])
    return save(figure, path)


def fan(
    observed: np.ndarray,
    draws: np.ndarray,
    channels: Sequence[str],
    path: Path,
    *,
    stamps: pd.Index | None = None,
    title: str = "",
) -> Path:
    """Draws what was observed, and where it was not, the median, the middle 80 % and some draws.

    Args:
      observed: ``(T, C)`` in the user's units, NaN where nothing was observed.
      draws: ``(D, T, C)``; what it holds in observed cells is not shown.
      channels: C names; the first four are drawn.
      path: of the PNG.
      stamps: ``(T,)``; the steps are counted without.
      title: of the figure.
    """
    shown = min(_CHANNELS, len(channels))
    figure = Figure(figsize=(11, 0.9 + 2 * shown), layout="constrained")
    axes = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
    x = _x(stamps, len(observed))
    name = "median, middle 80 % and draws" if len(draws) > 1 else "drawn"
    for number, axis in enumerate(axes):
        seen, drawn = observed[:, number], draws[..., number]
        blank = _widened(np.isnan(seen))
        low, middle, high = np.where(
            np.isnan(seen), np.quantile(drawn, (0.1, 0.5, 0.9), axis=0, method="weibull"), seen
        )
        low, middle, high = (np.where(blank, part, np.nan) for part in (low, middle, high))
        axis.fill_between(x, low, high, color=SYNTHETIC, alpha=0.25, linewidth=0)
        for one in drawn[:_DRAWS]:
            line = np.where(blank, np.where(np.isnan(seen), one, seen), np.nan)
            axis.plot(x, line, color=SYNTHETIC, alpha=0.3, linewidth=0.5)
        axis.plot(x, middle, color=SYNTHETIC, linewidth=1.4, label=name)
        axis.plot(x, seen, color=REAL, linewidth=1.2, label="observed")
        axis.set_ylabel(brief(channels[number]), parse_math=False)
        axis.margins(x=0.005)
        _tidy(axis, stamps)
    axes[0].legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)
    if title:
        figure.suptitle(title, fontsize="medium", parse_math=False)
    return save(figure, path)


def _widened(blank: np.ndarray) -> np.ndarray:
    """Blank rows and the rows beside them, so that lines meet what was observed."""
    return blank | np.append(blank[1:], False) | np.append(False, blank[:-1])


def _x(stamps: pd.Index | None, count: int) -> np.ndarray:
    if not isinstance(stamps, pd.DatetimeIndex):
        return np.arange(count) if stamps is None else np.asarray(stamps, np.float64)
    local = stamps.tz_localize(None) if stamps.tz is not None else stamps
    return local.to_numpy()


def _tidy(axis: Axes, stamps: pd.Index | None) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    if isinstance(stamps, pd.DatetimeIndex):
        locator = AutoDateLocator(maxticks=9)
        axis.xaxis.set_major_locator(locator)
        axis.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif stamps is None:
        axis.set_xlabel("step")
