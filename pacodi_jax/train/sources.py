"""Where training takes its batches from: rows on the devices, or blocks that the host reads ahead.

Both follow the same order (:class:`~pacodi_jax.data.batches.Order`), so that a run is the same, bit
for bit, whichever it has. What is on the devices flows one way: host, block, batch, step.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.data import WindowSet, batches, mapped
from pacodi_jax.data.batches import Order, Resident
from pacodi_jax.data.condition_parts import PartDropout
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Batch
from pacodi_jax.run import room
from pacodi_jax.settings import Config
from pacodi_jax.types import Array

#: A block has so many steps, or as many as fit into so many bytes; so many blocks are read ahead.
_STEPS, _BYTES, _AHEAD = 128, 1 << 26, 2
#: Rows may take this share of a device's memory; beyond it they are streamed.
_SHARE = 0.25


class Source(Protocol):
    """Batches of windows, as the engine of training knows them.

    Attributes:
      own: whether each device is handed data of its own, not the same as all others.
      steps: the data of a chunk reaches no further than the next multiple of so many steps; 0 for
        any step.
    """

    own: bool
    steps: int

    def example(self, size: int) -> Batch:
        """``size`` windows, for shapes."""
        ...

    def data(self, step: int, backend: str) -> Any:
        """What the devices need for the steps from ``step`` on, placed on them."""
        ...

    def batch(self, data: Any, step: Array) -> Batch:
        """This device's share of a step's batch; called inside the mapped step."""
        ...


class OnDevices:
    """All rows on every device, windows gathered there.

    Args:
      windows: the rows, and where windows begin.
      indices: ``indices(step) -> (B,)``, which windows make the global batch of a step.
    """

    own, steps = False, 0

    def __init__(self, windows: Resident, indices: Callable[[Array], Array]):
        _refuse_bad_rows(windows)
        self.windows, self._indices = windows, indices
        self._placed: Any = None

    def example(self, size: int) -> Batch:
        """``size`` windows, for shapes."""
        windows, condition = self.windows.take(jnp.arange(size) % self.windows.size)
        return Batch(windows, jnp.arange(size, dtype=jnp.int32), condition)

    def data(self, step: int, backend: str) -> Any:
        """The rows; they are placed once."""
        if self._placed is None:
            self._placed = parallel.replicate(self.windows, backend)
        return self._placed

    def batch(self, data: Resident, step: Array) -> Batch:
        """This device's share of a step's batch."""
        chosen = self._indices(step)
        slots = parallel.device_slice(jnp.arange(chosen.shape[0], dtype=jnp.int32))
        mine = parallel.device_slice(chosen)
        windows, condition = data.take(mine)
        oversampled = None if data.oversampled is None else data.oversampled[mine]
        return _made(windows, slots, condition, oversampled, data.dropout, step)


class Block(NamedTuple):
    """The batches of K steps, of each the share of one device.

    Attributes:
      first: the first step, ``()`` int32.
      slots: ``(b,)`` int32, the places of this share in the global batch.
      windows: ``(K, b, L, C)``.
      condition: ``(K, b, E)``, or ``None``.
      oversampled: ``(K, b)``, or ``None``.
    """

    first: Any
    slots: Any
    windows: Any
    condition: Any
    oversampled: Any


class Streamed:
    """Windows that stay on the host, or on its disk; grain's threads read blocks of them ahead.

    Each process reads what its own devices take, and nothing else. There is no state to save: the
    step says where to go on.

    Args:
      windows: the training windows.
      order: which of them each step sees.
      dropout: how parts of their conditions are left out, or ``None``.
    """

    own = True

    def __init__(self, windows: WindowSet, order: Order, dropout: PartDropout | None = None):
        self.windows, self.order, self._dropout = windows, order, dropout
        size = 4 * order.batch * windows.length * windows.channels
        self.steps = int(np.clip(_BYTES // size, 1, _STEPS))
        self._slots = _own_slots(order.batch)
        self._number, self._block = -1, None
        self._ahead: Iterator[Block] = iter(())
        mapped.expect_random(windows.series)

    def example(self, size: int) -> Batch:
        """``size`` windows, for shapes."""
        chosen = self.windows.pick(np.arange(size) % len(self.windows))
        return Batch(chosen.values(), np.arange(size, dtype=np.int32), chosen.condition())

    def data(self, step: int, backend: str) -> Any:
        """The block that holds ``step``."""
        number = step // self.steps
        if number != self._number:
            if number != self._number + 1 or self._block is None:
                self._ahead = self._read_ahead(number)
            self._number, self._block = number, parallel.spread(next(self._ahead), backend)
        return self._block

    def batch(self, data: Block, step: Array) -> Batch:
        """This device's share of a step's batch."""
        at = step - data.first
        windows, condition, oversampled = jax.tree.map(lambda part: part[at], data[2:])
        return _made(windows, data.slots, condition, oversampled, self._dropout, step)

    def _read_ahead(self, number: int) -> Iterator[Block]:
        """The blocks from ``number`` on, read by threads while devices work."""
        import grain

        options = grain.ReadOptions(num_threads=_AHEAD, prefetch_buffer_size=_AHEAD)
        numbers = grain.MapDataset.range(number, 2**31 // self.steps)
        return iter(numbers.map(self.read).to_iter_dataset(options))

    def read(self, number: int) -> Block:
        """Block ``number`` of this process, with a leading axis of its devices."""
        chosen = self.order.block(number, self.steps)[:, self._slots]  # (K, devices, b)
        chosen = np.moveaxis(chosen, 1, 0)
        taken = self.windows.pick(chosen.reshape(-1))
        parts = (taken.values(), taken.condition(), taken.oversampled())
        shaped = (None if x is None else x.reshape(*chosen.shape, *x.shape[1:]) for x in parts)
        first = np.full(len(chosen), number * self.steps, np.int32)
        mapped.release(self.windows.series)
        return Block(first, self._slots.astype(np.int32), *shaped)


def source_of(windows: WindowSet, config: Config) -> Source:
    """Where a run takes its batches from, as ``data.stream`` asks or the device's memory tells."""
    order = Order(config.seed, config.train.batch, len(windows))
    dropout, seed = config.text.dropout, config.seed
    wanted = config.data.stream
    if wanted == "on" or (wanted == "auto" and _outgrows_device(windows)):
        return Streamed(windows, order, batches.part_dropout(windows, dropout, seed))
    return OnDevices(batches.resident(windows, dropout=dropout, seed=seed), order)


def _outgrows_device(windows: WindowSet) -> bool:
    """Whether rows, first rows and conditions take more than a share of a device's memory."""
    if mapped.is_mapped(windows.series):
        return True
    size = windows.series.nbytes + 4 * len(windows) * (1 + windows.condition_width)
    memory = room.of_device()
    return memory is not None and size > _SHARE * memory


def _own_slots(batch: int) -> np.ndarray:
    """The places in the global batch that this process's devices take, ``(devices, b)``."""
    everywhere = jax.devices()
    places = np.arange(batch).reshape(len(everywhere), -1)
    return places[[everywhere.index(device) for device in jax.local_devices()]]


def _made(
    windows: Array,
    slots: Array,
    condition: Array | None,
    oversampled: Array | None,
    dropout: PartDropout | None,
    step: Array,
) -> Batch:
    """A batch, parts of its conditions left out."""
    if condition is not None and dropout is not None:
        condition = dropout.apply(condition, step, slots, oversampled)
    return Batch(windows, slots, condition, oversampled)


def _refuse_bad_rows(data: Resident) -> None:
    rows = rows_in_windows(data)
    bad = rows & ~np.isfinite(np.asarray(data.series)).all(axis=1)
    if bad.any():
        raise PacodiError(
            f"{bad.sum()} of {rows.sum()} rows in training windows hold numbers that are not "
            f"finite, the first is row {int(bad.argmax())}; fill or drop the gaps in the data."
        )


def rows_in_windows(data: Resident) -> np.ndarray:
    """Returns which rows of the series lie in some window, ``(T,)`` bool."""
    change = np.zeros(len(data.series) + 1, np.int64)
    np.add.at(change, np.asarray(data.starts), 1)
    np.add.at(change, np.asarray(data.starts) + len(data.offsets), -1)
    return np.cumsum(change[:-1]) > 0
