"""Windows from whatever a user has: frames, arrays, lists of arrays or files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError

#: The column that says which rows of a table belong together.
WINDOW = "window"


class GivenWindows(NamedTuple):
    """One set of windows as the user gave it.

    Attributes:
      values: ``(N, L, C)``, in the user's units.
      channels: their names; ``None`` if they came without.
      notes: what the user should know of how they were read.
    """

    values: np.ndarray
    channels: list[str] | None = None
    notes: tuple[str, ...] = ()


def read_windows(source: Any, name: str, length: int | None = None) -> GivenWindows:
    """Reads windows from a frame, an array, a list of arrays or a file.

    The rows of a table with equal values in its ``window`` column are one window. A table without
    that column is cut into overlapping windows of ``length`` rows, one beginning at every row.
    Columns that are not numbers (time stamps, labels) are left out and named in the notes.

    Args:
      source: a pandas or Polars frame; an array ``(N, L, C)``, or ``(N, L)`` for one channel; a
        list of windows ``(L, C)`` or ``(L,)``, or of arrays ``(N, L, C)``; or the path of a table
        or array file.
      name: what errors call it, for example ``"synthetic"``; files are called by their path.
      length: steps per window, for tables without a ``window`` column.

    Raises:
      PacodiError: if there are no windows in it, saying why.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if files.kind(path) in files.ARRAYS:
            return GivenWindows(_from_array(files.read_array(path), str(path)))
        table = nw.from_native(files.read_table(path), eager_only=True)
        return _from_frame(table, str(path), path.name, length)
    frame = _as_frame(source, name)
    if frame is not None:
        return _from_frame(frame, name, name, length)
    if isinstance(source, list | tuple):
        return GivenWindows(_from_list(source, name))
    return GivenWindows(_from_array(np.asarray(source), name))


def check_channels(real: GivenWindows, other: GivenWindows, name: str) -> None:
    """Refuses a set whose channels are named otherwise, or in another order, than the real ones."""
    if real.channels and other.channels and real.channels != other.channels:
        raise PacodiError(
            f"{name} has channels {', '.join(other.channels)} but the real windows have "
            f"{', '.join(real.channels)}; names and order must agree"
        )


def _from_array(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise PacodiError(
            f"{name} holds {array.dtype}, not numbers; give a frame, an array "
            "(windows, length, channels), a list of arrays or the path of a file"
        )
    if array.ndim not in (2, 3):
        raise PacodiError(f"{name} has shape {array.shape}; expected (windows, length, channels)")
    return array[..., None] if array.ndim == 2 else array


def _from_list(parts: Sequence[Any], name: str) -> np.ndarray:
    """Stacks windows ``(L, C)`` or ``(L,)``; joins arrays ``(N, L, C)``."""
    if not parts:
        raise PacodiError(f"{name} is an empty list; expected windows")
    if any(_as_frame(part, name) is not None for part in parts):
        raise PacodiError(f"{name} is a list of frames; join them, with a {WINDOW!r} column")
    arrays = [np.asarray(part) for part in parts]
    joined = arrays[0].ndim == 3
    shapes = {array.shape[1:] if joined else array.shape for array in arrays}
    if len(shapes) > 1 or len({array.ndim for array in arrays}) > 1:
        first, second = list(dict.fromkeys(array.shape for array in arrays))[:2]
        raise PacodiError(
            f"{name} is a list of arrays of different shapes, for example {first} and {second}; "
            "all windows must have the same length and channels"
        )
    return _from_array(np.concatenate(arrays) if joined else np.stack(arrays), name)


def _as_frame(source: Any, name: str) -> nw.DataFrame[Any] | None:
    """The source as a frame, or ``None`` if it is none."""
    try:
        frame = nw.from_native(source, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except nw.exceptions.NarwhalsError as error:
        raise PacodiError(
            f"{name} cannot be read as a table: {' '.join(str(error).split())}"
        ) from error
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(
    frame: nw.DataFrame[Any], name: str, short: str, length: int | None
) -> GivenWindows:
    """Windows of a table; ``short`` is its name in notes."""
    columns = {column.name: column for column in frame.iter_columns()}
    window = columns.pop(WINDOW, None)
    channels = {key: column for key, column in columns.items() if _is_number(column.dtype)}
    if not channels:
        raise PacodiError(f"{name} has no column of numbers to score")
    values = np.column_stack([_numbers(column) for column in channels.values()])
    if window is None:
        windows = _cut(values, length, name)
    else:
        windows = _group(values, window.to_numpy(), name)
    left_out = ", ".join(str(key) for key in columns if key not in channels)
    note = f"{short}: columns that are not numbers are not scored: {left_out}"
    return GivenWindows(windows, [str(key) for key in channels], (note,) if left_out else ())


def _is_number(dtype: nw.dtypes.DType) -> bool:
    return dtype.is_numeric() or dtype == nw.Boolean


def _numbers(column: nw.Series[Any]) -> np.ndarray:
    """The column as float64; what is missing is NaN."""
    return column.cast(nw.Float64).to_numpy()


def _group(values: np.ndarray, window: np.ndarray, name: str) -> np.ndarray:
    """Gathers the rows of each window, in the order in which windows first appear."""
    member, _ = pd.factorize(window)
    if (member < 0).any():
        raise PacodiError(f"{name}: the {WINDOW!r} column is empty in row {member.argmin() + 1}")
    order, sizes = np.argsort(member, kind="stable"), np.bincount(member)
    if len(set(sizes)) != 1:
        raise PacodiError(
            f"{name}: windows differ in length (from {sizes.min()} to {sizes.max()} rows); "
            "all must have the same"
        )
    return values[order].reshape(len(sizes), sizes[0], -1)


def _cut(values: np.ndarray, length: int | None, name: str) -> np.ndarray:
    """Cuts overlapping windows of ``length`` rows, one beginning at every row."""
    if length is None:
        raise PacodiError(
            f"{name} has no {WINDOW!r} column to say which rows belong together; add one, or give "
            "length= (--length for the command) to cut windows of that many rows"
        )
    if not 2 <= length <= len(values):
        raise PacodiError(f"length={length} does not fit {name}, which has {len(values)} rows")
    return np.lib.stride_tricks.sliding_window_view(values, length, axis=0).swapaxes(1, 2)
