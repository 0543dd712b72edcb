"""Time stamps: read in the way they were written, and put on a regular grid."""

import datetime
import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data.clock import COLON, plain
from pacodi_jax.errors import PacodiError

_DATES = ("%Y-%m-%d", "%Y-%m", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
_TIMES = ("%H:%M:%S", "%H:%M", "%H.%M.%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
_ZONES = ("", "%z", " %z", "Z")
_CALENDAR = ("D", "B", "W", "MS", "ME", "QS", "QE", "YS", "YE")
#: Beyond this share of steps that are not the common one, stamps count as irregular.
IRREGULAR = 0.1


class Stamps(NamedTuple):
    """Parsed time columns: the stamps and how they were written."""

    values: pd.Index
    format: str
    zone: str


def parse(frame: pd.DataFrame, columns: tuple[str, ...], format: str | None) -> Stamps:
    """Reads the time columns of ``frame``; two columns are a date and a time.

    Args:
      frame: the table.
      columns: one or two column names.
      format: the ``strptime`` format of text stamps; found if ``None``.

    Returns:
      The stamps (dates, or numbers if the column counts), their format and time zone.

    Raises:
      PacodiError: for a missing, unreadable or ambiguous stamp, naming the row.
    """
    cells = frame[columns[0]]
    for name in columns:
        empty = np.flatnonzero(frame[name].isna())
        if empty.size:
            raise PacodiError(f"time column {name!r} is empty in row {empty[0] + 1}")
    if len(columns) > 1 and pd.api.types.is_datetime64_any_dtype(cells.dtype):
        raise PacodiError(
            f"time column {columns[0]!r} holds stamps of its own, so {columns[1]!r} would be "
            "ignored; join both to one column, or leave one out"
        )
    if isinstance(cells.dtype, pd.DatetimeTZDtype):
        return Stamps(pd.DatetimeIndex(cells), "", str(cells.dt.tz))
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return Stamps(pd.DatetimeIndex(cells), "", "")
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        numbers = cells.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise PacodiError(f"time column {columns[0]!r} holds an infinite number")
        return Stamps(pd.Index(numbers), "", "")
    text = cells.astype(str).str.strip()
    for name in columns[1:]:
        text = text + " " + frame[name].astype(str).str.strip()
    return _from_text(text, columns, format)


def _from_text(text: pd.Series, columns: tuple[str, ...], format: str | None) -> Stamps:
    found = plain(format or find_format(text, columns))
    try:
        stamps = _read(text, found)
    except ValueError as error:
        raise PacodiError(f"time_format={format!r}: {error}") from error
    bad = np.flatnonzero(stamps.isna())
    if bad.size:
        raise PacodiError(
            f"time column {columns[0]!r}, row {bad[0] + 1}: {text.iloc[bad[0]]!r} is not a stamp "
            f"of the form {found!r}"
        )
    index = pd.DatetimeIndex(stamps)
    if "%z" in found:
        first = pd.to_datetime(text.iloc[0], format=found)
        offsets = text.str.extract(r"([+-]\d\d:?\d\d|Z)$")[0]
        zone = str(first.tz) if offsets.nunique() == 1 else "UTC"
        colon = text.str.contains(r"[+-]\d\d:\d\d$").all()
        return Stamps(index.tz_convert(zone), found.replace("%z", COLON) if colon else found, zone)
    return Stamps(index, found, "")


def find_format(text: pd.Series, columns: tuple[str, ...]) -> str:
    """Returns the one format that reads all of ``text``; several that disagree are refused."""
    head = str(text.iloc[0])
    formats = [
        date + (sep + time if time else "") + zone
        for date in _DATES
        for time in ("", *_TIMES)
        for sep in (" ", "T")
        for zone in _ZONES
        if time or (sep == " " and not zone)
    ]
    fits = [f for f in formats if _fits(head, f)]
    reads = {f: _read(text, f) for f in fits}
    whole = [f for f in fits if not reads[f].isna().any()]
    if not whole:
        best = max(fits, key=lambda f: int(reads[f].notna().sum()), default=None)
        if best is None:
            raise PacodiError(
                f"time column {columns[0]!r}: {head!r} is not a time stamp of a known "
                "form; pass time_format, for example '%Y-%m-%d %H:%M'"
            )
        return best
    if any(not reads[f].equals(reads[whole[0]]) for f in whole[1:]):
        raise PacodiError(
            f"time column {columns[0]!r} can be read as {' or '.join(map(repr, whole))}; "
            "pass time_format"
        )
    return whole[0]


def _fits(cell: str, format: str) -> bool:
    try:
        datetime.datetime.strptime(cell, format)
    except ValueError:
        return False
    return True


def _read(text: pd.Series, format: str) -> pd.Series:
    return pd.to_datetime(text, format=format, errors="coerce", utc="%z" in format)


def positions(index: pd.Index, bounds: np.ndarray, where: str) -> tuple[np.ndarray, str]:
    """Puts every stamp on its series' grid.

    Args:
      index: the stamps of all rows, series after series.
      bounds: ``(S + 1,)`` where each series begins and ends.
      where: the column's name, for messages.

    Returns:
      ``(T,)`` the number of grid steps since the series' first row, and the grid's frequency.

    Raises:
      PacodiError: for stamps that repeat, fall or keep to no common step.
    """
    found, steps, inside = _rising(index, bounds, where)
    numeric = not isinstance(index, pd.DatetimeIndex)
    if not inside.any():
        return np.zeros(len(found), np.int64), "1" if numeric else "D"
    result = _fixed(found, steps, inside, bounds, numeric)
    if result is None and not numeric:
        result = _calendar(pd.DatetimeIndex(index), bounds)
    if result is None:
        values, counts = np.unique(steps[inside], return_counts=True)
        common = [str(values[i] if numeric else pd.Timedelta(values[i])) for i in counts.argsort()]
        raise PacodiError(
            f"time column {where!r} has mixed frequencies: steps of {', '.join(common[::-1][:4])}; "
            "resample it to one, or leave time out to count rows. A trained model fills missing "
            "rows: impute"
        )
    return result


def on_grid(index: pd.Index, bounds: np.ndarray, where: str, frequency: str) -> np.ndarray:
    """Puts every stamp on a grid of known frequency: steps since its series' first row, ``(T,)``.

    Raises:
      PacodiError: for stamps that repeat, fall or lie between two steps.
    """
    since, _, inside = _rising(index, bounds, where)
    found = np.empty(len(since), np.int64)
    for begin, end in itertools.pairwise(bounds.tolist()):
        found[begin:end] = _steps_since(index[begin:end], since[begin:end], frequency)
        if (found[begin:end] < 0).any():
            row = begin + int((found[begin:end] < 0).argmax())
            raise PacodiError(
                f"time column {where!r}: the stamp {index[row]} is not a whole number of steps of "
                f"{frequency} after {index[begin]}, where its series begins. The model was trained "
                "on that frequency; resample the table to it"
            )
    common = np.bincount(np.diff(found)[inside]).argmax() if inside.any() else 1
    if common != 1:
        raise PacodiError(
            f"time column {where!r}: most rows are {common} steps of {frequency} apart. The model "
            "was trained on that frequency; resample the table to it"
        )
    return found


def _steps_since(index: pd.Index, ticks: np.ndarray, frequency: str) -> np.ndarray:
    """Steps since the first stamp of one series; −1 for a stamp between two steps."""
    if not isinstance(index, pd.DatetimeIndex):
        return whole_steps(ticks - ticks[0], float(frequency))
    step = pd.tseries.frequencies.to_offset(frequency)
    if isinstance(step, pd.tseries.offsets.Tick):
        return whole_steps(ticks - ticks[0], pd.Timedelta(step).value)
    return pd.date_range(index[0], index[-1], freq=step).get_indexer(index)


def fixed_step(frequency: str, numeric: bool, where: str) -> float | int:
    """A grid's step: nanoseconds, or of a column that counts the number.

    Raises:
      PacodiError: for a step of the calendar, such as a month.
    """
    if numeric:
        return float(frequency)
    step = pd.tseries.frequencies.to_offset(frequency)
    if not isinstance(step, pd.tseries.offsets.Tick):
        raise PacodiError(
            f"time column {where!r}: steps of {frequency} have no fixed length, which a table that "
            "is read in chunks needs; leave time out to count rows"
        )
    return pd.Timedelta(step).value


def ticks(index: pd.Index, where: str) -> np.ndarray:
    """Stamps as numbers: nanoseconds, or what a column that counts holds."""
    dates = isinstance(index, pd.DatetimeIndex)
    return _nanoseconds(pd.DatetimeIndex(index), where) if dates else index.to_numpy()


def whole_steps(since: np.ndarray, step: float | int) -> np.ndarray:
    """How many steps a time is long, int64; −1 for one that ends between two steps."""
    if isinstance(step, int):
        steps, rest = np.divmod(since.astype(np.int64), step)
        return np.where(rest == 0, steps, -1)
    ratio = since / step
    return np.where(np.abs(ratio - np.rint(ratio)) > 1e-6, -1, np.rint(ratio)).astype(np.int64)


def _rising(
    index: pd.Index, bounds: np.ndarray, where: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stamps as numbers, their steps, and which of these lie within a series.

    Raises:
      PacodiError: for a stamp that repeats or falls.
    """
    found = ticks(index, where)
    steps = np.diff(found)
    inside = np.ones(len(steps), bool)
    inside[bounds[1:-1] - 1] = False
    wrong = np.flatnonzero(inside & (steps <= 0))
    if wrong.size:
        row = int(wrong[0]) + 1
        how = "repeats" if steps[row - 1] == 0 else "is earlier than"
        raise PacodiError(
            f"time column {where!r}: the stamp {index[row]} {how} the one before it (row "
            f"{row + 1}, counted series after series); sort the rows, and name an id column if the "
            "file holds several series"
        )
    return found, steps, inside


def _nanoseconds(index: pd.DatetimeIndex, where: str) -> np.ndarray:
    try:
        return index.as_unit("ns").asi8
    except pd.errors.OutOfBoundsDatetime as error:
        ends = f"{pd.Timestamp.min:%Y-%m-%d} to {pd.Timestamp.max:%Y-%m-%d}"
        # As numbers: pandas cannot show a stamp of the year 44689 in a zone.
        stamps = index.tz_convert(None).to_numpy() if index.tz else index.to_numpy()
        years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
        far = str(stamps[np.argmax((years < 1678) | (years > 2261))]).replace("T", " ")
        raise PacodiError(
            f"time column {where!r}: the stamp {far} is outside {ends}, which nanoseconds "
            "can count; correct it, or leave time out to count rows"
        ) from error


def _fixed(
    ticks: np.ndarray, steps: np.ndarray, inside: np.ndarray, bounds: np.ndarray, numeric: bool
) -> tuple[np.ndarray, str] | None:
    """The grid of one fixed step, or ``None`` if too many steps differ from the common one."""
    kept = steps[inside]
    base = kept[0]
    if not (kept == base).all():
        base = np.median(kept) if numeric else pd.Series(kept).mode()[0]
        ratio = kept / base
        whole = np.allclose(ratio, np.rint(ratio), rtol=0, atol=1e-6 if numeric else 0)
        if not whole or (np.rint(ratio) != 1).mean() > IRREGULAR:
            return None
    first = np.repeat(ticks[bounds[:-1]], np.diff(bounds))
    grid = np.rint((ticks - first) / base).astype(np.int64)
    if numeric:
        return grid, f"{base:.12g}"
    return grid, pd.tseries.frequencies.to_offset(pd.Timedelta(int(base))).freqstr


def _calendar(index: pd.DatetimeIndex, bounds: np.ndarray) -> tuple[np.ndarray, str] | None:
    """The grid of a calendar step (local days, working days, months, …) that holds every stamp."""
    for frequency in _CALENDAR:
        parts = []
        for begin, end in itertools.pairwise(bounds.tolist()):
            stamps = index[begin:end]
            grid = pd.date_range(stamps[0], stamps[-1], freq=frequency)
            found = grid.get_indexer(stamps)
            if (found < 0).any() or len(grid) > len(stamps) / (1 - IRREGULAR) + 1:
                break
            parts.append(found.astype(np.int64))
        else:
            return np.concatenate(parts), frequency
    return None
