"""Writing tables and arrays whole or not at all, in the types they came in."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError


def plain(dtype: str) -> np.dtype:
    """Returns the numpy type of a column: ``int64`` for ``Int64``, ``float64`` for other kinds."""
    try:
        found = np.dtype(dtype.lower())
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
    return values.astype(target)


def atomically(path: Path, save: Callable[[str], object]) -> Path:
    """Lets ``save`` write a neighbour of ``path`` and renames it: whole, or not there at all."""
    handle, name = -1, ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.name)
        os.close(handle)
        save(name)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise PacodiError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Writes a table as ``.csv``, ``.tsv`` or ``.txt``, each also ``.gz``, or as ``.parquet``."""
    ending = files.kind(path)
    if ending not in files.TABLES:
        raise PacodiError(f"{path}: a table is written as one of {', '.join(files.TABLES)}")

    def save(name: str) -> None:
        if ending == ".parquet":
            frame.to_parquet(name, index=False)
        else:
            delimiter = "\t" if ending.startswith(".tsv") else ","
            compression: Literal["gzip"] | None = "gzip" if ending.endswith(".gz") else None
            frame.to_csv(name, index=False, sep=delimiter, compression=compression)

    return atomically(Path(path), save)


def write_array(array: np.ndarray, path: str | os.PathLike[str]) -> Path:
    """Writes an array as ``.npy``, or as ``windows`` in a compressed ``.npz``."""
    ending = files.kind(path)
    if ending not in files.ARRAYS:
        raise PacodiError(f"{path}: an array is written as one of {', '.join(files.ARRAYS)}")

    def save(name: str) -> None:
        with open(name, "wb") as stream:
            if ending == ".npz":
                np.savez_compressed(stream, windows=array)
            else:
                np.save(stream, array, allow_pickle=False)

    return atomically(Path(path), save)
