"""Numbers in the types of their columns, and files of tables and arrays."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from pacodi_jax import files as whole_files
from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError

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


def formulas(texts: Iterable[str]) -> list[str]:
    """Those texts that a spreadsheet would take for a formula when it opens a CSV file."""
    return [text for text in texts if text.startswith(_FORMULA)]


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Writes a table as ``.csv``, ``.tsv`` or ``.txt``, each also ``.gz``, or as ``.parquet``."""
    ending = files.kind(path)
    if ending not in files.TABLES:
        raise PacodiError(f"{path}: a table is written as one of {', '.join(files.TABLES)}")

    def save(name: Path) -> None:
        if ending == ".parquet":
            frame.to_parquet(name, index=False)
        else:
            delimiter = "\t" if ending.startswith(".tsv") else ","
            compression: Literal["gzip"] | None = "gzip" if ending.endswith(".gz") else None
            frame.to_csv(name, index=False, sep=delimiter, compression=compression)

    return whole_files.write(Path(path), save)


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
