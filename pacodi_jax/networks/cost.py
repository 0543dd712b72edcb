"""The floating-point operations of a network, counted and split by kind.

:mod:`pacodi_jax.networks.products` counts matrix products, XLA everything else.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.networks.attention import plain
from pacodi_jax.networks.backbones import DualBranch, SingleBranch, window_length
from pacodi_jax.networks.blocks import INTERACTIONS, Interaction
from pacodi_jax.networks.octaves import summary_count
from pacodi_jax.networks.products import matmul_flops
from pacodi_jax.networks.steps import from_steps, step_count, to_steps
from pacodi_jax.types import Quadratures


class Cost(NamedTuple):
    """Floating-point operations of one evaluation on one window; a multiply-add is two.

    Attributes:
      attention: the two products of attention and the softmax between them.
      linear: all products with parameters, adaLN's among them.
      transform: between bins and time steps inside the blocks.
      elementwise: norms, activations, gates and codes.
    """

    attention: float
    linear: float
    transform: float
    elementwise: float

    @property
    def total(self) -> float:
        """All operations."""
        return sum(self)


def xla_flops(function: Callable[..., Any], *arguments: Any) -> float:
    """Returns XLA's count for ``function``; the body of a loop counts once, so unroll loops."""
    analysis: Any = jax.jit(function).lower(*arguments).cost_analysis()
    return float(analysis["flops"])


def product_flops(function: Callable[..., Any], *arguments: Any) -> int:
    """Returns the operations of all matrix products of ``function`` on ``arguments``."""
    return matmul_flops(jax.make_jaxpr(function)(*arguments).jaxpr)


def of_length(network: Any, length: int) -> Any:
    """Returns ``network`` for windows of ``length`` steps; only ``DualBranch`` depends on it."""
    return network.clone(length=length) if isinstance(network, DualBranch) else network


def abstract_inputs(network: DualBranch | SingleBranch, length: int, batch: int = 1) -> tuple:
    """Returns the shapes of what ``network`` takes for windows of ``length`` steps."""
    if isinstance(network, SingleBranch):
        return _floats(batch, length, network.features), _floats(batch)
    bins = length // 2 + 1
    state = _floats(batch, bins, network.channels)
    live = _floats(bins, 1)
    return Quadratures(state, state), _floats(batch), Quadratures(live, live)


def _floats(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def count(network: DualBranch | SingleBranch, length: int) -> Cost:
    """Counts one evaluation of ``network`` on one window of ``length`` steps.

    Products with parameters are all products but those of attention and of the transform. The
    counts are the same on every platform, whether it stacks branches or copies matrices.

    Args:
      network: counted unrolled and with plain attention.
      length: L, time steps.

    Returns:
      The operations by kind.
    """
    network = of_length(network, length).clone(unroll=network.depth, attention="plain")
    inputs = abstract_inputs(network, length)
    params = jax.eval_shape(network.init, jax.random.key(0), *inputs)
    branches, slots = (1, length) if isinstance(network, SingleBranch) else (2, length // 2 + 1)
    tokens = -(-slots // network.patch_size)
    whole = _flops(network.apply, params, *inputs)
    attention = branches * network.depth * _attention_flops(network, tokens)
    transform = network.depth * _transform_flops(network, tokens)
    linear = (whole - attention - transform)[1]
    rest = (whole - attention - transform)[0] - linear
    return Cost(float(attention[0]), float(linear), float(transform[0]), float(rest))


def _flops(function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    """All operations of ``function`` by XLA's count, and those of its products."""
    return np.array([xla_flops(function, *arguments), product_flops(function, *arguments)])


def _kind(network: DualBranch | SingleBranch) -> Interaction:
    return INTERACTIONS[getattr(network, "interaction", "none")]


def _attention_flops(network: DualBranch | SingleBranch, tokens: int) -> np.ndarray:
    """The operations of attention in one branch of one block."""
    seen = summary_count(tokens) if _kind(network).octaves else tokens
    sizes = (tokens, seen, seen)
    return _flops(
        plain, *(_floats(1, network.heads, n, network.width // network.heads) for n in sizes)
    )


def _transform_flops(network: DualBranch | SingleBranch, tokens: int) -> np.ndarray:
    """The operations of the transform to time steps and back in one block."""
    if not _kind(network).steps(network.width):
        return np.zeros(2)
    count = step_count(tokens, window_length(network))
    bins, steps = _floats(1, tokens, network.width), _floats(1, count, network.width)
    there, back = partial(to_steps, count=count), partial(from_steps, bins=tokens)
    return _flops(there, bins, bins) + _flops(back, steps)
