"""Gradient descent of the trained scores: the whole training is one compiled loop."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from pacodi_jax.types import Array


def descend(
    loss: Callable[[Any, Any], Array],
    params: Any,
    optimiser: optax.GradientTransformation,
    inputs: Any,
    *,
    averaged: bool = False,
) -> Any:
    """Minimises ``loss(params, input)``, one step for each row of ``inputs``.

    Args:
      loss: of one step.
      params: the weights before the first step.
      optimiser: an optax chain.
      inputs: arrays with one row per step.
      averaged: return the plain average of the weights over all steps instead of the last ones.
    """
    gradient = jax.grad(loss)

    def step(carry: tuple, inputs: tuple) -> tuple:
        params, moments, average = carry
        number, row = inputs
        updates, moments = optimiser.update(gradient(params, row), moments, params)
        params = optax.apply_updates(params, updates)
        if averaged:
            average = optax.incremental_update(params, average, 1.0 / (number + 2.0))
        return (params, moments, average), None

    carry = (params, optimiser.init(params), params if averaged else ())
    steps = jnp.arange(len(jax.tree.leaves(inputs)[0]))
    (last, _, average), _ = jax.lax.scan(step, carry, (steps, inputs))
    return average if averaged else last
