"""Missing values: short gaps are interpolated, long ones cut the series. Nothing crosses a cut."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import mapped
from pacodi_jax.data.numeric import surely_finite
from pacodi_jax.data.table import Table
from pacodi_jax.errors import PacodiError


class Filled(NamedTuple):
    """What filling did: the rows it changed, the rows it could not fill, and how many cells.

    Attributes:
      touched: ``(T,)`` rows with an interpolated cell.
      broken: ``(T,)`` rows that still miss a value; no window may hold one.
      missing: how many cells had no value.
      filled: how many of these were interpolated.
    """

    touched: np.ndarray
    broken: np.ndarray
    missing: int
    filled: int


def add_rows(table: Table, max_gap: int | None) -> Table:
    """Inserts empty rows where the time grid skips at most ``max_gap`` steps (``None``: any)."""
    if table.positions is None:
        return table
    skipped = np.diff(table.positions)
    skipped -= 1
    skipped[table.bounds[1:-1] - 1] = 0
    if max_gap is not None:
        skipped[skipped > max_gap] = 0
    if not skipped.any():
        return table
    target = np.arange(len(table.values)) + np.concatenate([[0], skipped.cumsum()])
    source = np.repeat(np.arange(len(target)), np.diff(np.append(target, target[-1] + 1)))
    values = mapped.empty_like(table.values, len(source))
    for part in mapped.blocks(values):
        values[part] = np.nan
    for part in mapped.blocks(table.values):
        values[target[part]] = table.values[part]
        mapped.release(values)
    bounds = np.append(target[table.bounds[:-1]], len(source))
    return replace(
        table,
        values=values,
        bounds=bounds,
        positions=table.positions[source] + np.arange(len(source)) - target[source],
        static=_repeated(table.static, source),
    )


def _repeated(static: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    if not static.shape[1]:
        return pd.DataFrame(index=pd.RangeIndex(len(rows)))
    return static.iloc[rows].reset_index(drop=True)


def cuts(table: Table, length: int) -> np.ndarray:
    """``(T,)``: rows that do not follow the row before: a new series, a long gap, a new label.

    Raises:
      PacodiError: for a static or text column that changes within every window of ``length`` rows.
    """
    cut = np.zeros(len(table.values), bool)
    if table.positions is not None:
        cut[1:] = np.diff(table.positions) != 1
    cut[table.bounds[:-1]] = True
    for name in table.static.columns:
        codes, _ = pd.factorize(table.static[name])
        changes = np.flatnonzero(np.diff(codes))
        longest = int(np.diff(changes, prepend=-1, append=len(codes) - 1).max())
        if longest < length <= np.diff(table.bounds).max():
            raise PacodiError(
                f"column {name!r} keeps one value for {longest} rows at most, so it changes within "
                f"every window of length {length}: a static or text column must be constant per "
                "window. Shorten the window, or do not name the column in static or text"
            )
        cut[1 + changes] = True
    return cut


def fill(values: np.ndarray, edges: np.ndarray, max_gap: int | None) -> Filled:
    """Interpolates missing cells in place, linearly in time, between values of one stretch.

    Args:
      values: ``(T, C)``, changed in place.
      edges: ``(T,)`` where a new stretch begins; a gap is filled only from values of its own, so
        that nothing flows over a cut or from one part of a split into another.
      max_gap: the longest gap filled, in rows. ``None`` fills any, and gaps at the ends of a
        stretch with the nearest value.

    Returns:
      What was done.
    """
    if surely_finite(values):
        return Filled(np.zeros(len(values), bool), np.zeros(len(values), bool), 0, 0)
    if max_gap is None or not mapped.is_mapped(values):
        return _fill(values, edges, max_gap)
    return _fill_in_blocks(values, edges, max_gap)


def _fill_in_blocks(values: np.ndarray, edges: np.ndarray, max_gap: int) -> Filled:
    """The same block by block: a gap that is filled reaches no further than ``max_gap`` rows."""
    touched, broken = np.zeros(len(values), bool), np.zeros(len(values), bool)
    missing = filled = 0
    behind = values[:0].copy()  # the rows before a block, as they were
    for part in mapped.blocks(values):
        reach = slice(part.start - len(behind), min(part.stop + max_gap, len(values)))
        rows = np.concatenate([behind, values[part.start : reach.stop]])
        own = slice(len(behind), len(behind) + part.stop - part.start)
        behind = rows[max(own.stop - max_gap, 0) : own.stop].copy()
        holes = np.isnan(rows[own]).sum()
        found = _fill(rows, edges[reach], max_gap)
        values[part] = rows[own]
        touched[part], broken[part] = found.touched[own], found.broken[own]
        missing += int(holes)
        filled += int(holes - np.isnan(rows[own]).sum())
    return Filled(touched, broken, missing, filled)


def _fill(values: np.ndarray, edges: np.ndarray, max_gap: int | None) -> Filled:
    """Fills ``(T, C)`` in place."""
    touched, broken = np.zeros(len(values), bool), np.zeros(len(values), bool)
    missing = filled = 0
    rows, group = np.arange(len(values)), np.cumsum(edges)
    for column in values.T:
        holes = np.isnan(column)
        if not holes.any():
            continue
        before = np.maximum.accumulate(np.where(holes, -1, rows))[holes]
        after = np.minimum.accumulate(np.where(holes, len(rows), rows)[::-1])[::-1][holes]
        here = rows[holes]
        left = (before >= 0) & (group[before] == group[here])
        right = after < len(rows)
        right &= group[np.minimum(after, len(rows) - 1)] == group[here]
        mend = left & right & (after - before - 1 <= (len(rows) if max_gap is None else max_gap))
        share = (here[mend] - before[mend]) / (after[mend] - before[mend])
        low, high = column[before[mend]], column[after[mend]]
        column[here[mend]] = low + (high - low) * share
        if max_gap is None:
            column[here[left & ~right]] = column[before[left & ~right]]
            column[here[right & ~left]] = column[after[right & ~left]]
            mend = left | right
        touched[here[mend]] = True
        broken[here[~mend]] = True
        missing += len(here)
        filled += int(mend.sum())
    return Filled(touched, broken, missing, filled)
