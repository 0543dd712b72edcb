"""What a network refuses: options, shapes and dtypes that cannot work. Values are not checked."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.networks.blocks import INTERACTIONS, Branches
from pacodi_jax.types import Array

DTYPES = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}

#: The integer options of a network, and the smallest accepted value of each.
LEAST = {
    **dict.fromkeys(("channels", "features", "width", "depth", "heads", "patch_size"), 1),
    **dict.fromkeys(("condition_width", "length", "unroll"), 0),
}

#: Arguments that are two quadratures, and how to make them.
PAIRS = {
    "state": "as spectrum.to_spectrum makes them",
    "live": "for windows of L steps spectrum.noise_variance(L)",
}


def check_options(network: Any) -> None:
    """Refuses options of a network that cannot work, by name."""
    for name, least in LEAST.items():
        value = getattr(network, name, least)
        if not isinstance(value, int | np.integer) or value < least:
            raise PacodiError(f"{name}={value!r} must be a whole number and at least {least}.")
    if network.width % network.heads:
        raise PacodiError(f"heads={network.heads} must divide width={network.width}.")
    if not isinstance(network.dtype, str):
        names = " or ".join(f"dtype={name!r}" for name in DTYPES)
        raise PacodiError(f"dtype={network.dtype!r} is not a name; write {names}.")
    choose("dtype", network.dtype, DTYPES)
    choose("interaction", getattr(network, "interaction", "none"), INTERACTIONS)


def both(name: str, pair: Any) -> Branches:
    """Returns the two quadratures of ``pair``; refuses anything else."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise PacodiError(
            f"{name} is of type {type(pair).__name__}; pass Quadratures(real, imag), {PAIRS[name]}."
        )
    return tuple(pair)


def check_inputs(features: int, states: Branches, live: Branches, t: Array) -> None:
    """Refuses anything but ``(B, N, features)`` and a mask per branch, and one time per example."""
    for name, arrays in (("the state", states), ("live", live), ("t", (t,))):
        for array in arrays:
            _check_array(name, array)
    shape = states[0].shape
    fits = len(shape) == 3 and shape[-1] == features and 0 not in shape and t.shape == shape[:1]
    if not fits or any(state.shape != shape for state in states):
        raise PacodiError(
            f"the network takes (batch, slots, {features}), neither of them 0, and one time per "
            f"example; got {', '.join(str(state.shape) for state in states)} and times of "
            f"shape {t.shape}."
        )
    for mask in live:
        if mask.shape not in ((shape[1], 1), shape[1:]):
            raise PacodiError(
                f"live has shape {mask.shape}; accepted for {shape[1]} slots: "
                f"({shape[1]}, 1) or {shape[1:]}."
            )


def check_bins(length: int, bins: int) -> None:
    """Refuses a state whose bins are not those of windows of ``length``; 0 accepts any."""
    if length and length // 2 + 1 != bins:
        raise PacodiError(
            f"length={length} has {length // 2 + 1} bins; the state has {bins}. Make the network "
            "with the length of its windows."
        )


def check_condition(width: int, t: Array, condition: Array | None, drop: Array | None) -> None:
    """Refuses a condition or a drop mask that does not fit the network or the batch."""
    for name, array, shape, spare in (
        ("condition", condition, (*t.shape, width), "takes none."),
        ("drop", drop, t.shape, "has no condition to drop."),
    ):
        if array is None:
            continue
        _check_array(name, array)
        if not width or array.shape != shape:
            raise PacodiError(
                f"{name} has shape {array.shape}; a network with condition_width={width} "
                + (f"takes {shape} here." if width else spare)
            )
    if drop is not None and drop.dtype != bool:
        raise PacodiError(f"drop has dtype {drop.dtype}; pass one bool per example: drop > 0.5.")


def _check_array(name: str, array: Any) -> None:
    """Refuses anything but an array of real numbers."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        kind = type(array).__name__
        raise PacodiError(f"{name} is of type {kind}; pass an array: jnp.asarray makes one.")
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise PacodiError(
            f"{name} has dtype {array.dtype}; the network takes real numbers: pass the real and "
            "the imaginary parts as arrays of their own."
        )
