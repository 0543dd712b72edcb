"""What a run will cost, said before anything is compiled."""

import math
from typing import Any

import jax

from pacodi_jax.train.log import duration


def matmul_flops(jaxpr: Any) -> int:
    """Returns the floating-point operations of all matrix products in ``jaxpr``.

    2·M·N·K a product, times the length of every scan around it; a ``while`` counts once, of the
    branches of a ``cond`` the dearest. (XLA's own cost analysis counts the body of a scan once.)
    """
    return sum(_equation_flops(equation) for equation in jaxpr.eqns)


def _equation_flops(equation: Any) -> int:
    if equation.primitive.name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        depth = math.prod(shape[axis] for axis in contracted)
        return 2 * depth * math.prod(equation.outvars[0].aval.shape)
    inner = [matmul_flops(j) for j in _inner(equation.params)]
    if equation.primitive.name == "cond":
        return max(inner, default=0)
    return sum(inner) * equation.params.get("length", 1)


def _inner(params: dict[str, Any]) -> list[Any]:
    """Returns the jaxprs among the parameters of an equation."""
    found = []
    for value in jax.tree.leaves(list(params.values()), is_leaf=_is_jaxpr):
        if _is_jaxpr(value):
            found.append(getattr(value, "jaxpr", value))
    return found


def _is_jaxpr(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")


def count(tree: Any) -> int:
    """Returns how many numbers a tree of arrays holds."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def size(tree: Any) -> int:
    """Returns how many bytes a tree of arrays holds."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def before(state: Any, data: Any, flops: int) -> str:
    """Returns the line said before compiling.

    Args:
      state: the training state, with its ``params``.
      data: what lies on each device beside it.
      flops: of one step, over the global batch.
    """
    devices = jax.device_count()
    kind = jax.devices()[0].platform.upper()
    return (
        f"{count(state.params):,} parameters; {flops / 1e9:.3g} GFLOP a step in matrix products; "
        f"{size(state) / 1e6:.1f} MB of state and {size(data) / 1e6:.1f} MB of data on each of "
        f"{devices} {kind} device{'s' if devices > 1 else ''}"
    )


def after(steps: int, seconds: float, left: int, windows: int) -> str:
    """Returns the line said once the first ``steps`` steps were timed.

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
