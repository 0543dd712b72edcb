"""Batches as a pure function of seed and step: resuming needs no iterator state.

Every example is seen once per epoch, each epoch in an order of its own. No permutation is stored: a
keyed Feistel network permutes the positions of an epoch one by one.
"""

import zlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.data.condition_parts import PartDropout
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array

_ROUNDS = 6


def indices(seed: int, step: Array | int, batch: int, count: int) -> Array:
    """Returns which of ``count`` examples step ``step`` sees: ``(batch,)`` int32.

    Position ``p = step·batch + j`` belongs to epoch ``p // count``, and the epoch's own
    permutation says which example that is. So every run of ``count`` positions that begins an epoch
    holds each example once. The one batch that straddles two epochs may hold an example twice.

    Args:
      seed: of the order; static.
      step: from 0, may be traced.
      batch: examples per step; static.
      count: examples in all; static, below 2**30.

    Returns:
      Numbers below ``count``.
    """
    _check(batch, count)
    epoch, position = _divide(jnp.asarray(step, jnp.uint32), batch, count)
    position = position + jnp.arange(batch, dtype=jnp.uint32)
    epoch = epoch + position // np.uint32(count)
    position = position % np.uint32(count)

    def walk(state: tuple[Array, Array]) -> tuple[Array, Array]:
        value, outside = state
        value = jnp.where(outside, permute(jnp, seed, epoch, value, count), value)
        return value, value >= np.uint32(count)

    start = (position, jnp.ones(position.shape, bool))
    value, _ = jax.lax.while_loop(lambda state: state[1].any(), walk, start)
    return value.astype(jnp.int32)


def host_indices(seed: int, step: int, batch: int, count: int) -> np.ndarray:
    """The same as :func:`indices`, in numpy, for readers that gather on the host."""
    _check(batch, count)
    position = step * batch + np.arange(batch, dtype=np.int64)
    epoch = (position // count).astype(np.uint32)
    value = permute(np, seed, epoch, (position % count).astype(np.uint32), count)
    while (outside := value >= count).any():
        value = np.where(outside, permute(np, seed, epoch, value, count), value)
    return value.astype(np.int32)


@dataclass(frozen=True)
class Order:
    """Which windows each step sees, on the devices and on the host alike.

    Attributes:
      seed: of the order.
      batch: windows per step.
      total: windows in all.
    """

    seed: int
    batch: int
    total: int

    def __call__(self, step: Array | int) -> Array:
        """Those of one step, ``(batch,)``; jittable."""
        return indices(self.seed, step, self.batch, self.total)

    def block(self, number: int, steps: int) -> np.ndarray:
        """Those of the ``number``-th run of ``steps`` steps, ``(steps, batch)``, on the host."""
        chosen = host_indices(self.seed, number, steps * self.batch, self.total)
        return chosen.reshape(steps, self.batch)


def permute(xp: Any, seed: int, epoch: Any, value: Any, count: int) -> Any:
    """One pass of the keyed Feistel network on ``[0, 4^h)``, the smallest such range over count.

    A bijection for every ``seed`` and ``epoch``; values that leave ``[0, count)`` are passed
    through again until they come back (cycle walking), which keeps it one.
    """
    half = max((max(count - 1, 1).bit_length() + 1) // 2, 1)
    mask = np.uint32(2**half - 1)
    left, right = value >> np.uint32(half), value & mask
    key = _mix(epoch + np.uint32(zlib.crc32(str(seed).encode())))
    for number in range(_ROUNDS):
        salt = np.uint32((0x9E3779B9 * (number + 1)) & 0xFFFFFFFF)
        left, right = right, left ^ (_mix(right ^ _mix(key + salt)) & mask)
    return (left << np.uint32(half)) | right


def _mix(x: Any) -> Any:
    """A 32-bit finaliser: every input bit flips every output bit about half the time."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def _check(batch: int, count: int) -> None:
    if not 0 < count < 2**30 or batch < 1:
        raise PacodiError(
            f"batch={batch}, count={count}: accepted are 1 or more of 1 … 2**30 examples"
        )


def _divide(step: Array, batch: int, count: int) -> tuple[Array, Array]:
    """``divmod(step · batch, count)`` in 32 bits, bit by bit of ``step``, without overflow."""
    pairs = [divmod(batch << bit, count) for bit in range(32)]
    wholes = jnp.array([whole & 0xFFFFFFFF for whole, _ in pairs], jnp.uint32)
    parts = jnp.array([part for _, part in pairs], jnp.uint32)

    def add(bit: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        quotient, rest = state
        on = (step >> bit.astype(jnp.uint32)) & np.uint32(1)
        rest = rest + on * parts[bit]
        carry = (rest >= np.uint32(count)).astype(jnp.uint32)
        return quotient + on * wholes[bit] + carry, rest - carry * np.uint32(count)

    return jax.lax.fori_loop(0, 32, add, (jnp.uint32(0), jnp.uint32(0)))


class Resident(NamedTuple):
    """A part of a split on the device: one array of rows, and where each window begins.

    A pytree, so that it can be an argument of the jitted step; windows are gathered inside it and
    never stored, which takes ``length / stride`` times less memory than an array of windows.

    Attributes:
      series: ``(T, C)`` float32.
      starts: ``(N,)`` int32.
      condition: ``(N, E)`` float32 or ``None``.
      offsets: ``(L,)`` int32, the steps of a window.
      oversampled: ``(N,)`` bool, oversampled rare examples, or ``None``; their condition is never
        dropped.
      dropout: how parts of conditions are left out, or ``None``.
    """

    series: Array
    starts: Array
    condition: Array | None
    offsets: Array
    oversampled: Array | None = None
    dropout: PartDropout | None = None

    @property
    def size(self) -> int:
        """How many windows there are."""
        return self.starts.shape[0]

    def take(self, chosen: Array) -> tuple[Array, Array | None]:
        """Gathers windows ``(B, L, C)`` and conditions ``(B, E)`` by ``(B,)`` indices; jittable."""
        rows = self.starts[chosen][:, None] + self.offsets
        return self.series[rows], None if self.condition is None else self.condition[chosen]


def part_dropout(windows: WindowSet, share: float, seed: int) -> PartDropout | None:
    """How parts of these windows' conditions are left out; ``None`` where there are no parts.

    Args:
      windows: the part of a split.
      share: how often each part is left out.
      seed: of these draws.
    """
    places = windows.parts()
    if places is None:
        return None
    return PartDropout(jnp.asarray(places), jnp.float32(share), jnp.uint32(seed))


def resident(windows: WindowSet, *, dropout: float = 0.0, seed: int = 0) -> Resident:
    """Puts a window set on the default device.

    Args:
      windows: the part of a split.
      dropout: how often each part of a condition that has several is left out.
      seed: of these draws.

    Returns:
      What the step gathers from. Rows that none of its windows touch are left behind.
    """
    starts = windows.starts.astype(np.int64)
    low, high = int(starts.min()), int(starts.max()) + windows.length
    if high - low >= 2**31:
        raise PacodiError("more than 2**31 rows do not fit one device array; set data.stream=on")
    condition, oversampled = windows.condition(), windows.oversampled()
    return Resident(
        jnp.asarray(windows.series[low:high]),
        jnp.asarray((starts - low).astype(np.int32)),
        None if condition is None else jnp.asarray(condition),
        jnp.arange(windows.length, dtype=jnp.int32),
        None if oversampled is None else jnp.asarray(oversampled),
        part_dropout(windows, dropout, seed),
    )
