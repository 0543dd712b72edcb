"""Draws of what a table does not hold: the blank cells within it, and the steps after it."""

from functools import cache, partial
from typing import Any

import numpy as np

from pacodi_jax.run.conditions import beside
from pacodi_jax.run.trained import Trained
from pacodi_jax.series.canvas import Canvas
from pacodi_jax.series.fill import Condition, Progress, Task, check_overlap, fill
from pacodi_jax.series.history import History
from pacodi_jax.series.noise import scaled_noise
from pacodi_jax.series.simulate import dated, require_room
from pacodi_jax.settings import check_seed


def complete(
    trained: Trained,
    history: History,
    *,
    horizon: int = 0,
    draws: int,
    noise: Any = None,
    seed: int | None = None,
    text: str | None = None,
    overlap: int | None = None,
    progress: Progress = None,
    **how: Any,
) -> list[np.ndarray]:
    """Draws the blank cells of every series, or ``horizon`` steps after its end.

    Args:
      trained: the model.
      history: what is known.
      horizon: steps after the end of every series; 0 completes the series itself.
      draws: how many of each.
      noise: of the observations, in the user's units; see :func:`scaled_noise`.
      seed: draw d of series i depends on (seed, i, d) alone; the run's seed by default.
      text: what the windows should look like, for a model that reads texts.
      overlap: steps that a window shares with those around it; half a window by default.
      progress: called with (windows drawn, windows in all).
      **how: settings of the ``sample`` section that differ from the run's.

    Returns:
      One array per series, ``(draws, T, C)`` float64 in the user's units: all its rows, or with a
      horizon the steps after them.
    """
    overlap = check_overlap(overlap, trained.config.data.length)
    deviations = scaled_noise(trained.recipe, noise)
    seed = check_seed(trained.config.seed if seed is None else seed)
    count = len(history.series) * horizon if horizon else len(history.mask)
    require_room(trained, draws * count, f"{draws:,} draws of {count:,} steps")
    tasks, wanted = [], []
    for number, rows in enumerate(history.series):
        first, before, after = _margins(rows.stop - rows.start, horizon, trained)
        kept = slice(rows.start + first, rows.stop)
        around = ((before, after), (0, 0))
        scaled, mask = (np.pad(x[kept], around) for x in (history.scaled, history.mask))
        canvas = Canvas(scaled, mask, deviations, draws)
        span = (first - before, len(mask))
        condition = _condition(trained, history, number, *span, draws, seed, text)
        tasks.append(Task(canvas, number, condition))
        end = before + kept.stop - kept.start
        wanted.append(slice(end, end + horizon) if horizon else slice(0, end))
    fill(trained, tasks, seed=seed, overlap=overlap, progress=progress, **how)
    return [
        trained.recipe.deliver(task.canvas.values[:, rows])
        for task, rows in zip(tasks, wanted, strict=True)
    ]


def _margins(steps: int, horizon: int, trained: Trained) -> tuple[int, int, int]:
    """The first row that is read, and blank rows before and after, for a canvas of a window.

    Of a series that is continued no more than its last window is read.
    """
    length = trained.config.data.length
    if not horizon:
        return 0, 0, max(length - steps, 0)
    first = max(steps - length, 0)
    return first, max(length - (steps - first) - horizon, 0), horizon


def _condition(
    trained: Trained,
    history: History,
    series: int,
    first: int,
    count: int,
    draws: int,
    seed: int,
    text: str | None,
) -> Condition:
    """What windows are asked to be: a text, the static columns and the date of their first row."""
    stamps = history.stamps(series, first, count)
    rows = history.series[series]
    labels = history.labels(trained.recipe, rows)
    vector = None if text is None else trained.encode(text)
    draw = partial(beside, trained.texts, seed, draws, vector=vector)
    if labels is None:
        vectors = draw(None)[0]
        return dated(trained, stamps, lambda row: vectors)
    different, which = np.unique(labels, axis=0, return_inverse=True)

    @cache
    def labelled(number: int) -> np.ndarray | None:
        return draw(np.repeat(different[number][None], draws, axis=0))[0]

    def asked(row: int) -> np.ndarray | None:
        known = min(max(first + row, 0), len(labels) - 1)
        return labelled(int(which.ravel()[known]))

    return dated(trained, stamps, asked)
