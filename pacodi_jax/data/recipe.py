"""The way back: from generated windows to a table in the user's own units, without the data."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pacodi_jax.data import attributes, files, writing
from pacodi_jax.data.attributes import Attribute
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.scaling import Scaler
from pacodi_jax.errors import PacodiError

#: The column that numbers the windows of a written table.
WINDOW = "window"


@dataclasses.dataclass(frozen=True, eq=False)
class Recipe:
    """Everything that turns scaled windows back into the kind of table they came from.

    Attributes:
      source: the data set's name, ``table`` for the user's own.
      home: where it came from: a URL, or the file's name.
      licence: of the data, empty if unknown.
      protocol: ``honest`` or ``paper``; the second leaks and says so wherever it is shown.
      split: ``time`` or ``series``.
      scaling: the name of the scaling.
      kind: the source's file ending, and so the ending of what is written.
      length: steps a window.
      channels: the user's channels, in order.
      dtypes: their types.
      scaler: offset, factor and perhaps curve of each; factor 0 marks one constant in train.
      clock: how the time is told, or ``None``.
      id: the id column's name, or ``None``.
      id_dtype: its type.
      attributes: the static columns.
      text: the caption column's name, or ``None``.
      words: of the texts that a model was trained on, if it reads by them (encoder ``hashed``).
      columns: every column of the user's table, in order.
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
        fields["scaler"] = {k: v.tolist() for k, v in self.scaler._asdict().items()}
        fields["clock"] = self.clock._asdict() if self.clock else None
        fields["attributes"] = [a._asdict() for a in self.attributes]
        return json.dumps(fields, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """Reads what :meth:`to_json` wrote.

        Raises:
          PacodiError: if the text is not a recipe.
        """
        try:
            fields = json.loads(text)
            scaler = {k: np.array(v, np.float64) for k, v in fields.pop("scaler").items()}
            clock = fields.pop("clock")
            if clock:
                clock = Clock(**{**clock, "columns": tuple(clock["columns"])})
            known = []
            for a in fields.pop("attributes"):
                levels = None if a["levels"] is None else tuple(a["levels"])
                known.append(Attribute(**{**a, "levels": levels}))
            fields |= {k: tuple(fields[k]) for k in ("channels", "dtypes")}
            for later in ("words", "columns"):  # older recipes have none
                fields[later] = tuple(fields.get(later, ()))
            return cls(**fields, scaler=Scaler(**scaler), clock=clock, attributes=tuple(known))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PacodiError(f"this is not a data recipe: {error}") from error

    def unscale(self, windows: np.ndarray) -> np.ndarray:
        """Takes ``(N, L, C_live)`` back to the user's units: float64 ``(N, L, C)``."""
        if np.ndim(windows) != 3:
            raise PacodiError(f"windows have shape {np.shape(windows)}; expected (N, L, C)")
        return self.scaler.unscale(windows)

    def condition(self, values: Mapping[str, Any]) -> np.ndarray:
        """Encodes one value for each static column as a condition ``(E,)``.

        Raises:
          PacodiError: for anything but a mapping of these columns to values seen in train.
        """
        names = [a.name for a in self.attributes]
        if not isinstance(values, Mapping):
            raise PacodiError(
                f"the condition is {values!r}; give a mapping of static column to value, "
                f"with the columns {sorted(names)}"
            )
        attributes.check_names(values, names)
        for attribute in self.attributes:
            attribute.check(values[attribute.name])
        return attributes.encode(self.attributes, pd.DataFrame([dict(values)]))[0]

    def parse_static(self, text: str) -> dict[str, Any]:
        """Reads ``column=value,column=value`` as values that :meth:`condition` takes.

        Raises:
          PacodiError: for another form, and whatever :meth:`condition` refuses.
        """
        given = attributes.split_pairs(text)
        attributes.check_names(given, [a.name for a in self.attributes])
        values = {a.name: a.parse(given[a.name]) for a in self.attributes}
        for attribute in self.attributes:
            attribute.check(values[attribute.name])
        return values

    def static_rows(self, values: Mapping[str, Any], count: int) -> pd.DataFrame:
        """One value for each static column as rows for ``count`` windows, in their types."""
        return pd.DataFrame({a.name: a.column(values[a.name], count) for a in self.attributes})

    def caption_rows(self, text: str, count: int) -> pd.DataFrame | None:
        """The text as rows for ``count`` windows, if the user's table has a column of texts."""
        return None if self.text is None else pd.DataFrame({self.text: [text] * count})

    def to_table(
        self,
        windows: np.ndarray,
        *,
        stamps: pd.Index | None = None,
        ids: Sequence[Any] | None = None,
        static: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Writes windows as a table: ``window``, then the user's columns in the user's order.

        Args:
          windows: scaled ``(N, L, C_live)``.
          stamps: ``N·L`` time stamps. By default window ``i`` lies on the source's own grid, in the
            ``i``-th of the consecutive stretches of ``L`` steps that its first series spans,
            beginning again when these are used up: the stamps keep the source's frequency, zone
            and range, and do not say when something happened.
          ids: ``N`` identities. By default ``0, 1, …``, as ``synthetic_0, …`` if ids are text.
          static: a row of static values, and a caption if there are any, for each window; these
            columns are left out without it.

        Returns:
          A table of ``N·L`` rows with the source's names, types and units.
        """
        values = self.unscale(windows)
        count, length = values.shape[:2]
        columns: dict[str, Any] = {WINDOW: np.repeat(np.arange(count), length)}
        if self.clock:
            columns |= self.clock.write(
                self._default_stamps(count, length) if stamps is None else stamps
            )
        if self.id:
            columns[self.id] = self._ids(ids, count, length)
        if static is not None:
            for name in [a.name for a in self.attributes] + [self.text] * (self.text in static):
                columns[str(name)] = static[name].repeat(length)
        flat = values.reshape(count * length, -1)
        for i, (name, dtype) in enumerate(zip(self.channels, self.dtypes, strict=True)):
            columns[name] = writing.as_dtype(flat[:, i], dtype)
        ordered = [WINDOW, *(c for c in self.columns if c in columns)]
        ordered += [c for c in columns if c not in ordered]
        return pd.DataFrame({k: pd.Series(columns[k]).reset_index(drop=True) for k in ordered})

    def _default_stamps(self, count: int, length: int) -> pd.Index:
        assert self.clock is not None
        slots = max(self.clock.rows // length, 1)
        first = np.arange(count) % slots * length
        steps = (first[:, None] + np.arange(length)).ravel()
        return self.clock.stamps([self.clock.start], np.zeros(len(steps), int), steps)

    def _ids(self, ids: Sequence[Any] | None, count: int, length: int) -> Any:
        if ids is None:
            number = any(word in self.id_dtype.lower() for word in ("int", "float"))
            ids = [i if number else f"synthetic_{i}" for i in range(count)]
        return pd.Series(ids).repeat(length)

    def write(
        self,
        windows: np.ndarray,
        path: str | os.PathLike[str],
        *,
        static: pd.DataFrame | None = None,
    ) -> Path:
        """Writes windows in the user's units as the same kind of file as the source.

        Args:
          windows: scaled ``(N, L, C_live)``.
          path: the file; without a known ending it gets the source's.
          static: a row of static values for each window of a table.

        Returns:
          The path written: a table, or for array sources ``(N, L, C)`` in ``.npy`` or ``.npz``.
        """
        target = Path(path)
        if not target.name.lower().endswith((*files.ARRAYS, *files.TABLES)):
            target = target.with_name(target.name + self.kind)
        if files.kind(target) in files.ARRAYS:
            dtype = np.result_type(*(writing.plain(d) for d in self.dtypes))
            return writing.write_array(writing.as_dtype(self.unscale(windows), str(dtype)), target)
        return writing.write_table(self.to_table(windows, static=static), target)
