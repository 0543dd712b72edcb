"""What enters a model of any family: shapes and dtypes, refused by name before they broadcast.

JAX clamps an index that is out of range: a condition with too few rows would repeat its last one.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pacodi_jax.core.checks import check_array
from pacodi_jax.errors import PacodiError

Prepare = Callable[[Any, np.ndarray, np.ndarray | None], Any]


def checked(prepare: Prepare) -> Prepare:
    """``prepare`` of a family, which refuses other arrays than ``(N, L, C)`` and ``(M, E)``."""

    @functools.wraps(prepare)
    def checking(settings: Any, windows: np.ndarray, condition: np.ndarray | None) -> Any:
        check_array("windows", windows, (None, None, None), float, "(N, L, C) of floats")
        if condition is not None:
            # Oversampled windows have a condition per text, and are listed once: M is N or more.
            check_array("condition", condition, (None, None), float, "(M, E) of floats")
            if len(condition) < len(windows):
                raise PacodiError(
                    f"condition has shape {condition.shape} of {condition.dtype}; expected "
                    f"({len(windows)}, E), or more rows."
                )
        return prepare(settings, windows, condition)

    return checking


def check_draw(key: Any, count: int, condition: Any) -> None:
    """Refuses keys and conditions that are not one per window.

    Raises:
      PacodiError: naming the shape that was found.
    """
    if key.ndim and key.shape != (count,):
        raise PacodiError(f"key has shape {key.shape}; expected one key, or ({count},) of them.")
    if condition is not None:
        check_array("condition", condition, (count, None), float, f"({count}, E) of floats")
