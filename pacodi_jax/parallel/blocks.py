"""Many rows in blocks of one size, each block shared out among this process's devices."""

from collections.abc import Callable, Iterator

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array

_AXIS = "block"


def in_blocks(
    draw: Callable[[Array], Array],
    count: int,
    block: int,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Computes the rows ``0 … count - 1`` block by block and gathers them in host memory.

    A block is rounded up to a multiple of the local devices, and the last one is filled with
    repeats of the last row: all blocks have one shape, so one compiled program serves them all.
    At most two blocks are on the devices at a time, one of them still being computed.

    Args:
      draw: maps row numbers ``(size,)``, int32 and spread over the devices, to results
        ``(size, …)``. A row must depend on its number alone.
      count: the number of rows, at least 1.
      block: rows per block, at least 1.
      progress: called after each block with the rows that are done, and ``count``.

    Returns:
      The results ``(count, …)``.

    Raises:
      PacodiError: for a count or a block below 1.

    Example:
      >>> in_blocks(lambda rows: rows**2, 5, block=2)
      array([ 0,  1,  4,  9, 16], dtype=int32)
    """
    for name, value in (("count", count), ("block", block)):
        if value < 1:
            raise PacodiError(f"{name}={value}; accepted: 1, 2, 3, …")
    gathered: list[np.ndarray] = []

    def gather(result: Array) -> None:
        gathered.append(np.asarray(result))
        if progress is not None:
            progress(min(len(gathered) * len(gathered[0]), count), count)

    results = map(draw, _row_blocks(count, block))
    current = next(results)
    for following in results:  # already dispatched while the current block is copied to the host
        gather(current)
        current = following
    gather(current)
    return np.concatenate(gathered)[:count]


def block_size(count: int, block: int) -> int:
    """Rows per block of ``count`` rows: ``block``, or all of them, rounded up to local devices."""
    devices = jax.local_device_count()
    return -(-min(block, count) // devices) * devices


def rows_of_blocks(rows: range, count: int, block: int) -> np.ndarray:
    """The rows of the blocks in which :func:`in_blocks` of ``count`` rows computes some of them.

    Whoever computes these rows in blocks of that size gets the same bits: a row's last digits may
    depend on the size of its block and on its place there.
    """
    size = block_size(count, block)
    first, last = rows.start // size * size, -(-rows.stop // size) * size
    return np.minimum(np.arange(first, last), count - 1)


def _row_blocks(count: int, block: int) -> Iterator[Array]:
    """Yields the row numbers of each block, spread over the local devices."""
    devices = jax.local_devices()
    spread = NamedSharding(Mesh(np.asarray(devices), _AXIS), PartitionSpec(_AXIS))
    size = block_size(count, block)
    for first in range(0, count, size):
        rows = np.minimum(np.arange(first, first + size, dtype=np.int32), count - 1)
        yield jax.device_put(rows, spread)
