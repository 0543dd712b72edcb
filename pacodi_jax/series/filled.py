"""A table whose gaps are filled: what was observed is untouched, row by row and cell by cell."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pacodi_jax.data import tabulate, writing
from pacodi_jax.data.frames import as_pandas
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.series.history import History
from pacodi_jax.series.tables import DRAW, RANKS, free_name, quantile_name


def array(history: History, drawn: Sequence[np.ndarray]) -> np.ndarray:
    """The median of draws where cells are blank: ``(T, C)``, or ``(N, T, C)`` for many series."""
    filled = [_put(history, rows, np.median(d, 0)) for rows, d in _pairs(history, drawn)]
    return np.stack(filled) if len(filled) > 1 else filled[0]


def arrays(history: History, drawn: Sequence[np.ndarray]) -> np.ndarray:
    """The filled array of every draw: ``(D, T, C)``, or ``(D, N, T, C)`` for many series."""
    one = [[draw[None] for draw in every] for every in zip(*drawn, strict=True)]
    return np.stack([array(history, draw) for draw in one])


def frame(
    recipe: Recipe, history: History, drawn: Sequence[np.ndarray], quantiles: tuple[float, ...]
) -> pd.DataFrame:
    """The user's table with the median of draws in blank cells, and columns of quantiles."""
    medians = [np.median(draws, axis=0) for draws in drawn]
    table = _table(recipe, history, medians)
    for i, (name, dtype) in enumerate(zip(recipe.channels, recipe.dtypes, strict=True)):
        for quantile in quantiles:
            every = [np.quantile(draws[..., i], quantile, axis=0, method=RANKS) for draws in drawn]
            seen = history.table.values[:, i]
            values = np.where(np.isnan(seen), np.concatenate(every), seen)
            table[quantile_name(name, quantile)] = writing.as_dtype(values, dtype)
    return _in_order(history, table)


def frames(recipe: Recipe, history: History, drawn: Sequence[np.ndarray]) -> pd.DataFrame:
    """The user's table as often as there are draws, with a column that numbers them."""
    parts = []
    for draw in range(len(drawn[0])):
        table = _in_order(history, _table(recipe, history, [draws[draw] for draws in drawn]))
        table.insert(0, free_name(recipe, DRAW), draw)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _pairs(history: History, drawn: Sequence[np.ndarray]) -> list[tuple[slice, np.ndarray]]:
    return list(zip(history.series, drawn, strict=True))


def _put(history: History, rows: slice, values: np.ndarray) -> np.ndarray:
    seen = history.table.values[rows]
    return np.where(np.isnan(seen), values, seen)


def _table(recipe: Recipe, history: History, values: Sequence[np.ndarray]) -> pd.DataFrame:
    """The user's columns with values in their blank cells, series after series."""
    given, source = history.given.frame, history.source
    assert given is not None
    added = source < 0
    table = given.iloc[np.maximum(source, 0)].reset_index(drop=True)
    if added.any():
        table = _with_rows(recipe, history, table, added)
    filled = np.concatenate([_put(history, rows, v) for rows, v in _pairs(history, values)])
    types = tabulate.own_types(recipe, table)
    for i, (name, dtype) in enumerate(zip(recipe.channels, recipe.dtypes, strict=True)):
        blank = np.isnan(history.table.values[:, i])
        if blank.any():
            column = pd.Series(writing.as_dtype(filled[:, i], dtype))
            table[name] = as_pandas(column, types.get(name, {}))
    return table


def _with_rows(
    recipe: Recipe, history: History, table: pd.DataFrame, added: np.ndarray
) -> pd.DataFrame:
    """Writes stamps, ids and static columns of added rows; what is unknown of them is empty."""
    stamps = history.table.stamps(np.arange(len(table)))
    written = {} if stamps is None or recipe.clock is None else recipe.clock.write(stamps)
    which = np.searchsorted(history.table.bounds, np.arange(len(table)), side="right") - 1
    for name in table.columns:
        if name in written:
            table.loc[added, name] = pd.Series(written[name]).reset_index(drop=True)[added]
        elif name == recipe.id and history.table.ids is not None:
            table.loc[added, name] = history.table.ids[which[added]]
        elif name in history.table.static:
            table.loc[added, name] = history.table.static[name].to_numpy()[added]
        elif name not in recipe.channels:
            table[name] = table[name].where(~added)
    return table


def _in_order(history: History, table: pd.DataFrame) -> pd.DataFrame:
    """Rows in the user's order; series after series if rows were added."""
    if (history.source < 0).any():
        return table
    return table.iloc[np.argsort(history.given.order, kind="stable")].reset_index(drop=True)
