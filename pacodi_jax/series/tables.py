"""Series that were drawn as tables of the user's kind, and as arrays."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from pacodi_jax.data import frames, tabulate, writing
from pacodi_jax.data.recipe import WINDOW, Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.series.history import History
from pacodi_jax.series.simulate import Simulated

#: The columns that number whole series, and draws of one.
SERIES, DRAW = "series", "draw"


#: Ranks p(n + 1): a new draw falls below the p-quantile of n perfect ones with chance p.
RANKS: Literal["weibull"] = "weibull"


def quantile_name(channel: str, quantile: float) -> str:
    """How the column of a channel's quantile is called: ``load_q10`` for 0.1."""
    return f"{channel}_q{100 * quantile:g}"


def check_quantiles(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Quantiles between 0 and 1.

    Raises:
      PacodiError: for another number, or for what is no list of numbers.
    """
    if isinstance(quantiles, str) or not np.iterable(quantiles):
        raise PacodiError(f"quantiles={quantiles!r}; give a list, such as (0.1, 0.5, 0.9).")
    for quantile in quantiles:
        if not isinstance(quantile, int | float | np.number) or not 0 <= quantile <= 1:
            raise PacodiError(f"quantile {quantile!r}; accepted: numbers from 0 to 1.")
    return tuple(map(float, quantiles))


def of_simulated(recipe: Recipe, found: Simulated) -> pd.DataFrame:
    """One table of all series; a column numbers them if there are several and no id column."""
    count = len(found.values)
    stamps = (
        None if found.stamps is None else found.stamps[np.tile(np.arange(len(found.stamps)), count)]
    )
    table = tabulate.table(recipe, found.values, stamps, None, found.columns)
    if recipe.id is not None or count == 1:
        return table.drop(columns=WINDOW)
    return table.rename(columns={WINDOW: free_name(recipe, SERIES)})


def of_future(
    recipe: Recipe, history: History, drawn: Sequence[np.ndarray], quantiles: tuple[float, ...]
) -> pd.DataFrame:
    """The steps after every series: quantiles over draws, a column per channel and quantile."""
    values = np.stack([np.median(draws, axis=0) for draws in drawn])
    table = _future(recipe, history, values).drop(columns=WINDOW)
    for i, (name, dtype) in enumerate(zip(recipe.channels, recipe.dtypes, strict=True)):
        for quantile in quantiles:
            found = [np.quantile(draws[..., i], quantile, axis=0, method=RANKS) for draws in drawn]
            table[quantile_name(name, quantile)] = writing.as_dtype(np.concatenate(found), dtype)
    return table.drop(columns=list(recipe.channels))


def of_future_draws(recipe: Recipe, history: History, drawn: Sequence[np.ndarray]) -> pd.DataFrame:
    """The steps after every series, draw by draw, in the user's columns; several are numbered."""
    parts, several = [], len(drawn[0]) > 1
    for draw in range(len(drawn[0])):
        values = np.stack([draws[draw] for draws in drawn])
        table = _future(recipe, history, values).drop(columns=WINDOW)
        if several:
            table.insert(0, free_name(recipe, DRAW), draw)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _future(recipe: Recipe, history: History, values: np.ndarray) -> pd.DataFrame:
    """The table of one continuation ``(S, T, C)`` of every series, with its stamps and ids."""
    table, horizon = history.table, values.shape[1]
    lengths = [rows.stop - rows.start for rows in history.series]
    stamps = None
    if table.clock is not None:
        every = [history.stamps(i, steps, horizon) for i, steps in enumerate(lengths)]
        stamps = pd.Index(np.concatenate([np.asarray(part, object) for part in every]))
    ids = None if table.ids is None else table.ids.tolist()
    last = [rows.stop - 1 for rows in history.series]
    static = table.static.iloc[last].reset_index(drop=True) if table.static.shape[1] else None
    return tabulate.table(recipe, values, stamps, ids, static)


def free_name(recipe: Recipe, name: str) -> str:
    """A column name that the user's table does not have."""
    while name in (*recipe.columns, *recipe.channels):
        name += "_"
    return name


def native(recipe: Recipe, table: pd.DataFrame, backend: str) -> Any:
    """A pandas table as the user's kind of frame."""
    return frames.to_native(table, backend, tabulate.own_types(recipe, table))
