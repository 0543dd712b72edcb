"""One call from a source to scaled windows in three parts, and the recipe for the way back."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import attributes, bounds, calendar, gaps, law, mapped, scaling, splits
from pacodi_jax.data.blocks import by_blocks
from pacodi_jax.data.fingerprint import fingerprint
from pacodi_jax.data.numeric import surely_finite
from pacodi_jax.data.recipe import WINDOW, Recipe
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.sources import Source, read
from pacodi_jax.data.table import Table
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError

_REASONS = 5
#: The calendar is fitted to the first stamps of so many training windows, evenly spread.
_FIRSTS = 1 << 20


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
      given: channels whose bounds were given.
      outside: bounded channels, and how many values beyond their bounds each has outside train.
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
    given: tuple[str, ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    unread: int = 0

    @property
    def beyond(self) -> str:
        """How many values lie beyond the bounds of their channels."""
        told = ", ".join(f"{name} ({count:,} values)" for name, count in self.outside)
        return f"beyond their bounds outside train: {told}; data.bounds says which bounds hold"

    @property
    def malformed(self) -> str:
        """Every malformed row by number, the first few with what is wrong with them."""
        listed = [f"{row} ({why})" for row, why in self.rejected[:_REASONS]]
        listed += [str(row) for row, _ in self.rejected[_REASONS:]]
        return f"{len(listed)} malformed rows left out: {', '.join(listed)}"


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


def load(settings: DataSettings, *, seed: int = 0, table: Any = None) -> Dataset:
    """Loads a source, splits it in time, fits scalers on train only, and cuts it into windows.

    Args:
      settings: which source, which columns, how it is cut, split and scaled.
      seed: of generated sources and of a split over series.
      table: in place of a file: a pandas or Polars frame, any frame that narwhals understands, or
        an array ``(T,)``, ``(T, C)`` or ``(N, L, C)``. A ``DatetimeIndex`` is the time column
        unless ``settings.time`` names another.

    Returns:
      The data set.

    Raises:
      PacodiError: for anything that is wrong with the data, or settings that do not suit them.

    Example:
      >>> load(DataSettings(length=48, time="date"), table=frame).train.values().shape
    """
    found = read(settings, seed=seed, given=table)
    settings, raw = found.settings, found.table
    digest = fingerprint(raw, settings, seed)
    settings = _resolved(settings, raw.ready)
    paper, length = settings.protocol == "paper", settings.length
    gap = None if paper else settings.max_gap
    full = gaps.add_rows(raw, gap)
    split = "paper" if paper else settings.split
    if split == "blocks":
        parts = by_blocks(full.bounds, settings.fractions, length, settings.block, seed)
    else:
        parts = splits.parts(full.bounds, split, settings.fractions, length, seed)
    train = parts == splits.TRAIN
    if not train.any():
        raise splits.no_window("train", length, settings.fractions[0], len(parts))
    bound = bounds.chooser(settings.bounds, full.channels, full.dtypes)
    scaler = scaling.fit(full.values, train, settings.scaling, full.channels, bound)
    cut = gaps.cuts(full, length)
    filled = gaps.fill(full.values, splits.edges(cut, parts), gap)
    starts = splits.part_starts(
        parts, cut, filled.broken, length, settings.stride, settings.fractions, paper
    )
    known = tuple(attributes.fit(name, full.static.loc[train, name]) for name in settings.static)
    conditions = law.fit(known, full.static.iloc[starts[0]]) if known else None
    some = slice(None, None, max(len(starts[0]) // _FIRSTS, 1))
    firsts = None if settings.calendar == calendar.OFF else full.stamps(starts[0][some])
    dates = calendar.fit(settings.calendar, full.clock, firsts, length)
    recipe = replace(_recipe(found, settings, scaler, known, conditions), calendar=dates)
    report = _report(found, full, filled, starts, length, recipe)
    given = tuple(bounds.parse(settings.bounds))
    report = report._replace(given=given, outside=_outside(full, scaler))
    series = scaler.scale(full.values)
    _check_scaled(series, recipe.live_channels)
    full = replace(full, values=series)
    sets = [WindowSet(series, begin, length, recipe, full) for begin in starts]
    return Dataset(sets[0], sets[1], sets[2], recipe, digest, report)


def _resolved(settings: DataSettings, ready: bool) -> DataSettings:
    """The settings with ``auto`` decided, and what the paper's protocol fixes."""
    if settings.protocol == "paper":
        own = {"calendar": calendar.OFF} if settings.calendar == calendar.AUTO else {}
        return settings.replace(scaling="min_max", stride=1, bounds=bounds.NONE, **own)
    if settings.scaling == "none" and settings.bounds == bounds.AUTO:
        settings = settings.replace(bounds=bounds.NONE)
    if settings.split == "auto":
        return settings.replace(split="series" if ready else "time")
    return settings


def _outside(table: Table, scaler: scaling.Scaler) -> tuple[tuple[str, int], ...]:
    """The bounded channels that have values beyond their bounds, and how many."""
    names = np.array(table.channels)[scaler.live].tolist()
    columns = np.flatnonzero(scaler.live)
    linked = scaler.links()
    counts = dict.fromkeys((names[i] for i, _ in linked), 0)
    for part in mapped.blocks(table.values) if linked else ():
        for i, found in linked:
            column = table.values[part, columns[i]]
            counts[names[i]] += int((column < found.low).sum() + (column > found.high).sum())
    return tuple((name, count) for name, count in counts.items() if count)


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
    settings: DataSettings,
    scaler: scaling.Scaler,
    known: tuple[attributes.Attribute, ...],
    conditions: law.Law | None,
) -> Recipe:
    table = found.table
    if WINDOW in table.columns and table.id != WINDOW:
        raise PacodiError(f"the column name {WINDOW!r} is reserved for what is written: rename it")
    return Recipe(
        source=settings.source,
        home=found.home,
        licence=found.licence,
        protocol=settings.protocol,
        split="windows" if settings.protocol == "paper" else settings.split,
        scaling=settings.scaling,
        kind=found.kind,
        length=settings.length,
        channels=table.channels,
        dtypes=table.dtypes,
        scaler=scaler,
        clock=table.clock,
        id=table.id,
        id_dtype="" if table.ids is None else str(pd.Series(table.ids).dtype),
        attributes=known,
        text=settings.text or found.text or None,
        columns=table.columns,
        backend=found.backend,
        types={name: table.types[name] for name in table.columns if name in table.types},
        law=conditions,
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
