"""Static columns as conditions: labels become one-hot, quantities are standardised."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.errors import PacodiError, nearest

#: A whole-number column with more distinct values than this is a quantity, not a label.
MAX_LEVELS = 32


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

    def check(self, value: Any) -> None:
        """Refuses a value that this attribute cannot take."""
        if self.levels is None:
            if not isinstance(value, int | float) or not np.isfinite(value):
                raise PacodiError(f"{self.name}={value!r} is not a finite number")
        elif value not in self.levels:
            listed = ", ".join(map(repr, self.levels))
            hint = nearest(str(value), map(str, self.levels))
            raise PacodiError(f"{self.name}={value!r} was not in train; known: {listed}.{hint}")


def fit(name: str, column: pd.Series) -> Attribute:
    """Fits an attribute to the training rows of a static column."""
    dtype = str(column.dtype)
    numeric = pd.api.types.is_numeric_dtype(column.dtype)
    flag = pd.api.types.is_bool_dtype(column.dtype)
    whole = pd.api.types.is_integer_dtype(column.dtype)
    if numeric and not flag and not (whole and column.nunique() <= MAX_LEVELS):
        numbers = column.to_numpy(np.float64)
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
