"""Arrays that stay on disk: mapped into memory, their pages let go once they were read.

A mapped array is an ordinary numpy array, so all code that reads rows reads these too. What reads
many of them calls :func:`release` after each block, else the pages would count as this process's
memory until the system wants them back.
"""

import mmap

import numpy as np


def _map_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapping behind an array or a view of it; ``None`` for arrays in memory."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


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
