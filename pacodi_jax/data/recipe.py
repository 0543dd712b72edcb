"""The way back: from generated windows to a table in the user's own units, without the data."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pacodi_jax.data import (
    attributes,
    files,
    frames,
    law,
    recipe_check,
    stored,
    tabulate,
    writing,
)
from pacodi_jax.data.attributes import Attribute
from pacodi_jax.data.calendar import Calendar
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.frames import ColumnType
from pacodi_jax.data.law import Law
from pacodi_jax.data.scaling import Scaler
from pacodi_jax.data.tabulate import WINDOW
from pacodi_jax.errors import PacodiError

__all__ = ["WINDOW", "Recipe"]


@dataclasses.dataclass(frozen=True, eq=False)
class Recipe:
    """Everything that turns scaled windows back into the kind of table they came from.

    Attributes:
      source: the data set's name, ``table`` for the user's own.
      home: where it came from: a URL, or the file's name.
      licence: of the data, empty if unknown.
      protocol: ``honest`` or ``paper``; the second leaks and says so wherever it is shown.
      split: ``time``, ``series`` or ``blocks``.
      scaling: the name of the scaling.
      kind: the source's file ending, and so the ending of what is written.
      length: steps per window.
      channels: the user's channels, in order.
      dtypes: their types.
      scaler: offset, factor and perhaps curve of each; factor 0 marks one constant in train.
      clock: the time grid and how stamps are written, or ``None``.
      id: the id column's name, or ``None``.
      id_dtype: its type.
      attributes: the static columns.
      text: the caption column's name, or ``None``.
      words: of the texts that a model was trained on, if it reads by them (encoder ``hashed``).
      columns: every column of the user's table, in order.
      backend: whose kind of table :meth:`to_frame` makes: ``pandas``, ``polars``, ``numpy``, ….
      types: the user's own type of each column; empty in recipes of version 0.1.
      law: which static values the training windows have, and how often; ``None`` without static
        columns and in recipes of version 0.1.
      calendar: which phases of a window's first stamp are conditions; ``None`` for none.
    """

    source: str
    home: str
    licence: str
    protocol: str
    split: str
    scaling: str
    kind: str
    length: int
    channels: tuple[str, ...]
    dtypes: tuple[str, ...]
    scaler: Scaler
    clock: Clock | None
    id: str | None
    id_dtype: str
    attributes: tuple[Attribute, ...]
    text: str | None
    words: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    backend: str = "pandas"
    types: Mapping[str, ColumnType] = dataclasses.field(default_factory=dict)
    law: Law | None = None
    calendar: Calendar | None = None

    @property
    def live_channels(self) -> tuple[str, ...]:
        """The channels that the model sees: all but the constant ones."""
        return tuple(c for c, live in zip(self.channels, self.scaler.live, strict=True) if live)

    @property
    def label(self) -> str:
        """One line that says what data this is and, if so, that its protocol leaks."""
        warning = " (protocol=paper: scaled on all windows, parts overlap, scored on train)"
        return self.source + (warning if self.protocol == "paper" else "")

    def to_json(self) -> str:
        """Returns the recipe as JSON text; numbers survive exactly."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return json.dumps(stored.plain(fields), indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """Reads what :meth:`to_json` wrote.

        Raises:
          PacodiError: if the text is not a recipe that this package could have written.
        """
        try:
            found = cls(**stored.typed(json.loads(text)))
            recipe_check.check(found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PacodiError(f"this is not a data recipe: {error}") from error
        return found

    def deliver(self, scaled: np.ndarray) -> np.ndarray:
        """Takes scaled windows to the user's units, and to what the columns' types can hold.

        Whole numbers are rounded and clipped, booleans are 0 or 1, constant channels are put back.

        Args:
          scaled: ``(N, L, C_live)``, as the model has them.

        Returns:
          ``(N, L, C)`` float64: what arrays, tables and scores hold alike.
        """
        if np.ndim(scaled) != 3:
            raise PacodiError(f"windows have shape {np.shape(scaled)}; expected (N, L, C)")
        values = self.scaler.unscale(scaled)
        for i, dtype in enumerate(self.dtypes):
            values[..., i] = writing.as_dtype(values[..., i], dtype)
        return values

    def condition(self, values: Mapping[str, Any]) -> np.ndarray:
        """Encodes one value for each static column as a condition ``(E,)``.

        Raises:
          PacodiError: for anything but a mapping of these columns to values seen in train.
        """
        known = attributes.check_values(self.attributes, values)
        return self.encode_static(pd.DataFrame([known]))[0]

    def encode_static(self, rows: pd.DataFrame) -> np.ndarray:
        """Encodes one row of static values per window as conditions ``(N, E)`` float32.

        Raises:
          PacodiError: for a column that is missing, or a value that is unknown or not finite.
        """
        attributes.check_names([str(c) for c in rows.columns], [a.name for a in self.attributes])
        for attribute in self.attributes:
            for value in rows[attribute.name].unique().tolist():
                attribute.check(value)
        return attributes.encode(self.attributes, rows)

    def parse_static(self, text: str) -> dict[str, Any]:
        """Reads ``column=value,column=value``, for some or all static columns.

        Raises:
          PacodiError: for another form, an unknown column, or a value that it cannot take.
        """
        given = attributes.split_pairs(text)
        attributes.check_known(given, [a.name for a in self.attributes])
        values = {a.name: a.parse(given[a.name]) for a in self.attributes if a.name in given}
        return attributes.check_values(self.attributes, values)

    def draw_static(
        self, seed: int, count: int, given: Mapping[str, Any] | None = None
    ) -> pd.DataFrame:
        """Draws static values for windows from the law of the training windows.

        Columns that are not given are completed from the training windows with the given labels.
        Given quantities choose among the nearest tenth of these. If no training window has that
        combination of labels, the other columns are drawn from all training windows.

        Args:
          seed: of the draw.
          count: how many windows.
          given: values of some or all static columns, the same for every window.

        Returns:
          One row per window, in the columns' own types; row i depends on (seed, i) alone.

        Raises:
          PacodiError: for values that cannot be asked for, or if the recipe does not hold the law.
        """
        known = attributes.check_values(self.attributes, given) if given else {}
        return law.complete(self.law, self.attributes, known, seed, count)

    def to_table(
        self,
        values: np.ndarray,
        *,
        stamps: pd.Index | None = None,
        ids: Sequence[Any] | None = None,
        static: pd.DataFrame | None = None,
        first: int = 0,
    ) -> pd.DataFrame:
        """Writes windows as a pandas table: ``window``, then the user's columns in their order.

        Args:
          values: ``(N, L, C)`` in the user's units, as :meth:`deliver` gives them.
          stamps: ``N·L`` time stamps. By default window ``i`` lies on the source's own grid, in the
            ``i``-th of the consecutive stretches of ``L`` steps that its first series spans,
            beginning again when these are used up: the stamps keep the source's frequency, zone
            and range, and do not say when something happened.
          ids: ``N`` identities. By default ``0, 1, …``, as ``synthetic_0, …`` if ids are text.
          static: a row of static values, and a caption if there are any, for each window; these
            columns are left out without it.
          first: the number of the first window, of a part of a larger table.

        Returns:
          A table of ``N·L`` rows with the source's names, types and units.
        """
        return tabulate.table(self, values, stamps, ids, static, first)

    def to_frame(
        self,
        values: np.ndarray,
        *,
        stamps: pd.Index | None = None,
        ids: Sequence[Any] | None = None,
        static: pd.DataFrame | None = None,
    ) -> Any:
        """Writes windows as the user's kind of table; the arguments are those of :meth:`to_table`.

        Returns:
          A frame of the library whose frame was loaded, with its column types; for an array, the
          array ``(N, L, C)`` in its type.
        """
        if self.backend == "numpy":
            return self._as_array(values)
        table = tabulate.table(self, values, stamps, ids, static)
        return frames.to_native(table, self.backend, tabulate.own_types(self, table))

    def _as_array(self, values: np.ndarray) -> np.ndarray:
        tabulate.check(self, values)
        dtype = np.result_type(*(writing.plain(d) for d in self.dtypes))
        return writing.as_dtype(np.asarray(values, np.float64), str(dtype))

    def write(
        self,
        values: np.ndarray,
        path: str | os.PathLike[str],
        *,
        stamps: pd.Index | None = None,
        static: pd.DataFrame | None = None,
        quote: bool = False,
        first: int = 0,
    ) -> Path:
        """Writes windows in the user's units as the same kind of file as the source.

        Args:
          values: ``(N, L, C)`` in the user's units, as :meth:`deliver` gives them.
          path: the file; without a known ending it gets the source's.
          stamps: ``N·L`` time stamps, as for :meth:`to_table`.
          static: a row of static values for each window of a table.
          quote: write what a spreadsheet takes for formulas as texts.
          first: the number of the first window, of a part of a larger table.

        Returns:
          The path written: a table, or for array sources ``(N, L, C)`` in ``.npy`` or ``.npz``.
        """
        target = Path(path)
        if not target.name.lower().endswith((*files.ARRAYS, *files.TABLES)):
            target = target.with_name(target.name + self.kind)
        if files.kind(target) in files.ARRAYS:
            return writing.write_array(self._as_array(values), target)
        table = self.to_table(values, stamps=stamps, static=static, first=first)
        return writing.write_table(table, target, quote=quote)
