"""A table as series of numbers: which column is what, in what order, of which type."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pacodi_jax.data import time_columns
from pacodi_jax.data.clock import Clock
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
      clock: how the time is told, or ``None``.
      static: the static and text columns, a row for each row of ``values``.
      columns: every column of the user's table, in order.
      id: the id column's name, or ``None``.
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
    ready: bool = False


def from_array(array: np.ndarray, where: str) -> Table:
    """Reads ``(T,)``, ``(T, C)`` or ready-made windows ``(N, L, C)`` as a table."""
    if array.ndim not in (1, 2, 3):
        raise PacodiError(f"{where} has shape {array.shape}; expected (T, C) or (N, L, C)")
    dtype = str(array.dtype)
    if array.ndim == 1:
        array = array[:, None]
    ready = array.ndim == 3
    count, rows = (len(array), array.shape[1]) if ready else (1, len(array))
    values = array.reshape(-1, array.shape[-1])
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    values = np.require(values, requirements=["C", "W"])
    names = tuple(f"c{i}" for i in range(values.shape[1]))
    _check_numbers(values, names, where)
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
        ready=ready,
    )


def from_frame(
    frame: pd.DataFrame,
    *,
    where: str,
    time: str | Sequence[str] | None = None,
    time_format: str | None = None,
    id: str | None = None,
    channels: Sequence[str] | None = None,
    static: Sequence[str] = (),
    text: str | None = None,
    missing: float | None = None,
) -> Table:
    """Reads a data frame as a table.

    Args:
      frame: the user's table.
      where: what to call it in messages.
      time: the time column, or a date and a time column.
      time_format: how text stamps are written; found by default.
      id: the column that tells series apart; rows of one series need not be adjacent.
      channels: the columns to model; by default all that have no other role.
      static: columns that hold still within a window (labels, attributes).
      text: a column of captions that hold still within a window.
      missing: a number that means "no value".

    Returns:
      The table, series after series in order of first appearance.

    Raises:
      PacodiError: for a column that is missing, not numeric, empty or infinite, or bad stamps.
    """
    clock_columns = (time,) if isinstance(time, str) else tuple(time or ())
    roles = [*clock_columns, *([id] if id else []), *static, *([text] if text else [])]
    _check_columns(frame, [*roles, *(channels or [])], where)
    names = tuple(channels or [c for c in frame.columns if c not in roles])
    both = sorted(set(names) & set(roles))
    if both:
        raise PacodiError(f"{where}: column {both[0]!r} has two roles; a channel is only a channel")
    if not names:
        raise PacodiError(f"{where} has no channel: every column has another role")
    if not len(frame):
        raise PacodiError(f"{where} has column names but no rows")
    order, bounds, ids = _group(frame, id, where)
    if not np.array_equal(order, np.arange(len(frame))):
        frame = frame.iloc[order].reset_index(drop=True)
    values = _numbers(frame, names, where, missing)
    extra = frame[[*static, *([text] if text else [])]].reset_index(drop=True)
    _check_filled(extra, where)
    grid, starts, clock = _clock(frame, clock_columns, time_format, bounds)
    dtypes = tuple(str(frame[c].dtype) for c in names)
    kept = tuple(c for c in frame.columns if c in names or c in roles)
    return Table(values, names, dtypes, bounds, ids, grid, starts, clock, extra, kept, id)


def _check_columns(frame: pd.DataFrame, wanted: Sequence[str], where: str) -> None:
    have = [str(c) for c in frame.columns]
    for name in wanted:
        if name not in have:
            listed = ", ".join(map(repr, have[:12])) + (", …" if len(have) > 12 else "")
            raise PacodiError(
                f"{where} has no column {name!r}; it has {listed}.{nearest(name, have)}"
            )
        if list(wanted).count(name) > 1:
            raise PacodiError(f"{where}: column {name!r} is asked for twice")


def _group(
    frame: pd.DataFrame, id: str | None, where: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Orders rows series after series; returns the order, the bounds and the ids."""
    if id is None:
        return np.arange(len(frame)), np.array([0, len(frame)]), None
    codes, ids = pd.factorize(frame[id])
    if (codes < 0).any():
        raise PacodiError(f"{where}: id column {id!r} is empty in row {np.argmin(codes) + 1}")
    counts = np.bincount(codes, minlength=len(ids))
    return np.argsort(codes, kind="stable"), np.concatenate([[0], counts.cumsum()]), np.asarray(ids)


def _numbers(
    frame: pd.DataFrame, names: tuple[str, ...], where: str, missing: float | None
) -> np.ndarray:
    values = np.empty((len(frame), len(names)), np.float64)
    for i, name in enumerate(names):
        values[:, i] = _number_column(frame[name], name, where)
    if missing is not None:
        values[values == missing] = np.nan
    _check_numbers(values, names, where)
    return values


def _number_column(column: pd.Series, name: str, where: str) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise PacodiError(f"{where}: column {name!r} holds time stamps; pass time={name!r}")
    if column.isna().all():
        return np.full(len(column), np.nan)
    numbers = pd.to_numeric(column, errors="coerce")
    bad = np.flatnonzero(numbers.isna() & column.notna())
    if not bad.size:
        return numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    raise PacodiError(
        f"{where}: column {name!r} holds {column.iloc[bad[0]]!r} in row {bad[0] + 1}, which is not "
        "a number; correct it, or give the column a role (time, id, static, text), or list the "
        "channels to use"
    )


def surely_finite(values: np.ndarray, block: int = 1 << 13) -> bool:
    """Whether every value is finite, by sums of blocks: fast, and wrong only towards ``False``."""
    with np.errstate(over="ignore", invalid="ignore"):
        return all(
            np.isfinite(values[begin : begin + block].sum())
            for begin in range(0, len(values), block)
        )


def _check_numbers(values: np.ndarray, names: tuple[str, ...], where: str) -> None:
    if surely_finite(values):
        return
    with np.errstate(invalid="ignore"):
        lows, highs = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    for i, name in enumerate(names):
        if np.isnan(lows[i]):
            raise PacodiError(f"{where}: column {name!r} has no value at all; leave it out")
        if np.isinf(lows[i]) or np.isinf(highs[i]):
            row = int(np.flatnonzero(np.isinf(values[:, i]))[0]) + 1
            raise PacodiError(
                f"{where}: column {name!r} is infinite, or beyond float64, in row {row}"
            )


def _check_filled(extra: pd.DataFrame, where: str) -> None:
    for name in extra.columns:
        empty = np.flatnonzero(extra[name].isna())
        if empty.size:
            raise PacodiError(f"{where}: column {name!r} is empty in row {empty[0] + 1}")


def _clock(
    frame: pd.DataFrame, columns: tuple[str, ...], format: str | None, bounds: np.ndarray
) -> tuple[np.ndarray | None, tuple[str, ...] | None, Clock | None]:
    if not columns:
        return None, None, None
    if len(columns) > 2:
        raise PacodiError(f"time={columns!r}: name one column, or a date and a time column")
    stamps = time_columns.parse(frame, columns, format)
    grid, frequency = time_columns.positions(stamps.values, bounds, columns[0])
    numeric = not isinstance(stamps.values, pd.DatetimeIndex)
    starts = tuple(_text(stamps.values[b]) for b in bounds[:-1])
    rows = int(grid[bounds[1] - 1]) + 1
    clock = Clock(columns, stamps.format, stamps.zone, frequency, numeric, starts[0], rows)
    return grid, starts, clock


def _text(stamp: Any) -> str:
    return stamp.isoformat() if isinstance(stamp, pd.Timestamp) else repr(float(stamp))
