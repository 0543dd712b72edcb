"""Columns as numbers: what is not a number, missing altogether or infinite is refused by name."""

import numpy as np
import pandas as pd

from pacodi_jax.data import mapped
from pacodi_jax.errors import PacodiError

#: Whole numbers up to here are float64 numbers, all of them.
_EXACT = 2**53


def from_columns(
    frame: pd.DataFrame,
    names: tuple[str, ...],
    where: str,
    missing: float | None,
    *,
    may_be_empty: bool = False,
) -> np.ndarray:
    """Reads columns as ``(T, C)`` float64, NaN where a value is missing.

    Args:
      frame: the table.
      names: the columns.
      where: what to call the table in messages.
      missing: a number that means "no value".
      may_be_empty: accept a column without any value.

    Raises:
      PacodiError: naming a column that is not numeric, empty or infinite.
    """
    values = np.empty((len(frame), len(names)), np.float64)
    for i, name in enumerate(names):
        values[:, i] = _number_column(frame[name], name, where)
    if missing is not None:
        values[values == missing] = np.nan
    check(values, names, where, may_be_empty=may_be_empty)
    return values


def _number_column(column: pd.Series, name: str, where: str) -> np.ndarray:
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        raise PacodiError(
            f"{where}: column {name!r} holds durations; make numbers of them, for example by "
            ".dt.total_seconds(), or list the channels to use"
        )
    if pd.api.types.is_integer_dtype(column.dtype):
        check_exact(column.dropna().to_numpy(), name, where)
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


def check_exact(whole: np.ndarray, name: str, where: str) -> None:
    """Refuses whole numbers that float64 would change: an identifier, or a counter without end."""
    for value in whole[(whole > _EXACT) | (whole < -_EXACT)].tolist():
        if int(float(value)) != value:
            raise PacodiError(
                f"{where}: column {name!r} holds the whole number {value}, which calculations in "
                "float64 would change; subtract a constant from the column, or leave it out"
            )


def surely_finite(values: np.ndarray, block: int = 1 << 13) -> bool:
    """Whether every value is finite, by sums of blocks: fast, and wrong only towards ``False``."""
    with np.errstate(over="ignore", invalid="ignore"):
        return all(np.isfinite(values[part].sum()) for part in mapped.blocks(values, block))


def check(
    values: np.ndarray, names: tuple[str, ...], where: str, *, may_be_empty: bool = False
) -> None:
    """Refuses a channel without any value, or with an infinite one."""
    if surely_finite(values):
        return
    with np.errstate(invalid="ignore"):
        lows, highs = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    for i, name in enumerate(names):
        if np.isnan(lows[i]) and not may_be_empty:
            raise PacodiError(f"{where}: column {name!r} has no value at all; leave it out")
        if np.isinf(lows[i]) or np.isinf(highs[i]):
            row = int(np.flatnonzero(np.isinf(values[:, i]))[0]) + 1
            raise PacodiError(
                f"{where}: column {name!r} is infinite, or beyond float64, in row {row}"
            )
