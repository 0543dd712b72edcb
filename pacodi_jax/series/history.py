"""What a user knows of one or many series, on the model's grid and in its scale."""

import itertools
import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import catalogue, files, frames, gaps, table
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.table import Table
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.trained import Trained

#: A warning names scaled values beyond this: so far from train, draws mean little.
FAR = 12.0


class Original(NamedTuple):
    """A table as it was given.

    Attributes:
      frame: in pandas, series after series; None for an array.
      order: the row of the user's table that each row of ``frame`` is.
      backend: whose kind of table it was.
    """

    frame: pd.DataFrame | None
    order: np.ndarray
    backend: str


@dataclass(frozen=True, eq=False)
class History:
    """Series of a table of the user's columns, with a row for every step of their grid.

    Attributes:
      given: the table as it was given.
      table: the numbers in the user's units, NaN where a value is missing.
      source: ``(T,)`` the row of ``given.frame`` that a row comes from; −1 for one that was added.
      scaled: ``(T, C_live)`` float32 in the model's scale, 0 where missing.
      mask: ``(T, C_live)`` bool, which cells were observed.
    """

    given: Original
    table: Table
    source: np.ndarray
    scaled: np.ndarray
    mask: np.ndarray

    @property
    def series(self) -> list[slice]:
        """The rows of each series."""
        bounds = self.table.bounds.tolist()
        return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]

    def labels(self, recipe: Recipe, rows: slice) -> np.ndarray | None:
        """The static columns of some rows as the model reads them, ``(n, E)``; None without any."""
        names = [attribute.name for attribute in recipe.attributes]
        return recipe.encode_static(self.table.static.iloc[rows][names]) if names else None

    def stamps(self, series: int, first: int, count: int) -> pd.Index | None:
        """``count`` stamps of a series' grid, from a step since its first row on."""
        clock, starts = self.table.clock, self.table.starts
        if clock is None or starts is None:
            return None
        steps = np.arange(first, first + count)
        found = clock.stamps([starts[series]], np.zeros(count, int), np.maximum(steps, 0))
        if first >= 0 or clock.numeric:
            return found
        return found + np.minimum(steps, 0) * clock.step  # before its first row, about


def read(trained: Trained, data: Any) -> History:
    """Reads a table of the user's columns: a frame, an array, a file, or a catalogue name.

    Raises:
      PacodiError: for other columns, another frequency, or stamps that repeat or run backwards.
    """
    recipe = trained.recipe
    found = _take(trained, data)
    if isinstance(found, np.ndarray):
        given = Original(None, np.arange(0), "numpy")
        numbers = table.from_array(np.array(found, np.float64), "the array", may_be_empty=True)
    else:
        given, numbers = _from_frame(recipe, *found)
    if numbers.values.shape[1] != len(recipe.channels):
        raise PacodiError(
            f"the array has {numbers.values.shape[1]} channels; the model was trained on "
            f"{len(recipe.channels)}: {', '.join(recipe.channels)}."
        )
    whole = gaps.add_rows(numbers, None)
    mask = np.isfinite(whole.values[:, recipe.scaler.live])
    scaled = recipe.scaler.scale(np.array(whole.values, np.float64))
    _tell_of_far(scaled, mask, recipe)
    return History(given, whole, _source(numbers, whole), np.array(scaled), mask)


def _take(trained: Trained, data: Any) -> np.ndarray | tuple[pd.DataFrame, str, float | None, str]:
    """An array, or a pandas frame with its backend, its missing value and its name."""
    missing = trained.config.data.missing
    if isinstance(data, str | os.PathLike):
        name = os.fspath(data)
        if name in catalogue.CATALOGUE:
            entry = catalogue.CATALOGUE[name]
            place = catalogue.locate(name, trained.config.data.path)
            if place is None:
                raise PacodiError(
                    f"{entry.file} of {name!r} is not on this machine; set {catalogue.VARIABLE} to "
                    "the folder that holds it, or give a table."
                )
            return catalogue.read(place, entry), "pandas", entry.missing, entry.file
        path = files.check(name)
        if files.kind(path) in files.ARRAYS:
            return _cleared(files.read_array(path), missing)
        return files.read_table(path), "pandas", missing, str(path)
    if frames.is_array(data):
        return _cleared(np.asarray(data), missing)
    taken = frames.take(data, DataSettings(source="table", time=_time(trained.recipe)))
    return taken.frame, taken.backend, missing, frames.WHERE


def _cleared(array: np.ndarray, missing: float | None) -> np.ndarray:
    return array if missing is None else np.where(array == missing, np.nan, array)


def _time(recipe: Recipe) -> tuple[str, ...]:
    return () if recipe.clock is None else recipe.clock.columns


def _from_frame(
    recipe: Recipe, frame: pd.DataFrame, backend: str, missing: float | None, where: str
) -> tuple[Original, Table]:
    clock = recipe.clock
    roles = DataSettings(
        source="table",
        time=_time(recipe),
        time_format="" if clock is None else clock.format,
        id=recipe.id or "",
        channels=recipe.channels,
        static=tuple(a.name for a in recipe.attributes),
        missing=missing,
    )
    table.check_columns(frame, [*roles.time, *([roles.id] if roles.id else [])], where)
    order = table.group(frame, roles.id, where)[0]
    frame = frame.iloc[order].reset_index(drop=True)
    numbers = table.from_frame(
        frame,
        roles,
        where=where,
        frequency="" if clock is None else clock.frequency,
        may_be_empty=True,
    )
    return Original(frame, order, backend), numbers


def _source(given: Table, whole: Table) -> np.ndarray:
    """The row of the given table that each row of the whole one comes from, −1 for added rows."""
    source = np.full(len(whole.values), -1)
    if given.positions is None:
        return np.arange(len(whole.values))
    which = np.repeat(np.arange(len(given.bounds) - 1), np.diff(given.bounds))
    source[whole.bounds[which] + given.positions] = np.arange(len(given.values))
    return source


def _tell_of_far(scaled: np.ndarray, mask: np.ndarray, recipe: Recipe) -> None:
    """Warns of observed values far outside train."""
    if not np.isfinite(scaled[mask]).all():
        raise PacodiError("an observed value is too far from those of train to be scaled.")
    far = mask & (np.abs(scaled) > FAR) & (recipe.scaling != "none")
    if far.any():
        row, column = map(int, np.argwhere(far)[0])
        count = int(far[:, column].sum())
        warnings.warn(
            f"column {recipe.live_channels[column]!r} holds {count} value{'s' * (count > 1)} far "
            f"outside those of train (the first in row {row + 1}); what is drawn beside means "
            "little",
            UserWarning,
            stacklevel=4,
        )
