"""Train's law of static columns: which rows of values its windows have, and how often."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data.attributes import Attribute
from pacodi_jax.errors import PacodiError

#: Distinct rows that are kept; of more, as many windows spread evenly over the sorted rows.
MOST = 4096
#: The share of matching windows among which a given quantity chooses.
NEAREST = 0.1
_STREAM = 0x57A71C  # keeps these draws apart from others with the same seed


class Law(NamedTuple):
    """Distinct rows of static values over the training windows, with their counts.

    Attributes:
      rows: ``R`` rows, one value per static column.
      counts: ``R`` numbers of windows.
    """

    rows: tuple[tuple[Any, ...], ...]
    counts: tuple[int, ...]

    def draw(
        self, seed: int, count: int, attributes: Sequence[Attribute], given: Mapping[str, Any]
    ) -> np.ndarray:
        """Draws ``(count,)`` row numbers; the i-th depends on ``seed``, i and ``given`` alone."""
        weights = self._weights(attributes, given)
        edges = np.cumsum(weights) / weights.sum()
        key = np.array([seed % 2**64, _STREAM], np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key))
        chosen = np.searchsorted(edges, generator.random(count), side="right")
        return np.minimum(chosen, np.flatnonzero(weights)[-1])

    def _weights(self, attributes: Sequence[Attribute], given: Mapping[str, Any]) -> np.ndarray:
        """The rows' counts, 0 for those that do not fit what is given."""
        weights = np.array(self.counts, np.float64)
        fits = np.ones(len(weights), bool)
        distance = np.zeros(len(weights))
        for i, attribute in enumerate(attributes):
            if attribute.name not in given:
                continue
            wanted = given[attribute.name]
            if attribute.levels is not None:
                fits &= np.array([row[i] == wanted for row in self.rows])
            else:
                numbers = np.array([row[i] for row in self.rows], np.float64)
                distance += ((numbers - wanted) / attribute.scale) ** 2
        if weights[fits].any():  # else no window has these labels: draw from the whole law
            weights[~fits] = 0
        return _nearest(weights, distance) if distance.any() else weights


def _nearest(weights: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Keeps the nearest rows that together hold a tenth of the windows, and all just as near."""
    order = np.argsort(np.where(weights > 0, distance, np.inf), kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    farthest = distance[order[before < NEAREST * weights.sum()]].max()
    return np.where(distance <= farthest, weights, 0)


def complete(
    law: Law | None,
    attributes: Sequence[Attribute],
    given: Mapping[str, Any],
    seed: int,
    count: int,
) -> pd.DataFrame:
    """Static values for ``count`` windows: those given, the others drawn.

    Raises:
      PacodiError: if a column is not given and there is no law to draw it from.
    """
    chosen: list[tuple[Any, ...]] = []
    if any(a.name not in given for a in attributes):
        if law is None:
            names = ", ".join(repr(a.name) for a in attributes)
            raise PacodiError(
                "this model was trained by version 0.1, which kept no law of the static columns; "
                f"give a value for each of {names}, or train it again."
            )
        chosen = [law.rows[row] for row in law.draw(seed, count, attributes, given)]
    columns = {}
    for i, a in enumerate(attributes):
        drawn = [given[a.name]] * count if a.name in given else [row[i] for row in chosen]
        columns[a.name] = a.column(drawn)
    return pd.DataFrame(columns, index=pd.RangeIndex(count))


def fit(attributes: Sequence[Attribute], rows: pd.DataFrame) -> Law | None:
    """Counts the distinct rows of static values, one row per training window.

    Args:
      attributes: the static columns.
      rows: their values at each training window.

    Returns:
      The law, or ``None`` without static columns.
    """
    if not attributes:
        return None
    names = [a.name for a in attributes]
    counted = rows[names].astype(object).value_counts(sort=False)
    found = sorted(zip(counted.index.tolist(), counted.tolist(), strict=True), key=_by_row)
    if len(found) > MOST:
        found = _thinned(found)
    return Law(tuple(tuple(row) for row, _ in found), tuple(number for _, number in found))


def _by_row(item: tuple[tuple[Any, ...], int]) -> tuple[Any, ...]:
    return item[0]


def _thinned(found: list[tuple[tuple[Any, ...], int]]) -> list[tuple[tuple[Any, ...], int]]:
    """``MOST`` windows spread evenly over the sorted rows, counted per distinct row."""
    ends = np.cumsum([number for _, number in found])
    places = (np.arange(MOST) + 0.5) / MOST * ends[-1]
    rows, counts = np.unique(np.searchsorted(ends, places, side="right"), return_counts=True)
    return [(found[row][0], int(number)) for row, number in zip(rows, counts, strict=True)]
