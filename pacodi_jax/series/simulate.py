"""Whole series of any length and with true stamps, made or continued window by window."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.core.checks import check_count
from pacodi_jax.data.clock import Clock
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import room
from pacodi_jax.run.trained import Trained
from pacodi_jax.series.canvas import Canvas
from pacodi_jax.series.fill import RAN_AWAY, Condition, Progress, Task, check_overlap, fill
from pacodi_jax.settings import check_seed

#: Scaled values beyond this were never near train: chained windows ran away.
FAR = 1000.0


class Simulated(NamedTuple):
    """Series that were drawn.

    Attributes:
      values: ``(N, T, C)`` float64, in the user's units.
      stamps: ``(T,)``; None for a table without a time column.
      columns: the static and text columns, one row per series; None without any.
    """

    values: np.ndarray
    stamps: pd.Index | None
    columns: pd.DataFrame | None


def require_room(trained: Trained, steps: int, what: str) -> None:
    """Refuses more steps in all than memory holds: in the model's scale and in the user's units."""
    numbers = steps * len(trained.recipe.channels)
    room.require(numbers * (4 + 8), what, "Ask for fewer at a time.")


def simulate(
    trained: Trained,
    steps: int,
    /,
    *,
    start: Any = None,
    count: int = 1,
    seed: int | None = None,
    static: Mapping[str, Any] | None = None,
    text: str | None = None,
    overlap: int | None = None,
    progress: Progress = None,
    **how: Any,
) -> Simulated:
    """Draws whole series.

    Windows are chained: each is drawn given the last steps of the one before, and its own date.

    Args:
      trained: the model.
      steps: per series.
      start: the first stamp; that of the training table by default.
      count: how many series.
      seed: series i depends on (seed, i) alone; the run's seed by default.
      static: values of static columns; those left out are drawn from train's law, per series.
      text: what the windows should look like, for a model that reads texts.
      overlap: steps that a window shares with the one before; half a window by default.
      progress: called with (windows drawn, windows in all).
      **how: settings of the ``sample`` section that differ from the run's.

    Raises:
      PacodiError: for a request that this model cannot answer.
    """
    length = trained.config.data.length
    steps, count = check_count(steps, "steps"), check_count(count)
    overlap = check_overlap(overlap, length)
    seed = check_seed(trained.config.seed if seed is None else seed)
    total = max(steps, length)
    require_room(trained, count * total, f"{count:,} series of {steps:,} steps")
    asked = trained.asked(seed, count, static=static, text=text)
    stamps = stamps_from(trained.recipe.clock, start, total)
    channels = trained.shape.channels
    empty = np.zeros((total, channels))
    canvas = Canvas(empty, empty.astype(bool), np.zeros(channels), count)
    task = Task(canvas, 0, dated(trained, stamps, lambda row: asked.vectors))
    fill(trained, [task], seed=seed, overlap=overlap, progress=progress, **how)
    if trained.recipe.scaling != "none" and np.abs(canvas.values).max() > FAR:
        raise PacodiError(RAN_AWAY)
    values = trained.recipe.deliver(canvas.values[:, :steps])
    return Simulated(values, None if stamps is None else stamps[:steps], asked.columns)


def stamps_from(clock: Clock | None, start: Any, count: int) -> pd.Index | None:
    """``count`` stamps from a start on, that of the training table by default.

    Raises:
      PacodiError: for a start that the grid does not hit, or for a table without a time column.
    """
    if clock is None:
        if start is not None:
            raise PacodiError(f"start={start!r}: the training table has no time column.")
        return None
    first = clock.start
    if start is not None:
        first = str(float(start)) if clock.numeric else clock.moment(start).isoformat()
    return clock.stamps([first], np.zeros(count, int), np.arange(count))


def dated(trained: Trained, stamps: pd.Index | None, asked: Condition) -> Condition:
    """What is asked of the window at a row, and its date if the model knows the calendar.

    Args:
      trained: the model.
      stamps: of the rows of the canvas; None without a time column.
      asked: by static columns or a text.
    """
    calendar = trained.recipe.calendar
    if calendar is None or stamps is None:
        return asked
    phases = calendar.phases(pd.DatetimeIndex(stamps))

    def at(row: int) -> np.ndarray:
        vectors = asked(row)
        if vectors is None:
            return phases[row][None]
        return np.concatenate([vectors, np.repeat(phases[row][None], len(vectors), 0)], axis=1)

    return at
