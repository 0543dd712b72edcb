"""Windows as row numbers into one array: nothing is copied until it is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from pacodi_jax.data import attributes, condition_parts, mapped
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.data.table import Table

#: A block of windows has about so many bytes.
_BLOCK = 1 << 26


@dataclass(frozen=True, eq=False)
class WindowSet:
    """The windows of one part of a split.

    Attributes:
      series: ``(T, C)`` float32, scaled; shared by all parts.
      starts: ``(N,)`` the first row of each window.
      length: steps per window.
      recipe: the way back.
      table: where the rows came from; its values are ``series``.
    """

    series: np.ndarray
    starts: np.ndarray
    length: int
    recipe: Recipe
    table: Table

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def channels(self) -> int:
        """How many channels the model sees."""
        return self.series.shape[1]

    def take(self, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        """Gathers scaled windows ``(len(indices), L, C)`` float32."""
        begin = self.starts[np.asarray(indices)]
        return self.series[begin[:, None] + np.arange(self.length)]

    def pick(self, rows: np.ndarray) -> Self:
        """The windows of these rows."""
        return replace(self, starts=self.starts[rows])

    def once(self) -> Self:
        """Every window once; a window with several texts has several rows."""
        return self

    def spread(self, numbers: int) -> Self:
        """All windows if they hold at most so many numbers; else some, evenly spread over all.

        Those then hold a sixteenth of that, since whoever fits to them makes copies.
        """
        size = self.length * self.channels
        if len(self) * size <= numbers:
            return self
        most = max(numbers // (16 * size), 1)
        return self.pick(np.arange(most) * len(self) // most)

    def touching(self) -> Iterator[np.ndarray]:
        """Blocks ``(n, L, C)`` of windows side by side: about every row of train once."""
        stride = int(np.diff(self.starts[:2]).max(initial=1))
        chosen = np.arange(0, len(self), max(self.length // max(stride, 1), 1))
        rows = max(_BLOCK // (4 * self.length * self.channels), 1)
        for begin in range(0, len(chosen), rows):
            yield self.take(chosen[begin : begin + rows])
            mapped.release(self.series)

    def values(self) -> np.ndarray:
        """Gathers all windows: ``(N, L, C)`` float32, scaled."""
        return self.take(np.arange(len(self)))

    def condition(self) -> np.ndarray | None:
        """What a model is told of each window: ``(N, E)`` float32, or ``None`` for nothing.

        The text, the static columns, then the phases of the first stamp.
        """
        return condition_parts.join(self.text_vectors(), self.static_numbers(), self._phases())

    @property
    def condition_width(self) -> int:
        """How many numbers a condition has; 0 for none."""
        condition = self.pick(np.arange(min(len(self), 1))).condition()
        return 0 if condition is None else condition.shape[1]

    def parts(self) -> np.ndarray | None:
        """Which numbers belong to each part that can be left out alone, ``(2, E)``, or ``None``."""
        text, known, calendar = self.text_vectors(), self.recipe.attributes, self.recipe.calendar
        if text is None or not known:
            return None
        phases = 0 if calendar is None else calendar.width
        return condition_parts.places(text.shape[1], sum(a.width for a in known), phases)

    def text_vectors(self) -> np.ndarray | None:
        """The encoded text of each window, ``(N, E)``, or ``None``."""
        return None

    def static_numbers(self) -> np.ndarray | None:
        """The static columns at each window, encoded ``(N, E)``, or ``None``."""
        if not self.recipe.attributes:
            return None
        return attributes.encode(self.recipe.attributes, self.table.static.iloc[self.starts])

    def _phases(self) -> np.ndarray | None:
        """The calendar at each window's first stamp."""
        stamps = None if self.recipe.calendar is None else self.table.stamps(self.starts)
        if self.recipe.calendar is None or stamps is None:
            return None
        return self.recipe.calendar.phases(pd.DatetimeIndex(stamps))

    def oversampled(self) -> np.ndarray | None:
        """Oversampled examples ``(N,)`` bool, or ``None``; their condition is never dropped."""
        return None

    def column(self, name: str) -> np.ndarray:
        """A static or text column's value at each window, ``(N,)``, as the user wrote it."""
        return self.table.static[name].to_numpy()[self.starts]

    def to_table(self, indices: Sequence[int] | np.ndarray | None = None) -> pd.DataFrame:
        """Writes real windows as the user's table, with their true stamps, ids and labels."""
        chosen = np.arange(len(self)) if indices is None else np.asarray(indices)
        begin = self.starts[chosen]
        which = np.searchsorted(self.table.bounds, begin, side="right") - 1
        ids = None if self.table.ids is None else self.table.ids[which].tolist()
        static = self.table.static.iloc[begin] if self.table.static.shape[1] else None
        values = self.recipe.deliver(self.take(chosen))
        stamps = self.table.stamps((begin[:, None] + np.arange(self.length)).ravel())
        return self.recipe.to_table(values, stamps=stamps, ids=ids, static=static)
