"""Static columns as conditions: labels become one-hot, quantities are standardised."""

import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.errors import PacodiError, nearest

#: A whole-number column with more distinct values than this is a quantity, not a label.
MAX_LEVELS = 32

_LISTED = 12
_LARGEST = float(np.finfo(np.float32).max)
_QUOTED = r'"(?:[^"]|"")*+"\s*+'
#: ``column=value`` and what follows it; quotes hold what has a comma or an equals sign.
_PAIR = re.compile(rf'\s*+({_QUOTED}|[^",=][^,=]*+)=\s*+({_QUOTED}|[^",][^,]*+)(,|\Z)')


class Attribute(NamedTuple):
    """One static column and how it becomes numbers.

    Attributes:
      name: the column.
      dtype: its type as pandas spells it.
      levels: the labels seen in train, or ``None`` for a quantity.
      mean: of a quantity, in train.
      scale: its standard deviation in train, 1 if that is 0.
    """

    name: str
    dtype: str
    levels: tuple[Any, ...] | None
    mean: float
    scale: float

    @property
    def width(self) -> int:
        """How many numbers it takes in a condition."""
        return 1 if self.levels is None else len(self.levels)

    def encode(self, values: pd.Series) -> np.ndarray:
        """Encodes ``(N,)`` values as ``(N, width)`` float32; a label unknown in train is all 0."""
        if self.levels is None:
            numbers = (values.to_numpy(np.float64) - self.mean) / self.scale
            return numbers.astype(np.float32)[:, None]
        codes = pd.Index(self.levels).get_indexer(values)
        return (codes[:, None] == np.arange(self.width)).astype(np.float32)

    def parse(self, text: str) -> Any:
        """Reads a value in the column's own type; what cannot be read so stays the text it is."""
        number = _number(text)
        if self.levels is None:
            if number is None:
                return text
            whole = pd.api.types.is_integer_dtype(self.dtype) and abs(number) < 2**63
            return number if whole else float(number)
        if isinstance(self.levels[0], str):
            return text
        for level in self.levels:
            if level == number or str(level).casefold() == text.casefold():
                return level
        return text if number is None else number

    def check(self, value: Any) -> None:
        """Refuses a value that this attribute cannot take."""
        if self.levels is None:
            number = isinstance(value, int | float) and abs(value) <= sys.float_info.max
            if not number:
                raise PacodiError(f"{self.name}={value!r} is not a finite number")
            if abs(value - self.mean) / self.scale > _LARGEST:
                raise PacodiError(f"{self.name}={value!r} is too far from the values of train")
        elif value not in self.levels:
            raise PacodiError(
                f"{self.name}={value!r} was not in train; known: {_listed(self.levels)}."
                f"{self._nearest(value)}"
            )

    def _nearest(self, value: Any) -> str:
        assert self.levels is not None
        if isinstance(value, int | float) and not isinstance(self.levels[0], str):
            return f" The nearest is {min(self.levels, key=lambda level: abs(level - value))!r}."
        return nearest(str(value), map(str, self.levels))

    def column(self, values: Sequence[Any]) -> pd.Series:
        """Values of windows, in the column's type where that can hold them."""
        whole = self.levels is None and pd.api.types.is_integer_dtype(self.dtype)
        return pd.Series(values, dtype=None if whole else pd.api.types.pandas_dtype(self.dtype))


def _number(text: str) -> int | float | None:
    """The finite number that a text is, or ``None``."""
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    try:
        return int(text)  # exactly, however large
    except ValueError:
        return int(number) if number.is_integer() else number


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:_LISTED])) + (", …" if len(values) > _LISTED else "")


def split_pairs(text: str) -> dict[str, str]:
    """Splits ``column=value,column=value``; double quotes hold commas and equals signs.

    Raises:
      PacodiError: for a text of another form, or a column that is named twice.
    """
    found: dict[str, str] = {}
    place, more = 0, True
    while more:
        pair = _PAIR.match(text, place)
        name, value = map(_unquoted, pair.groups()[:2]) if pair else ("", "")
        if not pair or not name or not pair[2].strip():
            rest = f"from {text[place:][:40]!r} on" if text[place:].strip() else "at its end"
            raise PacodiError(
                f"--static={text[:60]!r} cannot be read {rest}; write column=value,column=value, "
                'with "double quotes" around what holds a comma or an equals sign.'
            )
        if name in found:
            raise PacodiError(f"--static names the column {name!r} twice; one value is drawn.")
        found[name] = value
        place, more = pair.end(), bool(pair[3])
    return found


def _unquoted(part: str) -> str:
    part = part.strip()
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def check_known(given: Collection[str], names: Sequence[str]) -> None:
    """Refuses the name of a column that is not static."""
    if not names:
        raise PacodiError(
            "this model has no static columns; train one with data.static (--static=COLUMN), or "
            "sample without a condition."
        )
    for name in given:
        if name not in names:
            raise PacodiError(
                f"{name!r} is no static column of this model; it has {_listed(names)}."
                f"{nearest(name, names)}"
            )


def check_names(given: Collection[str], names: Sequence[str]) -> None:
    """Refuses anything but one value for each static column."""
    check_known(given, names)
    missing = [name for name in names if name not in given]
    if missing:
        raise PacodiError(
            f"no value for the static column {_listed(missing)}; give one for each of "
            f"{_listed(names)}."
        )


def check_values(attributes: Sequence[Attribute], values: Mapping[str, Any]) -> dict[str, Any]:
    """Refuses anything but a mapping of static columns to values that they can take.

    Returns:
      The values as plain Python, some or all of the columns.
    """
    names = [a.name for a in attributes]
    if not isinstance(values, Mapping):
        raise PacodiError(
            f"the condition is {values!r}; give a mapping of static column to value, "
            f"with the columns {sorted(names)}"
        )
    check_known(values, names)
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
    for attribute in attributes:
        if attribute.name in plain:
            attribute.check(plain[attribute.name])
    return plain


def fit(name: str, column: pd.Series) -> Attribute:
    """Fits an attribute to the training rows of a static column."""
    dtype = str(column.dtype)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise PacodiError(f"static column {name!r} holds time stamps; make it a number or a label")
    numeric = pd.api.types.is_numeric_dtype(column.dtype)
    flag = pd.api.types.is_bool_dtype(column.dtype)
    whole = pd.api.types.is_integer_dtype(column.dtype)
    if numeric and not flag and not (whole and column.nunique() <= MAX_LEVELS):
        numbers = column.to_numpy(np.float64)
        if not np.isfinite(numbers).all():
            raise PacodiError(f"static column {name!r} holds an infinite number; correct it")
        return Attribute(name, dtype, None, float(numbers.mean()), float(numbers.std()) or 1.0)
    levels = sorted(column.unique().tolist())
    if len(levels) > 4096:
        raise PacodiError(
            f"static column {name!r} has {len(levels)} labels; is it a text or an id?"
        )
    return Attribute(name, dtype, tuple(levels), 0.0, 1.0)


def encode(attributes: Sequence[Attribute], rows: pd.DataFrame) -> np.ndarray:
    """Encodes rows of static columns as conditions ``(N, E)``."""
    return np.concatenate([a.encode(rows[a.name]) for a in attributes], axis=1)
