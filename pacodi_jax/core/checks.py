"""Checks at the public edges: shapes always, values only outside ``jit``."""

from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Quadratures


def is_concrete(value: Any) -> bool:
    """Whether ``value`` holds numbers rather than a tracer."""
    return not isinstance(value, jax.core.Tracer)


def check_rank(name: str, array: Any, rank: int, shape: str) -> None:
    """Refuses an array whose rank is not ``rank``; ``shape`` says what is expected."""
    if jnp.ndim(array) != rank:
        raise PacodiError(
            f"{name} has shape {jnp.shape(array)}; expected {shape}. "
            "Functions take one window: lift them to a batch with jax.vmap."
        )


def check_array(
    name: str, array: Any, shape: tuple[int | None, ...], kind: type, expected: str
) -> None:
    """Refuses an array of another shape or kind of numbers, before it broadcasts.

    Args:
      name: how the caller calls it.
      array: of numpy or JAX, or a tracer.
      shape: sizes; None stands for any.
      kind: ``float``, ``int`` or ``bool``, of whatever precision.
      expected: the shape and kind in words.
    """
    try:
        chex.assert_shape(array, shape)
        chex.assert_type(array, kind)
    except AssertionError as error:
        found = f"shape {jnp.shape(array)} of {getattr(array, 'dtype', type(array).__name__)}"
        raise PacodiError(f"{name} has {found}; expected {expected}.") from error


def check_finite(name: str, array: Any) -> None:
    """Refuses concrete arrays with NaN or infinite entries and says where the first one is."""
    if is_concrete(array) and not np.isfinite(np.asarray(array)).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(np.asarray(array)))[0])
        raise PacodiError(
            f"{name} has the value {np.asarray(array)[where]} at index {where}; "
            "only finite numbers are accepted: fill or cut missing values first."
        )


def check_length(length: Any) -> int:
    """Returns ``length`` as an int; refuses anything but a whole number from 1 up."""
    if not isinstance(length, int | np.integer) or length < 1:
        raise PacodiError(f"length={length!r} is not a window length; accepted: 1, 2, 3, …")
    return int(length)


def check_spectrum(name: str, spectrum: Quadratures, bins: int | None = None) -> None:
    """Refuses a half spectrum whose parts differ in shape, have no channel axis, or miss bins."""
    check_rank(f"{name}.real", spectrum.real, 2, "(K, C)")
    if jnp.shape(spectrum.real) != jnp.shape(spectrum.imag):
        raise PacodiError(
            f"{name}.real has shape {jnp.shape(spectrum.real)} but {name}.imag "
            f"{jnp.shape(spectrum.imag)}; both parts must have one shape (K, C)."
        )
    if bins is not None and spectrum.real.shape[0] != bins:
        raise PacodiError(
            f"{name} has {spectrum.real.shape[0]} bins where {bins} are expected; "
            "a window of length L has L // 2 + 1."
        )


def check_alike(**trees: Any) -> None:
    """Refuses trees that differ in structure or in the shape of a leaf, before they broadcast."""
    try:
        chex.assert_trees_all_equal_shapes(*trees.values())
    except AssertionError as error:
        _, _, found = " ".join(str(error).split()).partition("failed: ")
        raise PacodiError(f"{' and '.join(trees)} must have the same shapes. {found}") from error


def check_noise_law(variance: Quadratures, channels: int) -> None:
    """Refuses a noise law that has neither one column nor one per channel."""
    for part in variance:
        if jnp.ndim(part) != 2 or jnp.shape(part)[1] not in (1, channels):
            raise PacodiError(
                f"variance has a part of shape {jnp.shape(part)}; expected (K, 1) or "
                f"(K, {channels}) for channels={channels}."
            )


def check_count(count: Any, name: str = "count") -> int:
    """Returns a number of steps, windows or what else is counted by that name.

    Raises:
      PacodiError: for anything but a whole number from 1 up.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise PacodiError(f"{name}={count!r}; accepted: 1, 2, 3, …")
    return int(count)


def check_times(times: Any, *, rising: bool = False) -> None:
    """Refuses a time grid that is empty; a concrete one also if it leaves (0, 1] or does not fall.

    The times of the forward process (``rising``) must rise, and may start at 0.
    """
    check_rank("times", times, 1, "(steps,)")
    if jnp.shape(times)[0] == 0:
        raise PacodiError("times is empty; at least one time in (0, 1] is needed.")
    if not is_concrete(times):
        return
    grid = np.asarray(times)
    check_finite("times", grid)
    if grid.max() > 1 or grid.min() < 0 or (grid.min() == 0 and not rising):
        accepted = "[0, 1]" if rising else "(0, 1]"
        raise PacodiError(
            f"times lie between {grid.min():g} and {grid.max():g}; accepted: values in {accepted}."
        )
    process, way, order = (
        ("forward", "rise", "increasing") if rising else ("reverse", "fall", "decreasing")
    )
    wrong = np.flatnonzero(np.diff(grid) * (1 if rising else -1) <= 0)
    if wrong.size:
        i = int(wrong[0])
        raise PacodiError(
            f"times do not {way}: times[{i}]={grid[i]:g}, times[{i + 1}]={grid[i + 1]:g}; "
            f"the {process} process needs strictly {order} times."
        )
