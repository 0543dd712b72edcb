"""From settings to a table: the catalogue, generated sines, the user's file or table in memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import catalogue, chunks, files, frames, table
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.sines import sines
from pacodi_jax.data.table import Table
from pacodi_jax.errors import PacodiError
from pacodi_jax.text import tsfragment

_ROLES = ("time", "time_format", "id", "text", "static", "missing")


class Source(NamedTuple):
    """A table and where it came from.

    Attributes:
      table: the numbers.
      settings: what was asked for; of a table in memory, with the source and the time column that
        it stands for.
      home: a URL, or the file's name.
      licence: of the data, empty if unknown.
      kind: the ending of the file it came from, or under which samples of it are written.
      backend: whose kind of table samples come back as: ``pandas``, ``polars``, ``numpy``, ….
      left_out: channels that the catalogue leaves out by default.
      text: the column of captions that the source brings, or empty.
      rejected: malformed rows that were left out, by number and with what is wrong with them.
    """

    table: Table
    settings: DataSettings
    home: str
    licence: str
    kind: str
    backend: str = "pandas"
    left_out: tuple[str, ...] = ()
    text: str = ""
    rejected: tuple[tsfragment.Rejection, ...] = ()


def read(settings: DataSettings, *, seed: int, given: Any = None) -> Source:
    """Reads a source.

    Args:
      settings: which, and the roles of its columns.
      seed: of generated sources.
      given: a table in memory, read in place of a file.
    """
    if given is not None:
        return _from_memory(given, settings)
    source = settings.source
    if source == "table":
        return _from_file(settings)
    for name in _ROLES:
        if getattr(settings, name) not in (None, "", ()):
            raise PacodiError(f"data.{name} belongs to source='table'; {source} knows its own")
    if source == "sines":
        if settings.path or settings.channels:
            raise PacodiError("source='sines' is generated: it takes neither path nor channels")
        made = table.from_array(sines(settings.length, seed=seed), "sines")
        return Source(made, settings, "generated", "none needed", ".npy")
    if source == "tsfragment":
        return _from_fragments(settings)
    return _from_catalogue(settings)


def _from_memory(given: Any, settings: DataSettings) -> Source:
    """Reads a frame or an array; neither is changed."""
    if settings.source not in ("table", DataSettings.source) or settings.path:
        raise PacodiError(
            f"table= was given beside data.source={settings.source!r} and "
            f"data.path={settings.path!r}; give one of them."
        )
    settings = settings.replace(source="table")
    if frames.is_array(given):
        made = _from_array(np.array(given), settings, "the array")
        return Source(made, settings, "an array", "", ".npy", "numpy")
    taken = frames.take(given, settings)
    settings = settings.replace(time=taken.time)
    made = table.from_frame(taken.frame, settings, where=frames.WHERE, types=taken.types)
    return Source(made, settings, f"a {taken.backend} frame", "", ".csv", taken.backend)


def _from_file(settings: DataSettings) -> Source:
    if not settings.path:
        raise PacodiError("data.source='table' needs path: set data.path to the file to read")
    path = files.check(settings.path)
    if files.kind(path) in files.ARRAYS:
        made = _from_array(files.read_array(path), settings, str(path))
    elif chunks.suits(path, settings):
        made = chunks.read(path, settings)
    else:
        made = table.from_frame(files.read_table(path), settings, where=str(path))
    return Source(made, settings, path.name, "", files.kind(path))


def _from_array(array: np.ndarray, settings: DataSettings, where: str) -> Table:
    for name in ("time", "id", "channels", "static", "text"):
        if getattr(settings, name):
            raise PacodiError(
                f"{where} has no column names: leave time, id, channels, static, text out"
            )
    if settings.missing is not None:
        array = np.where(array == settings.missing, np.nan, array)
    return table.from_array(array, where)


def _from_catalogue(settings: DataSettings) -> Source:
    name = settings.source
    entry = catalogue.CATALOGUE[name]
    found = catalogue.locate(name, settings.path)
    frame = catalogue.read(found, entry) if found else _prepared(name)
    every = settings.channels or settings.protocol == "paper"
    left_out = () if every else entry.sparse
    kept = settings.channels or tuple(c for c in entry.channels if c not in left_out)
    roles = settings.replace(time=entry.time, channels=kept, missing=entry.missing)
    made = table.from_frame(frame, roles, where=entry.file)
    kind = files.kind(entry.file)
    return Source(made, settings, entry.url, entry.licence, kind, left_out=left_out)


def _prepared(name: str) -> pd.DataFrame:
    from pacodi_jax.data import builders

    return builders.prepared(name)


def _from_fragments(settings: DataSettings) -> Source:
    """Reads a file of TSFragment-600K: every row a ready-made window with its caption."""
    path, length = settings.path, settings.length
    if settings.channels:
        raise PacodiError("source='tsfragment' has one channel, OT: leave channels out")
    found = tsfragment.read(path)
    steps = found.series.shape[1]
    if steps != length:
        raise PacodiError(f"{path}: its series have {steps} steps; use length={steps}")
    texts = pd.DataFrame({"Text": np.repeat(np.array(found.texts, object), length)})
    made = table.from_array(found.series[:, :, None], path)
    made = replace(made, channels=("OT",), columns=("OT", "Text"), static=texts)
    home = f"https://huggingface.co/datasets/{tsfragment.DATASET} ({Path(path).name})"
    return Source(made, settings, home, "", ".csv", text="Text", rejected=found.rejected)
