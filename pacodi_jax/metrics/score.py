"""One score: its values per seed, its mean and interval, its floor and ceiling, and its word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats


def present(**values: Any) -> dict[str, Any]:
    """The values that are not ``None``; tuples become lists, as JSON reads them back."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not None
    }


def to_tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    """The tuple that :func:`present` made a list; ``None`` stays."""
    return None if values is None else tuple(values)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds.

    Attributes:
      value: the mean.
      interval: its 95 % interval, (low, high).
      values: one per seed; ``None`` where only the mean was kept.
      windows: how many windows each side of the comparison had.
    """

    value: float
    interval: tuple[float, float]
    values: tuple[float, ...] | None = None
    windows: int | None = None

    @property
    def half_width(self) -> float:
        """Half of the interval's width: the number after ±."""
        return (self.interval[1] - self.interval[0]) / 2

    def record(self) -> dict[str, Any]:
        """The JSON values of the estimate."""
        return present(
            value=self.value, values=self.values, interval=self.interval, windows=self.windows
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Estimate":
        """Reads what :meth:`record` wrote."""
        low, high = record["interval"]
        return cls(
            record["value"], (low, high), to_tuple(record.get("values")), record.get("windows")
        )


def summarise(values: Sequence[float], windows: int | None = None) -> Estimate:
    """Returns the mean over seeds and its 95 % interval by Student's t.

    Args:
      values: one per seed; of a single one the interval is that value.
      windows: how many windows each side of the comparison had.
    """
    mean, half = float(np.mean(values)), 0.0
    if len(values) > 1:
        error = float(np.std(values, ddof=1)) / np.sqrt(len(values))
        half = float(scipy.stats.t.ppf(0.975, len(values) - 1) * error)
    return Estimate(mean, (mean - half, mean + half), tuple(values), windows)


@dataclass(frozen=True)
class Score:
    """One metric against one set of real windows.

    Attributes:
      name: the metric's, with its version.
      split: ``"train"`` for the real windows, ``"held_out"`` for those that were held out.
      better: ``"lower"`` or ``"higher"``, or ``"one"`` where 1 is best.
      measured: the synthetic windows' score.
      floor: the score of other real windows.
      ceiling: the score of a copy with everything destroyed.
      word: what the score means in words.
      title: the metric's name for people.
      about: one sentence on what it sees.
      group: ``"paper"`` or ``"beyond"``.
      seeds: those of the values.
      position: 0 at the floor, 1 at the ceiling.
      above_floor: whether the score differs from the floor by more than the seeds' spread.
    """

    name: str
    split: str
    better: str
    measured: Estimate
    floor: Estimate
    ceiling: Estimate
    word: str
    title: str | None = None
    about: str | None = None
    group: str | None = None
    seeds: tuple[int, ...] | None = None
    position: float | None = None
    above_floor: bool | None = None

    @property
    def value(self) -> float:
        """The mean over seeds of the synthetic windows' score."""
        return self.measured.value

    @property
    def label(self) -> str:
        """The name for people; shortened files have only the metric's own."""
        return self.title or self.name

    @property
    def is_memorisation(self) -> bool:
        """Whether it measures copying rather than likeness."""
        return self.better == "one"

    def record(self) -> dict[str, Any]:
        """The JSON values of the score; the measured estimate stands at the top level."""
        return {
            **present(name=self.name, title=self.title, about=self.about, group=self.group),
            **present(better=self.better, split=self.split),
            **self.measured.record(),
            **present(seeds=self.seeds),
            "floor": self.floor.record(),
            "ceiling": self.ceiling.record(),
            **present(position=self.position, above_floor=self.above_floor, word=self.word),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Score":
        """Reads what :meth:`record` wrote."""
        return cls(
            record["name"],
            record["split"],
            record["better"],
            Estimate.from_record(record),
            Estimate.from_record(record["floor"]),
            Estimate.from_record(record["ceiling"]),
            record["word"],
            record.get("title"),
            record.get("about"),
            record.get("group"),
            to_tuple(record.get("seeds")),
            record.get("position"),
            record.get("above_floor"),
        )
