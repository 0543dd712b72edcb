"""The one counter of matrix products: floating-point operations of a jaxpr."""

import math
from typing import Any

from jax.extend.core import jaxprs_in_params


def matmul_flops(jaxpr: Any) -> int:
    """Returns the floating-point operations of all matrix products in ``jaxpr``.

    2·m·n·k per product, times its batch and the length of every scan around it. The body of a
    ``while`` counts once; of the branches of a ``cond`` the most expensive counts. (XLA's own cost
    analysis counts the body of a scan once.)

    Args:
      jaxpr: from ``jax.make_jaxpr(function)(*arguments).jaxpr``.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> from pacodi_jax.networks.products import matmul_flops
      >>> matmul_flops(jax.make_jaxpr(jnp.matmul)(jnp.ones((3, 4)), jnp.ones((4, 5))).jaxpr)
      120
    """
    return sum(_equation_flops(equation) for equation in jaxpr.eqns)


def largest_result(jaxpr: Any) -> int:
    """Returns the bytes of the largest results of one operation in ``jaxpr``.

    A program holds them at once with what they are made of, so it takes at least as much memory.
    """
    sizes = [0]
    for equation in jaxpr.eqns:
        results = (v.aval for v in equation.outvars if hasattr(v.aval, "shape"))
        sizes.append(sum(math.prod(a.shape) * a.dtype.itemsize for a in results))
        sizes += map(largest_result, jaxprs_in_params(equation.params))
    return max(sizes)


def _equation_flops(equation: Any) -> int:
    name, params = equation.primitive.name, equation.params
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        inner = math.prod(shape[axis] for axis in contracted)
        return 2 * inner * math.prod(equation.outvars[0].aval.shape)
    inside = [matmul_flops(jaxpr) for jaxpr in jaxprs_in_params(params)]
    if name == "cond":
        return max(inside, default=0)
    return sum(inside) * (params["length"] if name == "scan" else 1)
