"""A table as series of numbers: which column is what, in what order, of which type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pacodi_jax.data import numeric, time_columns
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.frames import ColumnType, pandas_types
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.errors import PacodiError, nearest


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers of one or many series, row after row, and what is needed to write them back.

    Attributes:
      values: ``(T, C)`` the channels, NaN where a value is missing.
      channels: their names, in the user's order.
      dtypes: their types as numpy spells them.
      bounds: ``(S + 1,)`` rows where the series begin and end.
      ids: the series' identities, ``(S,)``, or ``None`` for a single series.
      positions: ``(T,)`` steps of the time grid since the series' first row, or ``None`` without a
        time column.
      starts: the first stamp of each series, or ``None`` without a time column.
      clock: the time grid and how stamps are written, or ``None``.
      static: the static and text columns, one row per row of ``values``.
      columns: every column of the user's table, in order.
      id: the id column's name, or ``None``.
      types: the user's own type of each column, where it is known.
      ready: whether each series is a ready-made window, so that a split is over series.
    """

    values: np.ndarray
    channels: tuple[str, ...]
    dtypes: tuple[str, ...]
    bounds: np.ndarray
    ids: np.ndarray | None
    positions: np.ndarray | None
    starts: tuple[str, ...] | None
    clock: Clock | None
    static: pd.DataFrame
    columns: tuple[str, ...]
    id: str | None
    types: Mapping[str, ColumnType]
    ready: bool = False

    def stamps(self, rows: np.ndarray) -> pd.Index | None:
        """The stamps of ``(N,)`` rows, or ``None`` without a time column."""
        if self.clock is None or self.starts is None or self.positions is None:
            return None
        which = np.searchsorted(self.bounds, rows, side="right") - 1
        return self.clock.stamps(self.starts, which, self.positions[rows])


def unnamed_channels(count: int) -> tuple[str, ...]:
    """What the channels of an array are called."""
    return tuple(f"c{i}" for i in range(count))


def from_array(array: np.ndarray, where: str, *, may_be_empty: bool = False) -> Table:
    """Reads ``(T,)``, ``(T, C)`` or ready-made windows ``(N, L, C)`` as a table.

    The table may take over the array's memory, and scaling writes into it.
    """
    if array.dtype.kind not in "biuf":
        raise PacodiError(f"{where} holds {array.dtype}, not numbers")
    if not array.size:
        raise PacodiError(f"{where} is empty: its shape is {array.shape}")
    if array.ndim not in (1, 2, 3):
        raise PacodiError(f"{where} has shape {array.shape}; expected (T, C) or (N, L, C)")
    dtype = str(array.dtype)
    if array.ndim == 1:
        array = array[:, None]
    ready = array.ndim == 3
    count, rows = (len(array), array.shape[1]) if ready else (1, len(array))
    values = array.reshape(-1, array.shape[-1])
    if values.dtype.kind in "iu":
        for i, column in enumerate(values.T):
            numeric.check_exact(column, f"c{i}", where)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    values = np.require(values, requirements=["C", "W"])
    names = unnamed_channels(values.shape[1])
    numeric.check(values, names, where, may_be_empty=may_be_empty)
    return Table(
        values=values,
        channels=names,
        dtypes=(dtype,) * len(names),
        bounds=np.arange(count + 1) * rows,
        ids=None,
        positions=None,
        starts=None,
        clock=None,
        static=pd.DataFrame(index=pd.RangeIndex(len(values))),
        columns=names,
        id=None,
        types={},
        ready=ready,
    )


def from_frame(
    frame: pd.DataFrame,
    settings: DataSettings,
    *,
    where: str,
    types: Mapping[str, ColumnType] | None = None,
    frequency: str = "",
    may_be_empty: bool = False,
) -> Table:
    """Reads a data frame as a table.

    Args:
      frame: the user's table.
      settings: which column has which role.
      where: what to call the table in messages.
      types: the user's own type of each column; those of ``frame`` by default.
      frequency: of the grid that the stamps lie on; found if empty.
      may_be_empty: accept a channel without any value.

    Returns:
      The table, series after series in order of first appearance. Rows of one series need not be
      adjacent.

    Raises:
      PacodiError: for a column that is missing, not numeric, empty or infinite, or bad stamps.
    """
    extra = [*settings.static, *([settings.text] if settings.text else [])]
    roles = [*settings.time, *([settings.id] if settings.id else []), *extra]
    names = channels_of(frame, settings, roles, where)
    order, bounds, ids = group(frame, settings.id, where)
    if not np.array_equal(order, np.arange(len(frame))):
        frame = frame.iloc[order].reset_index(drop=True)
    values = numeric.from_columns(frame, names, where, settings.missing, may_be_empty=may_be_empty)
    static = frame[extra].reset_index(drop=True)
    _check_filled(static, where)
    grid, starts, clock = _clock(frame, settings.time, settings.time_format, bounds, frequency)
    return Table(
        values=values,
        channels=names,
        dtypes=tuple(str(frame[c].dtype) for c in names),
        bounds=bounds,
        ids=ids,
        positions=grid,
        starts=starts,
        clock=clock,
        static=static,
        columns=tuple(c for c in frame.columns if c in names or c in roles),
        id=settings.id or None,
        types=own_types(frame, names, settings.id, types),
    )


def channels_of(
    frame: pd.DataFrame, settings: DataSettings, roles: list[str], where: str
) -> tuple[str, ...]:
    """The columns to model: those asked for, or all that have no other role."""
    check_columns(frame, [*roles, *settings.channels], where)
    names = settings.channels or tuple(c for c in frame.columns if c not in roles)
    if not names:
        raise PacodiError(f"{where} has no channel: every column has another role")
    if not len(frame):
        raise PacodiError(f"{where} has column names but no rows")
    return names


def own_types(
    frame: pd.DataFrame,
    names: tuple[str, ...],
    id: str,
    types: Mapping[str, ColumnType] | None,
) -> dict[str, ColumnType]:
    """The types to write columns in; texts that are read as numbers are written as numbers."""
    kept = dict(pandas_types(frame) if types is None else types)
    for name in names:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            kept[name] = {key: kept[name][key] for key in kept[name] if key == "label"}
    if id:  # samples have ids of their own: the source's are not kept
        kept[id] = {key: value for key, value in kept[id].items() if key != "categories"}
        if kept[id].get("name") == "Enum":
            kept[id] = {"name": "Categorical"}
    return kept


def check_columns(frame: pd.DataFrame, wanted: Sequence[str], where: str) -> None:
    """Refuses a column that a table does not have, with the nearest it has."""
    have = [str(c) for c in frame.columns]
    for name in wanted:
        if name not in have:
            listed = ", ".join(map(repr, have[:12])) + (", …" if len(have) > 12 else "")
            raise PacodiError(
                f"{where} has no column {name!r}; it has {listed}.{nearest(name, have)}"
            )
        if list(wanted).count(name) > 1:
            raise PacodiError(f"{where}: column {name!r} is asked for twice")


def group(
    frame: pd.DataFrame, id: str, where: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Orders rows series after series; returns the order, the bounds and the ids."""
    if not id:
        return np.arange(len(frame)), np.array([0, len(frame)]), None
    codes, ids = pd.factorize(frame[id])
    if (codes < 0).any():
        raise PacodiError(f"{where}: id column {id!r} is empty in row {np.argmin(codes) + 1}")
    counts = np.bincount(codes, minlength=len(ids))
    return np.argsort(codes, kind="stable"), np.concatenate([[0], counts.cumsum()]), np.asarray(ids)


def _check_filled(extra: pd.DataFrame, where: str) -> None:
    for name in extra.columns:
        empty = np.flatnonzero(extra[name].isna())
        if empty.size:
            raise PacodiError(f"{where}: column {name!r} is empty in row {empty[0] + 1}")


def _clock(
    frame: pd.DataFrame,
    columns: tuple[str, ...],
    format: str,
    bounds: np.ndarray,
    frequency: str,
) -> tuple[np.ndarray | None, tuple[str, ...] | None, Clock | None]:
    if not columns:
        return None, None, None
    if len(columns) > 2:
        raise PacodiError(f"time={columns!r}: name one column, or a date and a time column")
    stamps = time_columns.parse(frame, columns, format)
    if frequency:
        grid = time_columns.on_grid(stamps.values, bounds, columns[0], frequency)
    else:
        grid, frequency = time_columns.positions(stamps.values, bounds, columns[0])
    numeric = not isinstance(stamps.values, pd.DatetimeIndex)
    starts = tuple(stamp_text(stamps.values[b]) for b in bounds[:-1])
    rows = int(grid[bounds[1] - 1]) + 1
    clock = Clock(columns, stamps.format, stamps.zone, frequency, numeric, starts[0], rows)
    return grid, starts, clock


def stamp_text(stamp: Any) -> str:
    """A first stamp as a table keeps it."""
    return stamp.isoformat() if isinstance(stamp, pd.Timestamp) else repr(float(stamp))
