"""Tables larger than memory: read chunk by chunk, their channels kept on disk.

What comes of it is a :class:`~pacodi_jax.data.table.Table` like any other, but that its values are
mapped. Beside these a row takes 8 bytes on disk for its place in time, and no memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pacodi_jax import memory
from pacodi_jax.data import files, mapped, numeric, table, time_columns
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.frames import pandas_types
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.table import Table
from pacodi_jax.errors import PacodiError

_KINDS = (".csv", ".tsv", ".txt", ".parquet")
#: Reading a file whole takes about so many times its size.
_WHOLE = 4
_EXACT = 2**53


def suits(path: Path, settings: DataSettings) -> bool:
    """Whether a file is read chunk by chunk: it is asked for, or memory would not hold it.

    Static columns, texts and the paper's protocol need the whole table in memory.
    """
    whole = settings.static or settings.text or settings.protocol == "paper"
    if whole or settings.stream == "off" or files.kind(path) not in _KINDS:
        return False
    free = memory.available()
    large = free is not None and _WHOLE * path.stat().st_size > free
    return large or settings.stream == "on"


def read(path: Path, settings: DataSettings) -> Table:
    """Reads a table of numbers, stamps and ids chunk by chunk.

    Raises:
      PacodiError: as for any table; and for series whose rows are not together, stamps that keep
        no fixed step, or a chunk whose columns are of other types than the first rows.
    """
    chunks = files.in_chunks(path)
    try:
        shown = next(chunks)
    except StopIteration:
        raise PacodiError(f"{path} has column names but no rows") from None
    roles = [*settings.time, *([settings.id] if settings.id else [])]
    names = table.channels_of(shown, settings, roles, str(path))
    values, kinds = mapped.Growing(len(names)), _Kinds(shown, names)
    series, clock = _Series(settings.id, str(path)), None
    if settings.time:
        clock = _Clock(settings.time, settings.time_format, shown, settings.id)
    rows, known = 0, np.zeros(len(names), bool)
    for frame in _filled(chunks):
        where = f"{path} (rows from {rows + 1:,} on)" if rows else str(path)
        found = numeric.from_columns(frame, names, where, settings.missing, may_be_empty=True)
        kinds.see(frame, found)
        known |= ~np.isnan(found).all(axis=0)
        begins = series.see(frame, rows)
        if clock is not None:
            clock.see(frame, begins, rows)
        values.append(found)
        rows += len(frame)
    for name in np.array(names)[~known]:
        raise PacodiError(f"{path}: column {str(name)!r} has no value at all; leave it out")
    return _table(shown, settings, names, values, kinds, series, clock, rows)


def _filled(chunks: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Chunks that have rows; those of a gap in the file have none."""
    return (chunk for chunk in chunks if len(chunk))


def _table(
    shown: pd.DataFrame,
    settings: DataSettings,
    names: tuple[str, ...],
    values: mapped.Growing,
    kinds: "_Kinds",
    series: "_Series",
    clock: "_Clock | None",
    rows: int,
) -> Table:
    roles = [*settings.time, *([settings.id] if settings.id else [])]
    typed = shown.astype(dict(zip(names, kinds.dtypes(), strict=True)), errors="ignore")
    bounds = np.append(series.begins, rows)
    return Table(
        values=values.array(),
        channels=names,
        dtypes=kinds.dtypes(),
        bounds=bounds,
        ids=np.asarray(series.ids) if settings.id else None,
        positions=None if clock is None else clock.positions.array()[:, 0],
        starts=None if clock is None else tuple(clock.starts),
        clock=None if clock is None else clock.clock(int(bounds[1])),
        static=pd.DataFrame(index=pd.RangeIndex(rows)),
        columns=tuple(c for c in shown.columns if c in names or c in roles),
        id=settings.id or None,
        types=table.own_types(typed, names, settings.id, pandas_types(typed)),
    )


class _Kinds:
    """The types of channels: whole-numbered ones stay so unless a later row has a fraction."""

    def __init__(self, shown: pd.DataFrame, names: tuple[str, ...]):
        self._names = names
        self._first = [shown[name].dtype for name in names]
        self._whole = np.array([pd.api.types.is_integer_dtype(d) for d in self._first])
        self._holes = np.zeros(len(names), bool)

    def see(self, frame: pd.DataFrame, values: np.ndarray) -> None:
        """Looks at one chunk, as it is and as numbers."""
        part = values[:, self._whole]
        holes = np.isnan(part)
        wide = np.abs(part) > _EXACT
        if wide.any():
            row, column = np.argwhere(wide)[0]
            name = np.array(self._names)[self._whole][column]
            raise PacodiError(
                f"column {str(name)!r} holds the whole number {part[row, column]:.0f} or one near "
                "it, beyond what float64 tells apart; subtract a constant, or leave it out"
            )
        fractions = (part != np.rint(part)) & ~holes
        whole = np.flatnonzero(self._whole)
        self._whole[whole[fractions.any(axis=0)]] = False
        self._holes |= np.isnan(values).any(axis=0)

    def dtypes(self) -> tuple[str, ...]:
        """The types as pandas spells them."""
        every = zip(self._first, self._whole, self._holes, strict=True)
        return tuple(self._one(*one) for one in every)

    @staticmethod
    def _one(first: Any, whole: bool, holes: bool) -> str:
        name = str(first)
        if pd.api.types.is_bool_dtype(first):
            return "boolean" if holes else "bool"
        if not pd.api.types.is_integer_dtype(first):
            return name
        if not whole:
            return "float64"
        plain = name.lower()
        return plain.replace("int", "Int").replace("uI", "UI") if holes else plain


@dataclass
class _Series:
    """Where series begin; the rows of each stand together."""

    column: str
    where: str
    begins: list[int] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    _seen: set[Any] = field(default_factory=set)

    def see(self, frame: pd.DataFrame, row: int) -> np.ndarray:
        """Looks at one chunk; returns where series begin in it."""
        if not self.column:
            begins = np.array([0] if row == 0 else [], int)
            self.begins += begins.tolist()
            return begins
        ids = frame[self.column]
        empty = np.flatnonzero(ids.isna())
        if empty.size:
            at = row + int(empty[0]) + 1
            raise PacodiError(f"{self.where}: id column {self.column!r} is empty in row {at}")
        codes, levels = pd.factorize(ids)
        first = bool(self.ids) and levels[codes[0]] == self.ids[-1]
        begins = np.flatnonzero(np.diff(codes, prepend=codes[0] if first else -1))
        for at in begins.tolist():
            name = levels[codes[at]]
            if name in self._seen:
                raise PacodiError(
                    f"{self.where}: the rows of series {name!r} do not stand together (row "
                    f"{row + at + 1}); sort the table by {self.column!r} to read it in chunks"
                )
            self._seen.add(name)
            self.ids.append(name)
        self.begins += (row + begins).tolist()
        return begins


class _Clock:
    """The time grid of a fixed step, and the place of each row on it."""

    def __init__(self, columns: tuple[str, ...], format: str, shown: pd.DataFrame, id: str):
        self._columns = columns
        self._first = time_columns.parse(shown, columns, format)
        changes = np.flatnonzero(np.diff(pd.factorize(shown[id])[0])) if id else np.empty(0, int)
        own = self._first.values[: int(changes[0]) + 1 if changes.size else len(shown)]
        ends = np.array([0, len(own)])
        self._numeric = not isinstance(own, pd.DatetimeIndex)
        self._frequency = time_columns.positions(own, ends, columns[0])[1]
        self._step = time_columns.fixed_step(self._frequency, self._numeric, columns[0])
        self.positions = _Whole()
        self.starts: list[str] = []
        self._begin, self._last = 0.0, 0.0

    def see(self, frame: pd.DataFrame, begins: np.ndarray, row: int) -> None:
        """Puts the rows of one chunk on the grid."""
        stamps = time_columns.parse(frame, self._columns, self._first.format)
        if stamps[1:] != self._first[1:]:
            raise PacodiError(
                f"time column {self._columns[0]!r}: from row {row + 1:,} on stamps are of another "
                "form or zone than before; write all in one, or name data.time_format"
            )
        ticks = time_columns.ticks(stamps.values, self._columns[0])
        edges = sorted({0, *begins.tolist(), len(ticks)})
        for begin, end in pairwise(edges):
            if begin in begins:
                self._begin, self._last = ticks[begin], ticks[begin] - self._step
                self.starts.append(table.stamp_text(stamps.values[begin]))
            self.positions.append(self._on_grid(stamps.values, ticks, begin, end, row))

    def _on_grid(
        self, index: pd.Index, ticks: np.ndarray, begin: int, end: int, row: int
    ) -> np.ndarray:
        """Steps since the first stamp of the series; refuses stamps that fall, or lie between."""
        own = ticks[begin:end]
        wrong = np.flatnonzero(np.diff(own, prepend=self._last) <= 0)
        places = time_columns.whole_steps(own - self._begin, self._step)
        between = np.flatnonzero(places < 0)
        for at, how in ((wrong, "repeats or falls"), (between, "lies between two steps")):
            if at.size:
                raise PacodiError(
                    f"time column {self._columns[0]!r}: the stamp {index[begin + at[0]]} in row "
                    f"{row + begin + at[0] + 1:,} {how} of {self._frequency}; sort the rows, name "
                    "an id column, or resample the table"
                )
        self._last = own[-1]
        return places

    def clock(self, rows: int) -> Clock:
        """The clock of the table, whose first series has so many rows."""
        last = int(self.positions.array()[rows - 1, 0]) + 1
        _, form, zone = self._first
        return Clock(
            self._columns, form, zone, self._frequency, self._numeric, self.starts[0], last
        )


class _Whole(mapped.Growing):
    """A column of whole numbers on disk."""

    def __init__(self) -> None:
        super().__init__(1)

    def append(self, rows: np.ndarray) -> None:
        """Writes ``(n,)`` numbers behind those that are there."""
        super().append(rows.astype(np.int64).view(np.float64)[:, None])

    def array(self) -> np.ndarray:
        """The numbers ``(T, 1)`` int64."""
        return super().array().view(np.int64)
