"""From a source's name to its table: the catalogue, generated sines, or the user's own file."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax.data import catalogue, files, table
from pacodi_jax.data.sines import sines
from pacodi_jax.data.table import Table
from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.text import tsfragment

#: Every name that :func:`read` accepts.
SOURCES = (*catalogue.CATALOGUE, "sines", "tsfragment", "table")


class Source(NamedTuple):
    """A table and where it came from.

    Attributes:
      table: the numbers.
      home: a URL, or the file's name.
      licence: of the data, empty if unknown.
      kind: the ending of the file it came from.
      left_out: channels that the catalogue leaves out by default.
      text: the column of captions that the source brings, or ``None``.
      rejected: malformed rows that were left out, by number and with what is wrong with them.
    """

    table: Table
    home: str
    licence: str
    kind: str
    left_out: tuple[str, ...] = ()
    text: str | None = None
    rejected: tuple[tsfragment.Rejection, ...] = ()


def read(
    source: str,
    path: str | os.PathLike[str] | None,
    *,
    length: int,
    seed: int,
    time: str | Sequence[str] | None,
    time_format: str | None,
    id: str | None,
    channels: Sequence[str] | None,
    static: Sequence[str],
    text: str | None,
    missing: float | None,
    every_channel: bool,
) -> Source:
    """Reads a source; the arguments are those of :func:`pacodi_jax.data.load`.

    ``every_channel`` keeps the channels that the catalogue calls sparse.
    """
    choose("source", source, dict.fromkeys(SOURCES))
    if source != "table":
        roles: dict[str, object] = {"time": tuple(time or ()), "time_format": time_format, "id": id}
        roles |= {"text": text, "static": tuple(static), "missing": missing}
        asked = [name for name, value in roles.items() if value not in (None, "", ())]
        if asked:
            raise PacodiError(f"{asked[0]}= belongs to source='table'; {source} knows its own")
    if source == "sines":
        if path or channels:
            raise PacodiError("source='sines' is generated: it takes neither path nor channels")
        made = table.from_array(sines(length, seed=seed), "sines")
        return Source(made, "generated", "none needed", ".npy")
    if source in catalogue.CATALOGUE:
        return _from_catalogue(source, path, channels, every_channel)
    if source == "tsfragment":
        return _from_fragments(path or "", length, channels)
    if not path:
        raise PacodiError(f"source={source!r} needs path=, the file to read")
    files.check(path)
    if files.kind(path) in files.ARRAYS:
        return _from_array(Path(path), time, id, channels, static, text, missing)
    made = table.from_frame(
        files.read_table(path),
        where=str(path),
        time=time,
        time_format=time_format,
        id=id,
        channels=channels,
        static=static,
        text=text,
        missing=missing,
    )
    return Source(made, Path(path).name, "", files.kind(path))


def _from_catalogue(
    name: str,
    path: str | os.PathLike[str] | None,
    channels: Sequence[str] | None,
    every_channel: bool,
) -> Source:
    entry = catalogue.CATALOGUE[name]
    found = catalogue.locate(name, path)
    frame = catalogue.read(found, entry) if found else _prepared(name)
    left_out = () if channels or every_channel else entry.sparse
    kept = tuple(channels or [c for c in entry.channels if c not in left_out])
    made = table.from_frame(
        frame,
        where=entry.file,
        time=entry.time or None,
        channels=kept,
        missing=entry.missing,
    )
    return Source(made, entry.url, entry.licence, files.kind(entry.file), left_out)


def _from_fragments(
    path: str | os.PathLike[str], length: int, channels: Sequence[str] | None
) -> Source:
    """Reads a file of TSFragment-600K: every row a ready-made window with its caption."""
    if channels:
        raise PacodiError("source='tsfragment' has one channel, OT: leave channels out")
    found = tsfragment.read(path)
    steps = found.series.shape[1]
    if steps != length:
        raise PacodiError(f"{path}: its series have {steps} steps; use length={steps}")
    texts = pd.DataFrame({"Text": np.repeat(np.array(found.texts, object), length)})
    made = table.from_array(found.series[:, :, None], str(path))
    made = replace(made, channels=("OT",), columns=("OT", "Text"), static=texts)
    home = f"https://huggingface.co/datasets/{tsfragment.DATASET} ({Path(path).name})"
    return Source(made, home, "", ".csv", text="Text", rejected=found.rejected)


def _prepared(name: str) -> pd.DataFrame:
    from pacodi_jax.data import builders

    return builders.prepared(name)


def _from_array(
    path: Path,
    time: str | Sequence[str] | None,
    id: str | None,
    channels: Sequence[str] | None,
    static: Sequence[str],
    text: str | None,
    missing: float | None,
) -> Source:
    if time or id or channels or static or text:
        raise PacodiError(f"{path} has no column names: leave time, id, channels, static, text out")
    array = files.read_array(path)
    if missing is not None:
        array = np.where(array == missing, np.nan, array)
    return Source(table.from_array(array, str(path)), path.name, "", files.kind(path))
