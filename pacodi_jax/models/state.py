"""What training carries from step to step, and what a batch is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

from pacodi_jax.types import Array


class Batch(NamedTuple):
    """Some examples of one step.

    Attributes:
      windows: ``(B, L, C)`` in the model's scale.
      slot: ``(B,)``, the examples' places in the step's global batch. Their randomness depends
        on (seed, step, slot) alone, so it is the same on any number of devices.
      condition: ``(B, E)``, or None for an unconditional model.
      oversampled: ``(B,)`` bool, oversampled examples of rare texts, whose condition is never
        dropped; or None.
    """

    windows: Any
    slot: Any
    condition: Any = None
    oversampled: Any = None


class TrainState(NamedTuple):
    """Everything a checkpoint must hold to go on bit for bit.

    Attributes:
      step: updates attempted so far.
      params: the network's parameters.
      ema: their exponential moving average, which sampling uses.
      optimiser: the optimiser's own state.
      skipped: how many steps were skipped because something was not finite.
      consecutive_skips: how many of them in a row, up to now.
      key: the data of the key from which all randomness of training derives.
    """

    step: Array
    params: Any
    ema: Any
    optimiser: Any
    skipped: Array
    consecutive_skips: Array
    key: Array


def advance(
    state: TrainState,
    gradients: Any,
    loss: Array,
    optimiser: optax.GradientTransformationExtraArgs,
    ema_decay: float | Callable[[Array], Array],
) -> TrainState:
    """One optimiser step and one step of the average; skipped whole if it is not finite.

    The average warms up: its decay at step n is min(ema_decay, (1 + n)/(10 + n)), or what
    ``ema_decay`` makes of n.
    """
    updates, optimiser_state = optimiser.update(
        gradients, state.optimiser, state.params, value=loss
    )
    # One vector instead of a tree of arrays: a quarter of the time to compile.
    before, unravel = ravel_pytree(state.params)
    average, _ = ravel_pytree(state.ema)
    after = before + ravel_pytree(updates)[0]
    fine = jnp.isfinite(_size(after)) & stays_finite(state.optimiser, optimiser_state)
    if callable(ema_decay):
        decay = ema_decay(state.step)
    else:
        decay = jnp.minimum(ema_decay, (1 + state.step) / (10 + state.step))
    return TrainState(
        step=state.step + 1,
        params=unravel(jnp.where(fine, after, before)),
        ema=unravel(jnp.where(fine, average + (1 - decay) * (after - average), average)),
        optimiser=jax.tree.map(
            lambda new, old: jnp.where(fine, new, old), optimiser_state, state.optimiser
        ),
        skipped=state.skipped + ~fine,
        consecutive_skips=jnp.where(fine, 0, state.consecutive_skips + 1),
        key=state.key,
    )


def stays_finite(before: Any, after: Any) -> Array:
    """Whether no leaf becomes NaN or infinite.

    A scalar that was infinite before may stay so: the best loss of ``reduce_on_plateau`` starts
    at infinity and keeps it while gradients accumulate.
    """
    pairs = zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
    floating = [(old, new) for old, new in pairs if jnp.issubdtype(new.dtype, jnp.floating)]
    sizes = [
        _size(new if new.ndim else jnp.where(jnp.isinf(old), 0.0, new)) for old, new in floating
    ]
    return jnp.isfinite(sum(sizes, start=jnp.zeros(())))


def _size(x: Array) -> Array:
    """One sum, which any value that is not finite poisons."""
    return jnp.sum(jnp.abs(x) * 1e-6)
