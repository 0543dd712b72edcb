"""The settings of a data set: which source, which columns, how it is cut, split and scaled."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from pacodi_jax.config import Section, setting
from pacodi_jax.data import bounds, calendar, splits
from pacodi_jax.data.catalogue import CATALOGUE
from pacodi_jax.data.scaling import SCALINGS

#: Every accepted source: the catalogue, generated sines, a file of TSFragment-600K, any table.
SOURCES = (*CATALOGUE, "sines", "tsfragment", "table")
PROTOCOLS = ("honest", "paper")
SPLITS = ("auto", "time", "series", "blocks")


@dataclass(frozen=True)
class DataSettings(Section, name="data"):
    """What :func:`pacodi_jax.data.load` loads.

    ``time``, ``channels`` and ``static`` take one name or several.
    """

    source: str = setting(
        "sines",
        "a name of the catalogue, sines, or table (tsfragment) for the file at path",
        choices=SOURCES,
    )
    path: str = setting("", "the user's file, or a folder that holds the catalogue's")
    length: int = setting(24, "steps per window", least=2)
    stride: int = setting(1, "rows from one window to the next", least=1)
    protocol: str = setting(
        "honest",
        "honest (train | gap of one window | validation | held-out) or paper (min-max over all "
        "windows, the last tenth of overlapping stride-1 windows as held-out; this leaks)",
        choices=PROTOCOLS,
    )
    split: str = setting(
        "auto",
        "time cuts every series in time, series gives whole series to the parts, blocks gives "
        "every k-th block of rows to validation and held-out, so that all parts have one law; auto "
        "is series for ready-made windows and time otherwise",
        choices=SPLITS,
    )
    block: int = setting(0, "rows per block for split=blocks; 0 takes four windows", least=0)
    fractions: tuple[float, ...] = setting((0.8, 0.1, 0.1), "of train, validation and held-out")
    scaling: str = setting("standard", "of each channel, fitted on train", choices=SCALINGS)
    bounds: str = setting(
        bounds.AUTO,
        "between which values channels stay: channel:low:high,… (sales:0:,share:0:1). The other "
        "channels, or all by auto, stay on train's side of 0 if it touches 0 or keeps a wide "
        "margin, and within 0 and 1 if it fills that; none bounds nothing",
    )
    time: tuple[str, ...] = setting((), "the time column of a table, or its date and time columns")
    time_format: str = setting("", "how text stamps are written, if that cannot be found")
    id: str = setting("", "the column that tells series apart")
    channels: tuple[str, ...] = setting((), "the columns to model; all that have no other role")
    static: tuple[str, ...] = setting((), "columns that are constant per window: conditions")
    text: str = setting("", "a column of captions, constant per window")
    calendar: str = setting(
        calendar.OFF,
        "conditions from a window's first stamp: day, week, year, those that train tells apart "
        "(on; auto, if there are any), a list of them, or off",
    )
    missing: float | None = setting(None, 'a number that means "no value"')
    stream: str = setting(
        "auto",
        "where training windows stay: off puts their rows on every device, on leaves them on the "
        "host and hands the devices blocks of batches, in the same order; auto streams what would "
        "take more than a quarter of a device's memory",
        choices=("auto", "on", "off"),
    )
    max_gap: int = setting(
        3,
        "the longest run of missing rows that is interpolated; longer ones cut the series",
        least=0,
    )

    def __post_init__(self) -> None:
        if isinstance(self.path, os.PathLike):
            object.__setattr__(self, "path", os.fspath(self.path))
        if isinstance(self.bounds, Mapping):
            object.__setattr__(self, "bounds", bounds.as_text(self.bounds))
        if isinstance(self.calendar, list | tuple):
            object.__setattr__(self, "calendar", ",".join(map(str, self.calendar)) or calendar.OFF)
        super().__post_init__()

    def check(self) -> None:
        """Refuses fractions that are not three parts, and what is no bound or no phase."""
        bounds.parse(self.bounds)
        calendar.check(self.calendar)
        object.__setattr__(self, "fractions", splits.check_fractions(self.fractions))
