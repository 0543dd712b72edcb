"""What scaling and bounds know of a channel: its values in train, or a sample and exact moments."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from pacodi_jax.data import mapped
from pacodi_jax.data.bounds import Bounds, to_line

#: Of a table on disk so many rows of train, evenly spread, stand for all where order counts.
_SAMPLE = 1 << 18


class Column(NamedTuple):
    """A channel's observed values in train.

    Attributes:
      values: all of them; of a table on disk a sample, evenly spread over train.
      least: the smallest of all.
      most: the greatest of all.
      mean: of all, in double.
      deviation: of all, in double.
    """

    values: np.ndarray
    least: float
    most: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """A channel whose values are all in memory."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = (float(f(dtype=np.float64)) for f in (values.mean, values.std))
        return cls(values, float(values.min()), float(values.max()), mean, deviation)

    def on_line(self, link: Bounds) -> Self:
        """The channel with its values taken to the line; of a sample, moments are of the sample."""
        if not link.words:
            return self
        ends = to_line(np.array([self.least, self.most]), link)
        values = to_line(self.values.astype(np.float64), link)
        return self.of(values)._replace(least=float(ends[0]), most=float(ends[1]))


class Sums:
    """Count, mean and sum of squared distances from it, per column, gathered block by block.

    Blocks are joined by Chan's rule: with δ the difference of two means of n and m values, the sums
    add up to S + S′ + δ²·nm/(n + m). All in double; NaN is left out.
    """

    def __init__(self, columns: int):
        self.count, self.mean, self.squares = np.zeros((3, columns))
        self.least, self.most = np.full(columns, np.inf), np.full(columns, -np.inf)

    def add(self, block: np.ndarray) -> None:
        """Adds ``(n, C)`` values."""
        known = ~np.isnan(block)
        count = known.sum(axis=0)
        mean = np.where(known, block, 0).sum(axis=0, dtype=np.float64) / np.maximum(count, 1)
        squares = (np.where(known, block - mean, 0) ** 2).sum(axis=0, dtype=np.float64)
        whole = np.maximum(self.count + count, 1)
        step = mean - self.mean
        self.squares += squares + step**2 * self.count * count / whole
        self.mean += step * count / whole
        self.count += count
        self.least = np.fmin(self.least, np.fmin.reduce(block, axis=0, initial=np.inf))
        self.most = np.fmax(self.most, np.fmax.reduce(block, axis=0, initial=-np.inf))

    @property
    def variance(self) -> np.ndarray:
        """The mean squared distance from the mean."""
        return self.squares / np.maximum(self.count, 1)


def observe(values: np.ndarray, rows: np.ndarray) -> Iterator[Column | None]:
    """Looks at the channels of ``(T, C)`` values in some rows; ``None`` for one without any.

    Args:
      values: in memory, read channel by channel; or on disk, read once.
      rows: ``(T,)`` which rows may be looked at: those of train.
    """
    yield from (_on_disk if mapped.is_mapped(values) else _in_memory)(values, rows)


def _in_memory(values: np.ndarray, rows: np.ndarray) -> Iterator[Column | None]:
    first, last = int(rows.argmax()), len(rows) - int(rows[::-1].argmax())
    within = slice(first, last) if rows[first:last].all() else rows
    for column in values.T:
        seen = np.ascontiguousarray(column[within])
        holes = np.isnan(seen)
        seen = seen[~holes] if holes.any() else seen
        yield Column.of(seen) if seen.size else None


def _on_disk(values: np.ndarray, rows: np.ndarray) -> Iterator[Column | None]:
    sums, kept = Sums(values.shape[1]), []
    every, passed = max(int(rows.sum()) // _SAMPLE, 1), 0
    for part in mapped.blocks(values):
        block = values[part][rows[part]]
        sums.add(block)
        kept.append(block[-passed % every :: every].copy())  # a view would keep the block
        passed += len(block)
    for i, column in enumerate(np.concatenate(kept).T):
        exact = (sums.least[i], sums.most[i], sums.mean[i], np.sqrt(sums.variance[i]))
        seen = column[~np.isnan(column)]
        yield Column(seen, *map(float, exact)) if sums.count[i] else None
