"""What a run will cost: before compiling, and again once the first steps were timed."""

import math
from typing import Any, NamedTuple

import jax

from pacodi_jax.report.numbers import duration


def count(tree: Any) -> int:
    """Returns how many numbers a tree of arrays holds."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def size(tree: Any) -> int:
    """Returns how many bytes a tree of arrays holds."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


class Memory(NamedTuple):
    """What a compiled step takes on each device, in bytes, as XLA counts it.

    Attributes:
      held: what it is given: state and data.
      added: what it takes beside them while it runs.
    """

    held: int
    added: int

    @property
    def words(self) -> str:
        """Both sizes, to be told."""
        whole, added = (self.held + self.added) / 1e6, self.added / 1e6
        return f"{whole:.1f} MB of memory, {added:.1f} of them while working,"


def of_compiled(compiled: Any) -> Memory:
    """The memory of a compiled step, known before it first runs."""
    told = compiled.memory_analysis()
    if told is None:  # a backend that does not say
        return Memory(0, 0)
    made = told.output_size_in_bytes - told.alias_size_in_bytes
    return Memory(told.argument_size_in_bytes, told.temp_size_in_bytes + made)


def before(weights: Any, state: Any, data: int, flops: int) -> str:
    """Returns the line that is shown before compiling.

    Args:
      weights: what is stored of the model.
      state: the training state.
      data: bytes that are kept on each device beside it.
      flops: of one step, over the global batch.
    """
    devices = jax.device_count()
    kind = jax.devices()[0].platform.upper()
    return (
        f"{count(weights):,} parameters; {flops / 1e9:.3g} GFLOP per step in matrix products; "
        f"{size(state) / 1e6:.1f} MB of state and {data / 1e6:.1f} MB of data on each of "
        f"{devices} {kind} device{'s' if devices > 1 else ''}"
    )


def after(steps: int, seconds: float, left: int, windows: int) -> str:
    """Returns the line that is shown once the first ``steps`` steps were timed.

    Args:
      steps: how many were timed.
      seconds: how long they took.
      left: how many are left.
      windows: the global batch.
    """
    pace = seconds / steps
    return (
        f"{steps} steps took {seconds:.2f} s: {windows / pace:,.0f} windows/s, "
        f"about {duration(pace * left)} to go"
    )
