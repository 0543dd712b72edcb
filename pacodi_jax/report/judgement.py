"""The judge: how real do synthetic windows look, whoever made them?"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from narwhals.typing import IntoFrame

from pacodi_jax import files, report
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.cache import Cache, default_cache
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.metrics.results import Panel
from pacodi_jax.report import tables
from pacodi_jax.report.intake import GivenWindows, check_channels, read_windows
from pacodi_jax.report.progress import progress_bar, say

StrPath = str | os.PathLike[str]
#: What the judge reads: a pandas or Polars frame, arrays, or the path of a file.
Source = IntoFrame | npt.ArrayLike | Sequence[npt.ArrayLike] | StrPath


@dataclass(frozen=True, repr=False)
class Verdict:
    """What the judge found; printing it shows the sentences and a table of all scores.

    Attributes:
      panel: every score with its floor, ceiling and values per seed.
      notes: what to know of how the windows were read, for example columns that were left out.
      title: of the report.
      real: ``(N, L, C)``, in the user's units.
      synthetic: ``(M, L, C)``, in the user's units.
    """

    panel: Panel
    notes: tuple[str, ...]
    title: str
    real: np.ndarray = field(compare=False)
    synthetic: np.ndarray = field(compare=False)

    def __repr__(self) -> str:
        return tables.as_text(self.panel, self.notes)

    def _repr_html_(self) -> str:
        return tables.as_html(self.panel, self.notes)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per score and set of real windows; the columns are those of ``scores.csv``."""
        return tables.frame(self.panel)

    def to_json(self) -> str:
        """The text of ``scores.json``; ``metrics.Panel.from_json`` reads it."""
        return self.panel.to_json()

    def to_html(self, path: StrPath) -> Path:
        """Writes the report with its pictures as one self-contained page, and returns its path."""
        page = report.html(self.title, self.panel, self.real, self.synthetic)
        return files.write_text(Path(path), page)

    def write(self, folder: StrPath) -> list[Path]:
        """Writes ``scores.json``, ``scores.csv`` and ``report.html``, and returns their paths."""
        return report.write(Path(folder), self.title, self.panel, self.real, self.synthetic)


def _path(source: Source) -> Path | None:
    """The path of a file, or ``None`` for anything else."""
    return Path(source) if isinstance(source, str | os.PathLike) else None


def _read(source: Source, name: str, length: int | None, real: GivenWindows | None) -> GivenWindows:
    """Reads one set, and refuses one whose channels are not those of the real windows."""
    found = read_windows(source, name, length)
    if real is not None:
        check_channels(real, found, str(_path(source) or name))
    return found


def _title(real: Source, synthetic: Source) -> str:
    """The report's title, with the names of files."""
    first, second = _path(synthetic), _path(real)
    made = first.name if first else "Synthetic windows"
    return f"{made} judged against {second.name if second else 'real windows'}"


def _budget(windows: int, seeds: int, quick: bool) -> Budget:
    """What to spend; ``quick`` trains for a tenth of the steps, on at most 1000 windows."""
    for name, value, least in (("seeds", seeds, 1), ("windows", windows, 20)):
        if value < least:
            raise PacodiError(f"{name}={value}; at least {least} is needed")
    budget = Budget(seeds=tuple(range(seeds)), windows=windows)
    if not quick:
        return budget
    return budget._replace(
        windows=min(windows, 1000),
        encoder_steps=60,
        discriminative_steps=200,
        predictive_steps=500,
        strong_steps=100,
    )


def judge(
    real: Source,
    synthetic: Source,
    *,
    held_out: Source | None = None,
    length: int | None = None,
    windows: int = 3000,
    seeds: int = 5,
    quick: bool = False,
    protocol: str = "judge",
    cache: StrPath | None = None,
    progress: bool = False,
) -> Verdict:
    """Judges synthetic windows of any generator against real ones.

    Windows may be given as a pandas or Polars frame with a ``window`` column (or, with ``length``,
    without one); as an array ``(N, L, C)``, or ``(N, L)`` for one channel; as a list of windows
    ``(L, C)`` or of arrays ``(N, L, C)``; or as the path of a ``.csv``, ``.parquet``, ``.npy`` or
    ``.npz`` file.

    Examples:
      ```python
      verdict = judge(real, synthetic, held_out=later)
      print(verdict)                      # sentences and a table
      verdict.frame                       # one row per score
      verdict.to_html("report.html")      # with pictures
      ```

    Args:
      real: windows that the generator was trained on; they set the scale.
      synthetic: windows that it made, in the same units, with the same channels.
      held_out: real windows that it did not see; adds a second table of scores and a sharper test
        for copies.
      length: steps per window, for tables without a ``window`` column.
      windows: the most windows per side that one score compares.
      seeds: complete runs of every score; intervals are over seeds.
      quick: a tenth of the training steps and at most 1000 windows per side, for a first look; the
        protocol says so.
      protocol: a label shown with every score, for example ``"oracle"``.
      cache: folder of encoders, floors and ceilings of real windows; by default one in the user's
        cache folder.
      progress: shows how long it will take, a first verdict and a progress bar.

    Returns:
      The verdict, which prints as a table.

    Raises:
      PacodiError: for windows that cannot be judged, naming ``real``, ``synthetic``, ``held_out``
        or the file.
    """
    budget = _budget(windows, seeds, quick)
    first = _read(real, "real", length, None)
    made = _read(synthetic, "synthetic", length, first)
    unseen = None if held_out is None else _read(held_out, "held_out", length, first)
    if cache is not None:
        report.check_writable(Path(cache))
    with progress_bar() if progress else contextlib.nullcontext() as show:
        panel = score_panel(
            first.values,
            made.values,
            None if unseen is None else unseen.values,
            budget=budget,
            cache=default_cache() if cache is None else Cache(Path(cache)),
            protocol=f"{protocol} (quick)" if quick else protocol,
            names=first.channels,
            progress=show,
            announce=say if progress else None,
        )
    notes = first.notes + made.notes + (() if unseen is None else unseen.notes)
    return Verdict(panel, notes, _title(real, synthetic), first.values, made.values)
