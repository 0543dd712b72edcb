"""Conditions of generators: their scale, and whose is dropped while training."""

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.models.protocol import Arrays
from pacodi_jax.models.state import Batch
from pacodi_jax.types import Array


def fit(condition: np.ndarray | None) -> Arrays:
    """The mean ``(E,)`` and the overall deviation ``()`` of training conditions ``(N, E)``."""
    if condition is None:
        return {}
    scale = np.maximum(condition.std(), 1e-6)
    return {"condition": {"mean": condition.mean(0), "scale": np.asarray(scale)}}


def standard(arrays: Arrays, condition: Array | None) -> Array | None:
    """Conditions in the scale that :func:`fit` found."""
    if condition is None or "condition" not in arrays:
        return condition
    found = arrays["condition"]
    return rescaled(condition, jnp.asarray(found["mean"]), jnp.asarray(found["scale"]))


def rescaled(condition: Array, mean: Array, scale: Array) -> Array:
    """Conditions ``(…, E)`` less the mean ``(E,)`` of training, over their deviation ``()``.

    Raises:
      PacodiError: for another E, of which 1 would broadcast.
    """
    if condition.shape[-1] != mean.shape[-1]:
        raise PacodiError(
            f"a condition has {condition.shape[-1]} numbers; this model was trained with "
            f"{mean.shape[-1]} per window."
        )
    return (condition - mean) / scale


def dropped(keys: Array, share: float, batch: Batch) -> Array | None:
    """Whose condition is dropped ``(B,)``: some at random, never that of an oversampled example."""
    if batch.condition is None:
        return None
    drop = jax.vmap(lambda key: jax.random.bernoulli(key, share))(keys)
    return drop if batch.oversampled is None else drop & ~batch.oversampled
