"""Fills canvases by windows of a trained model; windows that can be drawn together are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.trained import SERIES_STREAM, Trained
from pacodi_jax.series.canvas import Canvas, Pane
from pacodi_jax.types import Array

#: ``condition(start)``: what is asked of the window at a row, ``(D, E)``, ``(1, E)`` or None.
Condition = Callable[[int], np.ndarray | None]
#: Called with (windows drawn, windows in all).
Progress = Callable[[int, int], None] | None

RAN_AWAY = (
    "the series ran away: windows that go on from one another grew without end. Train longer "
    "(train.steps), or draw with more evaluations (sample.steps)."
)


class Task(NamedTuple):
    """A canvas to be filled.

    Attributes:
      canvas: the series.
      number: of the series; with the seed and the number of a draw it decides what is drawn.
      condition: what its windows are asked to be.
    """

    canvas: Canvas
    number: int
    condition: Condition


def check_overlap(overlap: int | None, length: int) -> int:
    """The overlap of windows, half a window by default.

    Raises:
      PacodiError: for one that leaves no new step or no old one.
    """
    chosen = length // 2 if overlap is None else overlap
    if isinstance(chosen, bool) or not isinstance(chosen, int) or not 1 <= chosen < length:
        raise PacodiError(f"overlap={overlap!r}; accepted: 1 to {length - 1} steps of a window.")
    return chosen


def fill(
    trained: Trained,
    tasks: Sequence[Task],
    *,
    seed: int,
    overlap: int,
    progress: Progress = None,
    **how: Any,
) -> None:
    """Fills all blank cells of the canvases, in place.

    Draw d of series i depends on (seed, i, d), on what is known of the series and on nothing else.

    Raises:
      PacodiError: for a model that cannot be given observed values.
    """
    trained.require_observed()
    length = trained.config.data.length
    panes = [(task, pane) for task in tasks for pane in task.canvas.plan(length, overlap)]
    total = sum(len(task.canvas.values) for task, _ in panes)
    done = 0
    for turn in range(1 + max((pane.turn for _, pane in panes), default=-1)):
        now = [(task, pane) for task, pane in panes if pane.turn == turn]
        count = sum(len(task.canvas.values) for task, _ in now)
        _draw(
            trained, now, seed, None if progress is None else _shifted(progress, done, total), how
        )
        done += count


def _shifted(progress: Callable[[int, int], None], done: int, total: int) -> Progress:
    return lambda drawn, _: progress(done + drawn, total)


def _draw(
    trained: Trained,
    panes: Sequence[tuple[Task, Pane]],
    seed: int,
    progress: Progress,
    how: dict[str, Any],
) -> None:
    """Draws the windows of one turn and puts them into their canvases."""
    length = trained.config.data.length
    windows = [task.canvas.window(pane.start, length) for task, pane in panes]
    draws = [len(values) for values, _, _ in windows]
    observed = Observed(
        np.concatenate([values for values, _, _ in windows]),
        np.repeat(np.stack([mask for _, mask, _ in windows]), draws, axis=0),
        np.repeat(np.stack([noise for _, _, noise in windows]), draws, axis=0),
    )
    conditions = [
        np.broadcast_to(rows, (count, rows.shape[1]))
        for (task, pane), count in zip(panes, draws, strict=True)
        if (rows := task.condition(pane.start)) is not None
    ]
    keys = _keys(seed, [(task.number, pane.start) for task, pane in panes], draws)
    drawn = trained.draw_scaled(
        keys,
        sum(draws),
        np.concatenate(conditions) if conditions else None,
        observed=observed,
        progress=progress,
        **how,
    )
    if not np.isfinite(drawn).all():
        raise PacodiError(RAN_AWAY)
    for (task, pane), part in zip(panes, np.split(drawn, np.cumsum(draws)[:-1]), strict=True):
        task.canvas.accept(pane, part)


def _keys(seed: int, numbers: Sequence[tuple[int, int]], draws: Sequence[int]) -> Array:
    """One key per window, by (seed, series, draw, first row)."""
    base = jax.random.fold_in(jax.random.key(seed), SERIES_STREAM)
    rows = [
        (series, draw, start)
        for (series, start), count in zip(numbers, draws, strict=True)
        for draw in range(count)
    ]

    def key(row: Array) -> Array:
        found = base
        for i in range(3):
            found = jax.random.fold_in(found, row[i])
        return found

    return jax.vmap(key)(jnp.asarray(rows, jnp.uint32))
