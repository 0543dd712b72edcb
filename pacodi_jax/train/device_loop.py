"""Many steps in one dispatch: the part of training that runs on the devices."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.models import Batch, Generator
from pacodi_jax.types import Array


class Sums(NamedTuple):
    """Metrics summed over the steps at which they were finite."""

    total: dict[str, Array]
    steps: dict[str, Array]


def _zeros(metrics: Any) -> Sums:
    zero = {name: jnp.zeros((), jnp.float32) for name in metrics}
    return Sums(zero, dict(zero))


def _add(sums: Sums, metrics: dict[str, Array]) -> Sums:
    finite = jax.tree.map(jnp.isfinite, metrics)
    total = jax.tree.map(lambda s, m, ok: s + jnp.where(ok, m, 0.0), sums.total, metrics, finite)
    return Sums(total, jax.tree.map(lambda c, ok: c + ok, sums.steps, finite))


def chunk(
    generator: Generator, batch: Callable[[Any, Array], Batch], max_skips: int
) -> Callable[[Any, Any, Array], tuple[Any, Sums]]:
    """Returns the per-device function ``(state, data, count) -> (state, sums)`` of many steps.

    How many is an argument, not a constant: one compiled program serves every length, so where
    chunks are cut changes nothing, and a resumed run repeats an uninterrupted one bit for bit.

    Args:
      generator: its ``update`` takes one step; its state counts ``step`` and
        ``consecutive_skips``.
      batch: ``batch(data, step)``, this device's share of a step's batch.
      max_skips: stop the chunk after so many skipped steps in a row.
    """

    @jax.jit  # traced once, for its shapes and for the loop
    def one(state: Any, data: Any) -> tuple[Any, dict[str, Array]]:
        state, metrics = generator.update(state, batch(data, state.step))
        return state, parallel.average(metrics)

    def run(state: Any, data: Any, count: Array) -> tuple[Any, Sums]:
        def more(carry: tuple[Array, Any, Sums]) -> Array:
            done, state, _ = carry
            return (done < count) & (state.consecutive_skips < max_skips)

        def body(carry: tuple[Array, Any, Sums]) -> tuple[Array, Any, Sums]:
            done, state, sums = carry
            state, metrics = one(state, data)
            return done + 1, state, _add(sums, metrics)

        sums = _zeros(jax.eval_shape(one, state, data)[1])
        _, state, sums = jax.lax.while_loop(more, body, (jnp.int32(0), state, sums))
        return state, sums

    return run


def means(sums: Sums) -> dict[str, float]:
    """Returns the mean of every metric over its finite steps; NaN if it had none."""
    return {
        name: float(sums.total[name]) / float(sums.steps[name])
        if sums.steps[name]
        else float("nan")
        for name in sums.total
    }


class Tally:
    """Metrics and times gathered over chunks, until they are shown."""

    def __init__(self) -> None:
        self.sums: Sums | None = None
        self.steps = 0
        self.seconds = 0.0
        self.idle = 0.0

    def add(self, sums: Sums, steps: int, seconds: float, idle: float) -> None:
        """Adds one chunk: its metrics, steps, time, and the part of it no device worked."""
        self.sums = sums if self.sums is None else jax.tree.map(np.add, self.sums, sums)
        self.steps += steps
        self.seconds += seconds
        self.idle += idle

    def means(self) -> dict[str, float]:
        """Returns the mean of every metric."""
        return means(self.sums) if self.sums else {}
