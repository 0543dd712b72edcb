"""Numbers in the types of their columns, and files of tables and arrays."""

import logging
import os
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from pacodi_jax import files as whole_files
from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError

_LOG = logging.getLogger("pacodi_jax")
_ARROW = "[pyarrow]"
#: How a formula begins in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ALIASES = {"boolean": "bool", "double[pyarrow]": "float64", "float[pyarrow]": "float32"}


def plain(dtype: str) -> np.dtype:
    """Returns the numpy type of a column: ``int64`` for ``Int64``, ``float64`` for other kinds."""
    name = dtype.lower()
    try:
        found = np.dtype(_ALIASES.get(name, name.removesuffix(_ARROW)))
    except TypeError:
        return np.dtype(np.float64)
    return found if found.kind in "biuf" else np.dtype(np.float64)


def as_dtype(values: np.ndarray, dtype: str) -> np.ndarray:
    """Casts float64 values to a column's type: whole numbers are rounded and clipped, not cut."""
    target = plain(dtype)
    if target.kind == "b":
        return values >= 0.5
    if target.kind in "iu":
        limits = np.iinfo(target)
        rounded = np.rint(values)
        out = np.empty(values.shape, target)
        inside = (rounded > float(limits.min)) & (rounded < float(limits.max))
        out[inside] = rounded[inside].astype(target)
        out[~inside] = np.where(rounded[~inside] > 0, limits.max, limits.min)
        return out
    largest = np.finfo(target).max
    return np.clip(values, -largest, largest).astype(target)


def _is_formula(cell: object) -> bool:
    return isinstance(cell, str) and cell.startswith(_FORMULA)


def formulas(frame: pd.DataFrame) -> list[str]:
    """The names and texts that a spreadsheet takes for formulas when it opens a CSV file."""
    cells = (cell for name in _texts(frame) for cell in frame[name].unique())
    return [cell for cell in dict.fromkeys([*frame.columns, *cells]) if _is_formula(cell)]


def quoted(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each formula, which makes it a text in a spreadsheet."""
    found = {cell: f"'{cell}" for cell in formulas(frame)}
    own = {n: frame[n].astype(object).map(lambda c: found.get(c, c)) for n in _texts(frame)}
    return frame.assign(**own).rename(columns=found) if found else frame


def _texts(frame: pd.DataFrame) -> list[str]:
    """The columns that may hold texts."""
    return [name for name in frame.columns if frame[name].dtype.kind not in "biufmM"]


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str], *, quote: bool = False) -> Path:
    """Writes a table as ``.csv``, ``.tsv`` or ``.txt``, each also ``.gz``, or as ``.parquet``.

    Args:
      frame: the table.
      path: of the file.
      quote: write what a spreadsheet takes for formulas as texts; else it is told in a note.
    """
    ending = files.kind(path)
    if ending not in files.TABLES:
        raise PacodiError(f"{path}: a table is written as one of {', '.join(files.TABLES)}")

    if ending != ".parquet":
        frame = quoted(frame) if quote else frame
        _tell(formulas(frame))

    def save(name: Path) -> None:
        if ending == ".parquet":
            frame.to_parquet(name, index=False)
        else:
            delimiter = "\t" if ending.startswith(".tsv") else ","
            compression: Literal["gzip"] | None = "gzip" if ending.endswith(".gz") else None
            frame.to_csv(name, index=False, sep=delimiter, compression=compression)

    return whole_files.write(Path(path), save)


def _tell(found: list[str]) -> None:
    if found:
        shown = ", ".join(repr(text[:60]) for text in found[:5])
        _LOG.warning(
            "note: a spreadsheet takes these for formulas; import them as text, or ask for quotes "
            "(--quote-formulas): %s",
            shown,
        )


def write_array(array: np.ndarray, path: str | os.PathLike[str]) -> Path:
    """Writes an array as ``.npy``, or as ``windows`` in a compressed ``.npz``."""
    ending = files.kind(path)
    if ending not in files.ARRAYS:
        raise PacodiError(f"{path}: an array is written as one of {', '.join(files.ARRAYS)}")

    def save(name: Path) -> None:
        with name.open("wb") as stream:
            if ending == ".npz":
                np.savez_compressed(stream, windows=array)
            else:
                np.save(stream, array, allow_pickle=False)

    return whole_files.write(Path(path), save)
