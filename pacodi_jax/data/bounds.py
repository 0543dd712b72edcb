"""Bounds of channels: a smooth link between values that have bounds and numbers that have none.

Within a width w of a lower bound b a value v = b + u becomes b + 2√(w·u) − w; further away it
stays as it is. The line is straight where it joins, with no step in its slope, and rises all the
way down to the bound, which becomes b − w. The way back is u = (y − b + w)²/(4w): it is exact,
the bound itself included, and no number leads beyond the bound. An upper bound is the mirror image.
"""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from pacodi_jax.errors import PacodiError, nearest

AUTO, NONE = "auto", "none"
#: Train touches a bound that it comes nearer to than this share of its deviation.
NEAR = 0.1
#: A column within [0, 1] is a share if train comes this near to both ends.
_END = 0.05
#: The share of values that tells how far the tail of train may yet reach, by so many of them.
_TAIL, _SAMPLE = 0.01, 200_000
#: How much of a wide margin the link takes, so that rounding does not bring train into it.
_CLEAR = 0.999
#: Nearer to a bound than this share of the width, a value is the bound: float32 tells no more.
_AT = 2.0**-30

_HOW = "write channel:low:high, such as sales:0: or share:0:1, with commas between channels"


class Bounds(NamedTuple):
    """The values between which a channel stays, and the width of the link at each; NaN for none.

    Attributes:
      low: the least value.
      high: the greatest value.
      width: how far from a bound the link reaches.
    """

    low: float = math.nan
    high: float = math.nan
    width: float = math.nan

    @property
    def words(self) -> str:
        """``at least 0``, ``at most 5``, ``within 0 and 1``, or empty."""
        if not math.isnan(self.low) and not math.isnan(self.high):
            return f"within {self.low:g} and {self.high:g}"
        if not math.isnan(self.low):
            return f"at least {self.low:g}"
        return "" if math.isnan(self.high) else f"at most {self.high:g}"


class Values(Protocol):
    """A channel's values in train: :class:`~pacodi_jax.data.column.Column`."""

    @property
    def values(self) -> np.ndarray: ...  # noqa: D102
    @property
    def least(self) -> float: ...  # noqa: D102
    @property
    def most(self) -> float: ...  # noqa: D102
    @property
    def deviation(self) -> float: ...  # noqa: D102


def to_line(values: np.ndarray, bounds: Bounds) -> np.ndarray:
    """Takes values ``(…)`` of a channel to the line; what lies beyond a bound goes on with slope 1.

    NaN stays NaN.
    """
    low, high, width = bounds
    if not math.isnan(low):
        near = values < low + width
        values = _replaced(values, near, low + _stretched(values[near] - low, width))
    if not math.isnan(high):
        near = values > high - width
        values = _replaced(values, near, high - _stretched(high - values[near], width))
    return values


def _replaced(values: np.ndarray, where: np.ndarray, by: np.ndarray) -> np.ndarray:
    if not by.size:
        return values
    values = values.copy()
    values[where] = by
    return values


def _stretched(u: np.ndarray, width: float) -> np.ndarray:
    return 2 * np.sqrt(width * np.maximum(u, 0)) - width + np.minimum(u, 0)


def from_line(line: Any, bounds: Bounds, xp: Any = np) -> Any:
    """Takes numbers ``(…)`` on the line to values of a channel; ``xp`` is numpy or jax.numpy."""
    low, high, width = bounds
    values = line
    if not math.isnan(low):
        values = xp.where(line < low + width, low + _squeezed(line - low, width, xp), values)
    if not math.isnan(high):
        values = xp.where(line > high - width, high - _squeezed(high - line, width, xp), values)
    return values


def _squeezed(t: Any, width: float, xp: Any) -> Any:
    u = xp.maximum(t + width, 0) ** 2 / (4 * width)
    return xp.where(u < _AT * width, 0, u)


def parse(text: str) -> dict[str, tuple[float, float]]:
    """Reads ``channel:low:high,channel:low:high`` as ``{channel: (low, high)}``, NaN for none.

    A name with a comma in it stands in double quotes together with its bounds.

    Raises:
      PacodiError: for another form, a channel named twice, or bounds that hold nothing.
    """
    if text in (AUTO, NONE):
        return {}
    found: dict[str, tuple[float, float]] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        name, *ends = (piece.strip() for piece in part.rsplit(":", 2))
        if len(ends) != 2 or not name:
            raise PacodiError(f"data.bounds={text!r} cannot be read at {part!r}; {_HOW}.")
        if name in found:
            raise PacodiError(f"data.bounds names the channel {name!r} twice.")
        low, high = (_end(end, text) for end in ends)
        if low >= high:
            raise PacodiError(f"data.bounds: {name!r} cannot stay within {low:g} and {high:g}.")
        found[name] = (low, high)
    return found


def _end(end: str, text: str) -> float:
    if end.lower() in ("", NONE):
        return math.nan
    try:
        value = float(end)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise PacodiError(f"data.bounds={text!r}: {end!r} is not a finite number; {_HOW}.")
    return value


def as_text(given: Mapping[str, Sequence[Any]]) -> str:
    """Writes ``{channel: (low, high)}``, ``None`` for no bound, as :func:`parse` reads it."""
    parts = []
    for name, ends in given.items():
        if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
            raise PacodiError(
                f"data.bounds: {name!r} has the bounds {ends!r}; give two, such as (0, None)."
            )
        parts.append(":".join([str(name), *("" if end is None else str(end) for end in ends)]))
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(parts)
    return out.getvalue()


def chooser(
    text: str, channels: Sequence[str], dtypes: Sequence[str]
) -> Callable[[str, Values], Bounds]:
    """How the bounds of a channel follow from its name and its values in train.

    A channel that ``text`` names has the bounds given there, perhaps none. Of the others, unless
    ``text`` is ``none``, each is bounded by 0 if train never crosses it and either touches it or
    keeps a wide margin, and by 0 and 1 if train lies between and comes near to both. Between
    touching and a wide margin train does not tell whether 0 is a bound. Flags need none.

    Raises:
      PacodiError: for the name of a channel that is not there.
    """
    given = parse(text)
    for name in given:
        if name not in channels:
            raise PacodiError(
                f"data.bounds names {name!r}, which is no channel; there are "
                f"{', '.join(channels[:12])}.{nearest(name, channels)}"
            )
    kinds = dict(zip(channels, dtypes, strict=True))

    def choose(name: str, values: Values) -> Bounds:
        if name not in given and (text == NONE or "bool" in kinds[name].lower()):
            return Bounds()
        seen = _look(values)
        if name in given:
            low, high = _whole(given[name], kinds[name])
            _refuse_violated(name, seen, low, high)
        else:
            low, high = _natural(seen)
        return _with_width(seen, low, high)

    return choose


def _whole(ends: tuple[float, float], dtype: str) -> tuple[float, float]:
    """Bounds of a channel of whole numbers are whole, so that rounding does not cross them."""
    if "int" not in dtype.lower():
        return ends
    low, high = ends
    return (math.nan if math.isnan(low) else math.ceil(low)), (
        math.nan if math.isnan(high) else math.floor(high)
    )


class _Seen(NamedTuple):
    """What the values of a channel in train say of its bounds.

    Attributes:
      least: the smallest value.
      most: the greatest value.
      deviation: their standard deviation.
      lower_tail: from the least value to that above a hundredth of them.
      upper_tail: from the value below a hundredth of them to the greatest.
    """

    least: float
    most: float
    deviation: float
    lower_tail: float
    upper_tail: float

    def touches(self, margin: float) -> bool:
        """Whether train comes so near to a bound that it stops there."""
        return margin <= NEAR * self.deviation


def _look(seen: Values) -> _Seen:
    some = seen.values[:: max(len(seen.values) // _SAMPLE, 1)]
    low, high = np.quantile(some, (_TAIL, 1 - _TAIL))
    least, most = seen.least, seen.most
    return _Seen(least, most, seen.deviation, float(low) - least, most - float(high))


def _refuse_violated(name: str, seen: _Seen, low: float, high: float) -> None:
    for crossed, value in ((seen.least < low, seen.least), (seen.most > high, seen.most)):
        if crossed:
            raise PacodiError(
                f"data.bounds: {name!r} should be {Bounds(low, high).words}, but has the value "
                f"{value:g} in the training part."
            )


def _natural(seen: _Seen) -> tuple[float, float]:
    """The bounds that train shows by itself."""
    least, most = seen.least, seen.most
    if 0 <= least <= _END and 1 - _END <= most <= 1:
        return 0.0, 1.0
    if least >= 0 and (seen.touches(least) or _is_wide(least, seen.lower_tail)):
        return 0.0, math.nan
    if most <= 0 and (seen.touches(-most) or _is_wide(-most, seen.upper_tail)):
        return math.nan, 0.0
    return math.nan, math.nan


def _is_wide(margin: float, tail: float) -> bool:
    """Whether a bound lies further beyond train than the outer hundredth of train spans."""
    return margin > 0 and margin >= tail


def _with_width(seen: _Seen, low: float, high: float) -> Bounds:
    """The link reaches one deviation of train far, at most to the middle between two bounds.

    Where train keeps a wide margin from every bound, it ends before train, which stays as it is.
    """
    sides = ((seen.least - low, seen.lower_tail), (high - seen.most, seen.upper_tail))
    margins = [(margin, tail) for margin, tail in sides if not math.isnan(margin)]
    if not margins:
        return Bounds()
    width = seen.deviation
    if all(_is_wide(margin, tail) and not seen.touches(margin) for margin, tail in margins):
        width = min(width, *(_CLEAR * margin for margin, _ in margins))
    return Bounds(low, high, width if math.isnan(high - low) else min(width, (high - low) / 2))
