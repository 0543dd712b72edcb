"""The clock of a table: the grid its rows lie on, and how its stamps are written."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.errors import PacodiError

#: An offset written +01:00, which strftime knows only as +0100.
COLON = "%:z"
_YEAR_LAST = re.compile(r"\s*\d{1,2}\D")


class Clock(NamedTuple):
    """The time grid of a table, and how its stamps are written.

    Attributes:
      columns: the columns that hold the stamp: one, or a date and a time.
      format: how text stamps were written, for ``strftime``; empty for stamps that were not text.
      zone: the time zone's name, empty if the stamps have none.
      frequency: the grid's step: a pandas offset (``"h"``, ``"15min"``, ``"MS"``), or for a
        numeric time column the number as text.
      numeric: whether the column counts (0, 1, 2, …) rather than dates.
      start: the first stamp of the first series, in ISO form or as a number.
      rows: how many steps of the grid the first series spans.
    """

    columns: tuple[str, ...]
    format: str
    zone: str
    frequency: str
    numeric: bool
    start: str
    rows: int

    @property
    def step(self) -> pd.Timedelta:
        """How long a step lasts; of months and the like, about."""
        offset = pd.tseries.frequencies.to_offset(self.frequency)
        if isinstance(offset, pd.tseries.offsets.Tick):
            return pd.Timedelta(offset)
        first = pd.Timestamp("2024-01-01") + offset
        return (first + offset + offset - first) / 2

    def moment(self, stamp: Any) -> pd.Timestamp:
        """Reads a stamp at which a series may begin; one without a zone is local time.

        Raises:
          PacodiError: for what is no date, lies between two steps of the grid, or is a text in
            which the day could be taken for the month.
        """
        if isinstance(stamp, str) and _YEAR_LAST.match(stamp):
            raise PacodiError(
                f"start={stamp!r}: write the year first, such as 2027-01-31; day and month are not "
                "guessed."
            )
        try:
            found = pd.Timestamp(stamp)
            if self.zone:
                local = found.tzinfo is None
                found = found.tz_localize(self.zone) if local else found.tz_convert(self.zone)
        except (ValueError, TypeError) as error:
            raise PacodiError(f"start={stamp!r} is no stamp of this table: {error}") from None
        if not self.zone and found.tzinfo is not None:
            raise PacodiError(
                f"start={str(stamp)!r} has a time zone, and the stamps of this table have none; "
                "leave it out."
            )
        if found is pd.NaT or not self._meets(found):
            raise PacodiError(
                f"start={str(stamp)!r} is not on the grid of this table: every {self.frequency} "
                f"from {self.start}."
            )
        return found

    def _meets(self, stamp: pd.Timestamp) -> bool:
        """Whether a stamp lies on the grid of the first series, or on its way back or forth."""
        start, offset = (
            _moment(self.start, self.zone),
            pd.tseries.frequencies.to_offset(self.frequency),
        )
        if isinstance(offset, pd.tseries.offsets.Tick):
            return (stamp - start) % pd.Timedelta(offset) == pd.Timedelta(0)
        first, last = min(start, stamp), max(start, stamp)
        grid = pd.date_range(first, last, freq=offset)
        return len(grid) > 0 and grid[0] == first and grid[-1] == last

    def windows(self, firsts: pd.DatetimeIndex, length: int) -> pd.DatetimeIndex:
        """The stamps of windows that begin at ``(N,)`` stamps: ``(N·L,)``."""
        which, begins = firsts.factorize()
        starts = [stamp.isoformat() for stamp in begins]
        steps = np.tile(np.arange(length), len(firsts))
        return pd.DatetimeIndex(self.stamps(starts, np.repeat(which, length), steps))

    def stamps(self, starts: Sequence[str], which: np.ndarray, positions: np.ndarray) -> pd.Index:
        """Returns stamps: ``positions[i]`` steps after ``starts[which[i]]``, ``(N,)`` each."""
        if self.numeric:
            first, step = np.array([float(s) for s in starts]), float(self.frequency)
            values = first[which] + positions * step
            whole = step.is_integer() and all(f.is_integer() for f in first.tolist())
            return pd.Index(values.astype(np.int64) if whole else values)
        begins = pd.DatetimeIndex([_moment(s, self.zone) for s in starts])
        offset = pd.tseries.frequencies.to_offset(self.frequency)
        if isinstance(offset, pd.tseries.offsets.Tick):
            return begins[which] + positions * pd.Timedelta(offset)
        out = np.empty(len(which), object)
        order = np.argsort(which, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
            last = int(positions[rows].max()) + 1
            out[rows] = pd.date_range(begins[which[rows[0]]], periods=last, freq=offset)[
                positions[rows]
            ]
        return pd.DatetimeIndex(out)

    def write(self, stamps: pd.Index) -> dict[str, Any]:
        """Returns the stamp columns' values, written as they were read."""
        if self.numeric or not self.format:
            return {self.columns[0]: stamps}
        texts = pd.Series(pd.DatetimeIndex(stamps).strftime(plain(self.format)))
        if COLON in self.format:
            texts = texts.str.replace(r"([+-]\d\d)(\d\d)$", r"\1:\2", regex=True)
        if len(self.columns) == 1:
            return {self.columns[0]: texts}
        parts = texts.str.split(" ", n=1, expand=True)
        return {name: parts[i] for i, name in enumerate(self.columns)}


def _moment(text: str, zone: str) -> pd.Timestamp:
    stamp = pd.Timestamp(text)
    return stamp.tz_convert(zone) if zone else stamp


def plain(format: str) -> str:
    """Returns a format that ``strftime`` and ``strptime`` know."""
    return format.replace(COLON, "%z")
