"""Reading files that need not be trusted: sizes are checked first, nothing is unpickled.

``read_array`` takes ``.npy`` and ``.npz``; ``read_table`` takes ``.csv``, ``.tsv``, ``.txt``, each
also as ``.gz``, and ``.parquet``. Every broken file raises a ``PacodiError`` that names it.
"""

import csv
import itertools
import logging
import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from pacodi_jax.data import delimited
from pacodi_jax.data.packing import check_ratio, gunzip
from pacodi_jax.errors import PacodiError, nearest

_LOG = logging.getLogger("pacodi_jax")
#: A Parquet file encodes repeated values in almost nothing, so it may claim more.
PARQUET_ALLOWANCE = 1 << 28
#: A chunk of a Parquet file has about so many bytes.
_CHUNK = 1 << 25
ARRAYS = (".npy", ".npz")
TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet")


def kind(path: str | os.PathLike[str]) -> str:
    """Returns the ending that says how ``path`` is read, for example ``".csv.gz"``.

    Raises:
      PacodiError: when the ending is not one of ``ARRAYS`` or ``TABLES``.
    """
    name = Path(path).name.lower()
    for ending in (*ARRAYS, *TABLES):
        if name.endswith(ending):
            return ending
    accepted = ", ".join((*ARRAYS, *TABLES))
    raise PacodiError(f"{path}: cannot tell the format from the name; accepted endings: {accepted}")


def check(path: str | os.PathLike[str]) -> Path:
    """Returns ``path`` as a ``Path`` after making sure that it is a readable, non-empty file."""
    text = os.fspath(path)
    if "\0" in text:
        raise PacodiError(f"{text!r}: a path cannot hold a NUL character")
    found = Path(text).expanduser()
    try:
        if found.is_dir():
            raise PacodiError(f"{found} is a directory; name a file in it")
        if not found.exists():
            names = [p.name for p in found.parent.iterdir()] if found.parent.is_dir() else []
            raise PacodiError(f"{found} does not exist.{nearest(found.name, names)}")
        if not found.is_file():
            raise PacodiError(f"{found} is not a regular file")
        if found.stat().st_size == 0:
            raise PacodiError(f"{found} is empty (0 bytes)")
        with found.open("rb") as stream:
            stream.read(1)
    except OSError as error:
        raise PacodiError(f"{found} cannot be read: {error.strerror or error}") from error
    return found


def read_array(path: str | os.PathLike[str], *, name: str | None = None) -> np.ndarray:
    """Reads one numeric array from ``.npy`` or ``.npz``, never unpickling.

    Args:
      path: the file.
      name: which array of an ``.npz`` to take; needed only if it holds several.

    Returns:
      The array, with the dtype and shape it was stored with.

    Raises:
      PacodiError: for a missing, truncated, oversized, pickled or non-numeric file.
    """
    found = check(path)
    ending = kind(found)
    if ending not in ARRAYS:
        raise PacodiError(f"{found}: expected an array ({', '.join(ARRAYS)})")
    try:
        if ending == ".npz":
            return _read_npz(found, name)
        with found.open("rb") as stream:
            return _read_npy(stream, found.stat().st_size, str(found))
    except (OSError, ValueError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        if isinstance(error, PacodiError):
            raise
        raise PacodiError(f"{found} is not a readable array file: {error}") from error


def _read_npz(path: Path, name: str | None) -> np.ndarray:
    with zipfile.ZipFile(path) as archive:
        members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
        if not members:
            raise PacodiError(f"{path} holds no array")
        if name is None and len(members) > 1:
            raise PacodiError(f"{path} holds several arrays: {', '.join(members)}; name one")
        chosen = next(iter(members)) if name is None else name
        if chosen not in members:
            raise PacodiError(f"{path} has no array {chosen!r}.{nearest(chosen, members)}")
        member = members[chosen]
        check_ratio(f"{path}:{member.filename}", member.file_size, path.stat().st_size)
        with archive.open(member) as stream:
            return _read_npy(stream, member.file_size, f"{path}:{member.filename}")


def _read_header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(stream)
        if version == (2, 0):
            return np.lib.format.read_array_header_2_0(stream)
    except Exception as error:  # numpy's parser lets syntax and token errors through
        raise PacodiError(f"{where} is not a readable array file: {error}") from error
    raise PacodiError(f"{where}: .npy version {version} is not read; save a numeric array")


def _read_npy(stream: IO[bytes], size: int, where: str) -> np.ndarray:
    """Reads an ``.npy`` of ``size`` bytes once its header claims no more than is there."""
    shape, fortran, dtype = _read_header(stream, where)
    if dtype.hasobject:
        raise PacodiError(f"{where} holds pickled objects, which are never loaded; save numbers")
    if dtype.kind not in "biuf":
        raise PacodiError(f"{where} holds {dtype}, not numbers")
    if any(n < 0 for n in shape):
        raise PacodiError(f"{where}: its header claims the impossible shape {shape}")
    count = math.prod(shape)
    claimed = count * dtype.itemsize
    if claimed > size:
        raise PacodiError(
            f"{where}: its header claims {claimed:,} bytes but only {size:,} are there; "
            "the file is truncated or forged"
        )
    if count == 0:
        raise PacodiError(f"{where} holds an empty array, of shape {shape}")
    data = bytearray(claimed)
    room = memoryview(data)
    while room:
        got = stream.readinto(room)  # type: ignore[attr-defined]
        if not got:
            raise PacodiError(f"{where} is truncated: {len(room):,} of {claimed:,} bytes missing")
        room = room[got:]
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: list[str] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    missing: list[str] | None = None,
) -> pd.DataFrame:
    """Reads a table with strict row lengths; numbers stay numbers, anything else is text.

    Time stamps in text formats stay text, so that the caller may remember how they were written.

    Args:
      path: a ``.csv``, ``.tsv``, ``.txt``, one of these with ``.gz``, or ``.parquet``.
      columns: which columns to return, in this order; all by default.
      delimiter: between cells; found from the first line by default.
      decimal: ``"."`` or ``","``; found by default.
      header: whether the first line names the columns; by default it does unless it is all numbers.
        Without one the columns are called ``c0``, ``c1``, ….
      missing: cell texts that mean "no value", beside the empty cell, ``NA`` and ``NaN``.

    Returns:
      The table. Whole-number columns with holes have the nullable dtype ``Int64``.

    Raises:
      PacodiError: for a missing, empty, ragged, truncated, oversized or undecodable file, or
        for a column that is not there.
    """
    found = check(path)
    ending = kind(found)
    if ending not in TABLES:
        raise PacodiError(f"{found}: expected a table ({', '.join(TABLES)})")
    if ending == ".parquet":
        table = _read_parquet(found)
    else:
        data = gunzip(found) if ending.endswith(".gz") else found.read_bytes()
        try:
            table = delimited.parse(data, delimiter, decimal, header, missing or [])
        except (PacodiError, pa.ArrowException, ValueError, csv.Error) as error:
            raise PacodiError(f"{found}: {error}") from error
    twice = sorted({n for n in table.column_names if table.column_names.count(n) > 1})
    if twice:
        raise PacodiError(f"{found} names a column twice: {', '.join(map(repr, twice))}")
    if columns is not None:
        for column in columns:
            if column not in table.column_names:
                hint = nearest(column, table.column_names)
                have = ", ".join(map(repr, table.column_names[:12]))
                raise PacodiError(f"{found} has no column {column!r}; it has {have}.{hint}")
        table = table.select(columns)
    try:
        return to_pandas(table)
    except (pa.ArrowException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise PacodiError(f"{found} holds a column that cannot be read: {error}") from error


def in_chunks(path: Path) -> Iterator[pd.DataFrame]:
    """Reads a table chunk by chunk: first its first rows in their types, then all rows.

    Raises:
      PacodiError: as :func:`read_table`, and where a later row is not of the type of the first.
    """
    try:
        chunks = _parquet_chunks(path) if kind(path) == ".parquet" else delimited.in_chunks(path)
        for number, chunk in enumerate(chunks):
            if not number:
                names = chunk.column_names
                twice = sorted({name for name in names if names.count(name) > 1})
                if twice:
                    raise PacodiError(f"names a column twice: {', '.join(map(repr, twice))}")
            yield to_pandas(chunk)
    except (PacodiError, pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise PacodiError(f"{path}: {error}") from error


def _parquet_chunks(path: Path) -> Iterator[pa.Table]:
    # Without pre_buffer=False, and by row groups: else the whole file would be read ahead.
    with pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        _check_claim(path, file)
        rows = max(_CHUNK // (8 * max(file.metadata.num_columns, 1)), 1)
        groups = (file.iter_batches(rows, [i]) for i in range(file.num_row_groups))
        for number, batch in enumerate(itertools.chain.from_iterable(groups)):
            chunk = pa.Table.from_batches([batch])
            if not number:
                yield chunk
            yield chunk


def _check_claim(path: Path, file: pyarrow.parquet.ParquetFile) -> None:
    rows, width = file.metadata.num_rows, max(file.metadata.num_columns, 1)
    groups = (file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
    claimed = max(rows * width * 8, sum(groups))
    check_ratio(str(path), claimed, path.stat().st_size, PARQUET_ALLOWANCE)


def _read_parquet(path: Path) -> pa.Table:
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check_claim(path, file)
            return file.read()
    except PacodiError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise PacodiError(f"{path} is not a readable Parquet file: {error}") from error


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Turns an Arrow table into pandas; whole numbers and booleans with holes keep their kind."""
    table = _without_decimals(table)
    nullable: dict[Any, Any] = {pa.bool_(): pd.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        for sign in ("", "u"):
            name = f"{sign}int{bits}"
            dtype = pd.api.types.pandas_dtype(name.replace("i", "I").replace("u", "U"))
            nullable[getattr(pa, name)()] = dtype
    holes = {f.type for f, c in zip(table.schema, table.columns, strict=True) if c.null_count}
    frame = table.to_pandas(types_mapper={t: nullable[t] for t in nullable if t in holes}.get)
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = pd.Index([str(c) for c in frame.columns])
    return frame


def _without_decimals(table: pa.Table) -> pa.Table:
    """Decimal columns as float64, in which they are modelled and written."""
    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            _LOG.warning("note: column %r is %s; samples of it are float64", field.name, field.type)
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
    return table
