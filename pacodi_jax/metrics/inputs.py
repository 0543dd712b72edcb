"""What may be scored: finite windows, alike in length and channels, enough of them."""

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from pacodi_jax.errors import PacodiError

_Result = TypeVar("_Result")


def check_windows(name: str, windows: np.ndarray, at_least: int = 1) -> np.ndarray:
    """Returns ``windows`` as a finite float array ``(N, L, C)``.

    Args:
      name: how the caller calls this set, for example ``"synthetic"``.
      windows: ``(N, L, C)``, or ``(N, L)`` for a single channel.
      at_least: how many windows are needed.

    Raises:
      PacodiError: for another rank, too few windows, or a value that is not finite.
    """
    array = np.asarray(windows)
    if array.dtype.kind not in "biuf":
        raise PacodiError(f"{name} holds {array.dtype}, not numbers")
    array = array[..., None] if array.ndim == 2 else array
    if array.ndim != 3 or 0 in array.shape[1:]:
        raise PacodiError(
            f"{name} has shape {np.shape(windows)}; expected (windows, length, channels)"
        )
    if len(array) < at_least:
        raise PacodiError(f"{name} has {len(array)} windows; at least {at_least} are needed")
    array = array if array.dtype.kind == "f" else array.astype(np.float32)
    if not np.isfinite(array).all():
        window, step, channel = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise PacodiError(
            f"{name} has {array[window, step, channel]} in window {window}, step {step}, channel "
            f"{channel}; fill or drop what is missing first"
        )
    return array


def check_alike(name: str, windows: np.ndarray, real: np.ndarray) -> None:
    """Refuses windows whose length or number of channels is not that of the real ones."""
    for axis, what in ((1, "steps"), (2, "channels")):
        if windows.shape[axis] != real.shape[axis]:
            raise PacodiError(
                f"{name} windows have {windows.shape[axis]} {what} but real ones have "
                f"{real.shape[axis]}; shapes (windows, steps, channels) are {windows.shape} "
                f"and {real.shape}"
            )


def canonical(windows: np.ndarray) -> np.ndarray:
    """Returns ``windows`` in the order of a hash of their contents.

    A score then does not depend on the order of the file: the same windows go to train and test.
    """
    rows = np.ascontiguousarray(windows).reshape(len(windows), -1)
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return windows[np.argsort(np.array(digests, "S8"), kind="stable")]


def checked(
    at_least: int = 1,
) -> Callable[
    [Callable[..., _Result]],
    Callable[..., _Result],
]:
    """Decorates a score ``(real, synthetic, *, …)`` so that bad windows are named errors.

    The windows reach the score in their canonical order.
    """

    def decorate(score: Callable[..., _Result]) -> Callable[..., _Result]:
        @functools.wraps(score)
        def checking(real: np.ndarray, synthetic: np.ndarray, **options: object) -> _Result:
            real = check_windows("real", real, at_least)
            synthetic = check_windows("synthetic", synthetic, at_least)
            check_alike("synthetic", synthetic, real)
            return score(canonical(real), canonical(synthetic), **options)

        return checking

    return decorate


class Scale(NamedTuple):
    """The affine map, per channel, that takes the real windows to [0, 1]."""

    low: np.ndarray
    span: np.ndarray

    def apply(self, windows: np.ndarray) -> np.ndarray:
        """Scales ``windows (N, L, C)``; only the real ones are sure to lie in [0, 1]."""
        return ((windows - self.low) / self.span).astype(np.float32)


def fit_scale(real: np.ndarray, names: Sequence[str] | None = None) -> Scale:
    """Returns the min–max scale of ``real (N, L, C)``.

    Args:
      real: the windows.
      names: of the channels, for the error; numbers by default.

    Raises:
      PacodiError: naming a channel that never changes, since it cannot be scaled.
    """
    low = real.min(axis=(0, 1)).astype(np.float64)
    span = real.max(axis=(0, 1)).astype(np.float64) - low
    for channel in map(int, np.flatnonzero(span <= 0)):
        name = names[channel] if names else channel
        raise PacodiError(
            f"channel {name} of the real windows is constant ({low[channel]:g}); "
            "leave it out of all sets: there is nothing to score"
        )
    return Scale(low, span)
