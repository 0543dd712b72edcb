"""The calendar as a condition: where in the day, the week and the year a window begins.

Each phase φ in [0, 1) of a first stamp is the point (sin 2πφ, cos 2πφ), by local time. A phase is
used if the table's frequency and the span of train can tell it from others.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data.clock import Clock
from pacodi_jax.errors import PacodiError, choose

AUTO, ON, OFF = "auto", "on", "off"
#: The periods of the phases, and how many of them train must span.
PERIODS = {
    "day": (pd.Timedelta(days=1), 2.0),
    "week": (pd.Timedelta(days=7), 2.0),
    "year": (pd.Timedelta(days=365), 2.0),
}
#: First stamps of training windows that are kept, spread evenly over their sorted order.
MOST = 4096
_STREAM = 0xCA1E  # keeps these draws apart from others with the same seed


class Calendar(NamedTuple):
    """Which phases of a window's first stamp a model knows, and train's law of first stamps.

    Attributes:
      names: the phases, of ``day``, ``week`` and ``year``.
      zone: the time zone in which they are taken; empty if the stamps have none.
      firsts: first stamps of training windows, nanoseconds since 1970 (UTC if there is a zone).
    """

    names: tuple[str, ...]
    zone: str
    firsts: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many numbers it takes in a condition."""
        return 2 * len(self.names)

    def phases(self, stamps: pd.DatetimeIndex) -> np.ndarray:
        """Sine and cosine of each phase of ``(N,)`` stamps: ``(N, E)`` float32."""
        return _circles(self.names, _local(stamps, self.zone))

    def draw(self, seed: int, count: int) -> pd.DatetimeIndex:
        """Draws first stamps evenly from those kept of train; the i-th depends on (seed, i) alone.

        They are drawn apart from static columns, if there are any.
        """
        key = np.array([seed % 2**64, _STREAM], np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key))
        chosen = (generator.random(count) * len(self.firsts)).astype(np.int64)
        stamps = pd.DatetimeIndex(np.array(self.firsts, np.int64)[chosen].view("datetime64[ns]"))
        return stamps.tz_localize("UTC").tz_convert(self.zone) if self.zone else stamps


def _local(stamps: pd.DatetimeIndex, zone: str) -> pd.DatetimeIndex:
    """What the clocks on the wall showed."""
    if stamps.tz is not None:
        stamps = stamps.tz_convert(zone) if zone else stamps
        return stamps.tz_localize(None)
    return stamps


def _circles(names: tuple[str, ...], local: pd.DatetimeIndex) -> np.ndarray:
    day = ((local - local.normalize()) / PERIODS["day"][0]).to_numpy(np.float64)
    days = np.where(local.is_leap_year, 366, 365)
    turns = {
        "day": day,
        "week": (local.day_of_week.to_numpy() + day) / 7,
        "year": (local.day_of_year.to_numpy() - 1 + day) / days,
    }
    angles = 2 * np.pi * np.stack([turns[name] for name in names], axis=1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(day), -1).astype("f4")


def check(text: str) -> None:
    """Refuses what is neither ``auto``, ``on``, ``off`` nor a list of phases.

    Raises:
      PacodiError: naming the first phase that is not one.
    """
    if text not in (AUTO, ON, OFF):
        for name in _named(text):
            choose("data.calendar", name, dict.fromkeys((AUTO, ON, OFF, *PERIODS)))
            if name in (AUTO, ON, OFF):
                raise PacodiError(f"data.calendar={text!r}: {name!r} stands alone, or phases do.")


def _named(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    return tuple(sorted(dict.fromkeys(names), key=(*PERIODS, *names).index))


def fit(text: str, clock: Clock | None, firsts: pd.Index | None, length: int) -> Calendar | None:
    """Decides which phases are conditions.

    Args:
      text: the setting: ``auto``, ``on``, ``off``, or phases between commas.
      clock: of the table, or ``None``.
      firsts: the first stamps of the training windows, or ``None`` without a clock.
      length: steps per window.

    Returns:
      The calendar; ``None`` if it is off, or if ``auto`` finds no phase.

    Raises:
      PacodiError: if phases were asked for and the stamps have none.
    """
    if text == OFF:
        return None
    if clock is None or firsts is None or clock.numeric:
        if text == AUTO:
            return None
        raise PacodiError(
            f"data.calendar={text!r} needs a time column of dates; name it with data.time, or "
            "leave the calendar off."
        )
    stamps = pd.DatetimeIndex(firsts)
    told = _told_apart(clock, stamps, length)
    names = told if text in (AUTO, ON) else _named(text)
    for name in names if text not in (AUTO, ON) else ():
        if not _varies(name, stamps, clock.zone):
            raise PacodiError(
                f"data.calendar names {name!r}, but every window begins at the same one; leave it "
                "out."
            )
    if not names and text == ON:
        raise PacodiError(
            f"data.calendar='on': steps of {clock.frequency} over the training part tell no day, "
            "week or year from others; leave it off."
        )
    return Calendar(names, clock.zone, _kept(stamps)) if names else None


def _told_apart(clock: Clock, stamps: pd.DatetimeIndex, length: int) -> tuple[str, ...]:
    """The phases of which a step is at most half, which train spans, and which vary."""
    step = clock.step
    span = stamps.max() - stamps.min() + length * step
    return tuple(
        name
        for name, (period, times) in PERIODS.items()
        if 2 * step <= period and span >= times * period and _varies(name, stamps, clock.zone)
    )


def _varies(name: str, stamps: pd.DatetimeIndex, zone: str) -> bool:
    return bool(np.ptp(_circles((name,), _local(stamps, zone)), axis=0).max() > 1e-3)


def _kept(stamps: pd.DatetimeIndex) -> tuple[int, ...]:
    ordered = np.sort(stamps.as_unit("ns").asi8)
    rows = (np.arange(min(len(ordered), MOST)) + 0.5) * len(ordered) / min(len(ordered), MOST)
    return tuple(ordered[rows.astype(np.int64)].tolist())
