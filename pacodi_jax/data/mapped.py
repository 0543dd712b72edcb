"""Arrays that stay on disk: mapped into memory, their pages let go once they were read.

A mapped array is an ordinary numpy array, so all code that reads rows reads these too. What reads
many of them goes by :func:`blocks`, else the pages would count as this process's memory until the
system wants them back. The files have no name: they are gone when the process ends, even if killed.
"""

import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO

import numpy as np

from pacodi_jax import files
from pacodi_jax.errors import PacodiError

#: A block of rows has about so many bytes.
_BLOCK = 1 << 25


class Growing:
    """Rows of float64 on disk that grow block by block."""

    def __init__(self, columns: int):
        self._columns, self._file = columns, _scratch()
        weakref.finalize(self, self._file.close)

    def append(self, rows: np.ndarray) -> None:
        """Writes ``(n, C)`` rows behind those that are there.

        Raises:
          PacodiError: if the disk is full.
        """
        try:
            self._file.write(np.ascontiguousarray(rows, np.float64).data)
        except OSError as error:
            raise _full(error) from error

    def array(self) -> np.ndarray:
        """The rows ``(T, C)``; they can be written to."""
        return _mapped(self._file, np.dtype(np.float64)).reshape(-1, self._columns)


def empty_like(array: np.ndarray, rows: int) -> np.ndarray:
    """An array of so many rows, of the type and in the place of another: memory or disk."""
    shape = (rows, *array.shape[1:])
    if not is_mapped(array):
        return np.empty(shape, array.dtype)
    with _scratch() as file:
        try:
            os.posix_fallocate(file.fileno(), 0, int(np.prod(shape)) * array.itemsize)
        except OSError as error:
            raise _full(error) from error
        return _mapped(file, array.dtype).reshape(shape)


def blocks(array: np.ndarray, rows: int = 0) -> Iterator[slice]:
    """Slices of ``rows`` rows, or of about 32 MB, whose pages are let go after their turn.

    An array in memory that asks for no size is one block.
    """
    if not rows:
        size = max(array[:1].nbytes, 1)
        rows = max(_BLOCK // size, 1) if is_mapped(array) else max(len(array), 1)
    for begin in range(0, len(array), rows):
        yield slice(begin, min(begin + rows, len(array)))
        release(array)


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array stays on disk."""
    return _map_of(array) is not None


def release(array: np.ndarray) -> None:
    """Lets go of the pages of a mapped array; what was written to them is kept."""
    found = _map_of(array)
    if found is not None:
        found.madvise(mmap.MADV_DONTNEED)


def expect_random(array: np.ndarray) -> None:
    """Tells the system that rows will be read here and there, so that it reads no others."""
    found = _map_of(array)
    if found is not None:
        found.madvise(mmap.MADV_RANDOM)


def _map_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapping behind an array or a view of it; ``None`` for arrays in memory."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def _scratch() -> IO[bytes]:
    folder = files.cache_folder("scratch")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise _full(error) from error


def _mapped(file: IO[bytes], dtype: np.dtype) -> np.ndarray:
    try:
        file.flush()
    except OSError as error:
        raise _full(error) from error
    return np.frombuffer(mmap.mmap(file.fileno(), 0), dtype)


def _full(error: OSError) -> PacodiError:
    return PacodiError(
        f"the rows of the table cannot be kept in {files.cache_folder('scratch')}: "
        f"{error.strerror or error}. They take 8 bytes per value; XDG_CACHE_HOME names another "
        "disk."
    )
