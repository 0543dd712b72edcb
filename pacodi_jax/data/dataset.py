"""One call from a source to scaled windows in three parts, and the recipe for the way back."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import attributes, gaps, splits
from pacodi_jax.data import scaling as scalers
from pacodi_jax.data.fingerprint import fingerprint
from pacodi_jax.data.recipe import WINDOW, Recipe
from pacodi_jax.data.sources import Source, read
from pacodi_jax.data.table import Table, surely_finite
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError, choose

PROTOCOLS = ("honest", "paper")
SPLITS = ("auto", "time", "series")
FRACTIONS = (0.8, 0.1, 0.1)
_REASONS = 5


class Report(NamedTuple):
    """What was done to the data on its way to windows.

    Attributes:
      rows: rows of the source.
      series: how many series it holds.
      added_rows: rows that the time grid skipped and that were added.
      missing: cells without a value, those of added rows included.
      filled: cells that were interpolated.
      cut_rows: rows that no window may hold, since a value is missing in them.
      touched: windows that hold an interpolated cell, over all parts.
      constant: channels that are constant in train, left out and put back.
      left_out: channels that the catalogue leaves out.
      rejected: malformed rows of the source that were left out: number and reason.
      unread: validation windows whose texts have none of the words that training has.
    """

    rows: int
    series: int
    added_rows: int
    missing: int
    filled: int
    cut_rows: int
    touched: int
    constant: tuple[str, ...]
    left_out: tuple[str, ...]
    rejected: tuple[tuple[int, str], ...] = ()
    unread: int = 0

    @property
    def malformed(self) -> str:
        """Every malformed row by number, the first few with what is wrong with them."""
        told = [f"{row} ({why})" for row, why in self.rejected[:_REASONS]]
        told += [str(row) for row, _ in self.rejected[_REASONS:]]
        return f"{len(told)} malformed rows left out: {', '.join(told)}"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Windows in three parts, the way back, and what tells this data from any other.

    Attributes:
      train: what models and scalers learn from.
      validation: what choices are made on. Under ``protocol='paper'`` the same as ``held_out``.
      held_out: what final scores are taken on.
      recipe: turns generated windows into the user's kind of table.
      fingerprint: SHA-256 of the values and the options.
      report: what was done to the data.
    """

    train: WindowSet
    validation: WindowSet
    held_out: WindowSet
    recipe: Recipe
    fingerprint: str
    report: Report


def load(
    source: str,
    *,
    length: int,
    path: str | os.PathLike[str] | None = None,
    stride: int = 1,
    protocol: str = "honest",
    split: str = "auto",
    fractions: Sequence[float] = FRACTIONS,
    scaling: str = "min_max",
    time: str | Sequence[str] | None = None,
    time_format: str | None = None,
    id: str | None = None,
    channels: Sequence[str] | None = None,
    static: Sequence[str] = (),
    text: str | None = None,
    missing: float | None = None,
    max_gap: int = 3,
    seed: int = 0,
) -> Dataset:
    """Loads a source, splits it in time, fits scalers on train only, and cuts it into windows.

    Args:
      source: a name of the catalogue, ``sines``, or for the file at ``path`` ``tsfragment`` (one
        of TSFragment-600K) or ``table``.
      length: steps a window.
      path: the user's file; for the catalogue, a file or a folder that holds it.
      stride: rows from one window to the next.
      protocol: ``honest`` (train | gap of one window | validation | held-out), or ``paper``:
        min–max over all windows, the last tenth of overlapping stride-1 windows as held-out.
      split: ``time`` cuts every series in time, ``series`` gives whole series to the parts;
        ``auto`` is ``series`` for ready-made windows and ``time`` otherwise.
      fractions: of train, validation and held-out; they sum to 1.
      scaling: ``min_max``, ``standard``, ``robust``, ``quantile`` or ``none``.
      time: the time column of a table, or its date and time columns.
      time_format: how text stamps are written, if that cannot be found.
      id: the column that tells series apart.
      channels: the columns to model; by default all that have no other role.
      static: columns that hold still within a window and become conditions.
      text: a column of captions.
      missing: a number that means "no value".
      max_gap: the longest run of missing rows that is interpolated; longer ones cut the series.
      seed: of generated sources and of a split over series.

    Returns:
      The data set.

    Raises:
      PacodiError: for anything that is wrong with the file or the arguments.
    """
    options = {k: v for k, v in locals().items() if k != "path"}
    _check(length, stride, protocol, split, max_gap)
    splits.check_fractions(fractions)
    paper = protocol == "paper"
    found = read(
        source,
        path,
        length=length,
        seed=seed,
        time=time,
        time_format=time_format,
        id=id or None,
        channels=channels,
        static=static,
        text=text or None,
        missing=missing,
        every_channel=paper,
    )
    digest = fingerprint(found.table, options)
    split = ("series" if found.table.ready else "time") if split == "auto" else split
    scaling, stride, gap = ("min_max", 1, None) if paper else (scaling, stride, max_gap)
    table = gaps.add_rows(found.table, gap)
    parts = splits.parts(table.bounds, "paper" if paper else split, fractions, length, seed)
    train = parts == splits.TRAIN
    if not train.any():
        raise splits.no_window("train", length, fractions[0], len(parts))
    scaler = scalers.fit(table.values, train, scaling, table.channels)
    cut = gaps.cuts(table, length)
    filled = gaps.fill(table.values, splits.edges(cut, parts), gap)
    starts = splits.part_starts(parts, cut, filled.broken, length, stride, fractions, paper)
    known = tuple(attributes.fit(name, table.static.loc[train, name]) for name in static)
    text = text or found.text
    recipe = _recipe(found, source, protocol, split, scaling, length, scaler, known, text)
    report = _report(found, table, filled, starts, length, recipe)
    series = scaler.scale(table.values)
    _check_scaled(series, recipe.live_channels)
    table = replace(table, values=series)
    sets = [WindowSet(series, begin, length, recipe, table) for begin in starts]
    return Dataset(sets[0], sets[1], sets[2], recipe, digest, report)


def _check(length: int, stride: int, protocol: str, split: str, max_gap: int) -> None:
    for name, value, lowest in (
        ("length", length, 2),
        ("stride", stride, 1),
        ("max_gap", max_gap, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
            raise PacodiError(f"{name}={value!r} must be a whole number of at least {lowest}")
        if value >= 2**31:
            raise PacodiError(f"{name}={value} is beyond any series; it must be below 2**31")
    choose("protocol", protocol, dict.fromkeys(PROTOCOLS))
    choose("split", split, dict.fromkeys(SPLITS))


def _check_scaled(series: np.ndarray, names: tuple[str, ...]) -> None:
    """Refuses values so far from train that float32 cannot hold them once they are scaled."""
    if surely_finite(series):
        return
    far = np.argwhere(~np.isfinite(series))
    if len(far):
        raise PacodiError(
            f"column {names[far[0][1]]!r} holds a value that is too far from those of train to be "
            "scaled; correct it, or mark it as missing"
        )


def _recipe(
    found: Source,
    source: str,
    protocol: str,
    split: str,
    scaling: str,
    length: int,
    scaler: scalers.Scaler,
    known: tuple[attributes.Attribute, ...],
    text: str | None,
) -> Recipe:
    table = found.table
    taken = {
        *table.channels,
        *(a.name for a in known),
        *(table.clock.columns if table.clock else ()),
    }
    if WINDOW in taken:
        raise PacodiError(f"the column name {WINDOW!r} is reserved for what is written: rename it")
    return Recipe(
        source=source,
        home=found.home,
        licence=found.licence,
        protocol=protocol,
        split="windows" if protocol == "paper" else split,
        scaling=scaling,
        kind=found.kind,
        length=length,
        channels=table.channels,
        dtypes=table.dtypes,
        scaler=scaler,
        clock=table.clock,
        id=table.id,
        id_dtype="" if table.ids is None else str(pd.Series(table.ids).dtype),
        attributes=known,
        text=text or None,
        columns=table.columns,
    )


def _report(
    found: Source,
    table: Table,
    filled: gaps.Filled,
    starts: list[np.ndarray],
    length: int,
    recipe: Recipe,
) -> Report:
    touched = 0
    if filled.filled:
        before = np.concatenate([[0], np.cumsum(filled.touched)])
        every = np.unique(np.concatenate(starts))
        touched = int((before[every + length] > before[every]).sum())
    rows = len(found.table.values)
    return Report(
        rows=rows,
        series=len(table.bounds) - 1,
        added_rows=len(table.values) - rows,
        missing=filled.missing,
        filled=filled.filled,
        cut_rows=int(filled.broken.sum()),
        touched=touched,
        constant=tuple(c for c in recipe.channels if c not in recipe.live_channels),
        left_out=found.left_out,
        rejected=found.rejected,
    )
