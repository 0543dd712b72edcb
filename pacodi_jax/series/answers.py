"""What users ask of a trained model beyond windows: series, continuations, filled gaps, forecasts.

The estimator and the command call these functions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.core.checks import check_count
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.trained import Trained
from pacodi_jax.series import filled, history, tables
from pacodi_jax.series.complete import complete
from pacodi_jax.series.history import History
from pacodi_jax.series.simulate import simulate


class Answer(NamedTuple):
    """What was drawn.

    Attributes:
      table: as a pandas table of the user's columns; None for arrays, which have none.
      values: the draws in the user's units, one array ``(D, T, C)`` per series.
      history: what they go on from or lie within; None for series that were made anew.
      backend: whose kind of table was given.
      filled: the array that was given without its gaps, or with ``each`` one per draw; None for
        anything else.
    """

    table: pd.DataFrame | None
    values: list[np.ndarray]
    history: History | None
    backend: str
    filled: np.ndarray | None = None

    @property
    def array(self) -> np.ndarray:
        """The filled array; else the draws ``(S, D, T, C)``, or ``(D, T, C)`` of one series."""
        if self.filled is not None:
            return self.filled
        return self.values[0] if len(self.values) == 1 else np.stack(self.values)


def make(trained: Trained, steps: int, /, *, start: Any = None, **request: Any) -> Answer:
    """Whole series, made anew from a stamp or going on where a table ends.

    Args:
      trained: the model.
      steps: per series.
      start: the first stamp, that of the training table by default; or a table, whose series are
        continued.
      **request: see :func:`~pacodi_jax.series.simulate.simulate`; of a table that is continued
        ``count`` is the number of continuations per series.
    """
    if start is not None and _is_table(start):
        count = request.pop("count", 1)
        if request.pop("static", None) is not None:
            raise PacodiError("static= is read from the table that start= gives; leave it.")
        return predict(trained, start, horizon=steps, draws=count, each=True, **request)
    found = simulate(trained, steps, start=start, **request)
    backend = trained.recipe.backend
    table = None if backend == "numpy" else tables.of_simulated(trained.recipe, found)
    return Answer(table, [found.values], None, backend)


def _is_table(start: Any) -> bool:
    """Whether a start is a table rather than a stamp."""
    return hasattr(start, "__len__") and not isinstance(start, str)


def predict(
    trained: Trained,
    data: Any,
    *,
    horizon: int,
    draws: int,
    quantiles: Sequence[float] = (),
    each: bool = False,
    **request: Any,
) -> Answer:
    """The steps after the end of every series of a table.

    Args:
      trained: the model.
      data: the table, the path of a file, or a catalogue name.
      horizon: how many steps.
      draws: how many continuations.
      quantiles: over the draws, a column per channel and quantile.
      each: the draws themselves instead, numbered if there are several.
      **request: see :func:`~pacodi_jax.series.complete.complete`.
    """
    horizon, draws = check_count(horizon, "horizon"), check_count(draws, "draws")
    wanted = tables.check_quantiles(quantiles)
    known = history.read(trained, data)
    drawn = complete(trained, known, horizon=horizon, draws=draws, **request)
    table = None
    if known.given.frame is not None:
        if each:
            table = tables.of_future_draws(trained.recipe, known, drawn)
        else:
            table = tables.of_future(trained.recipe, known, drawn, wanted)
    return Answer(table, drawn, known, known.given.backend)


def mend(
    trained: Trained,
    data: Any,
    *,
    draws: int,
    quantiles: Sequence[float] = (),
    each: bool = False,
    **request: Any,
) -> Answer:
    """A table without gaps: missing cells, and rows that its time grid skips.

    Args:
      trained: the model.
      data: the table, the path of a file, or a catalogue name.
      draws: how many completions; their median stands in the gaps.
      quantiles: over the draws, further columns.
      each: the draws themselves instead, numbered.
      **request: see :func:`~pacodi_jax.series.complete.complete`.
    """
    draws = check_count(draws, "draws")
    wanted = tables.check_quantiles(quantiles)
    known = history.read(trained, data)
    drawn = complete(trained, known, draws=draws, **request)
    if known.given.frame is None:
        array = filled.arrays(known, drawn) if each else filled.array(known, drawn)
        return Answer(None, drawn, known, known.given.backend, array)
    if each:
        table = filled.frames(trained.recipe, known, drawn)
    else:
        table = filled.frame(trained.recipe, known, drawn, wanted)
    return Answer(table, drawn, known, known.given.backend)
