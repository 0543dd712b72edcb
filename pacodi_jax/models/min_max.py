"""A scaler of a model's own: windows to [0, 1] and back, fitted to the training windows."""

from typing import NamedTuple

import numpy as np

from pacodi_jax.models.protocol import Arrays
from pacodi_jax.types import Array

_TINY = 1e-7


class MinMax(NamedTuple):
    """``(x − low)/(span + 10⁻⁷)``, as TimeGAN and TimeVAE have it; the way back has no 10⁻⁷.

    Attributes:
      low: the least value, of a shape that broadcasts with ``(L, C)``.
      span: the greatest less the least.
    """

    low: Array
    span: Array

    def to_unit(self, windows: Array) -> Array:
        """Windows ``(…, L, C)`` in [0, 1], as far as training windows had their values."""
        return (windows - self.low) / (self.span + _TINY)

    def from_unit(self, windows: Array) -> Array:
        """Windows ``(…, L, C)`` in the scale that the model was given."""
        return self.low + self.span * windows


def fit(windows: np.ndarray, axes: tuple[int, ...]) -> Arrays:
    """The fields of a :class:`MinMax` of windows ``(N, L, C)``, taken over some axes."""
    low, high = windows.min(axes), windows.max(axes)
    return {"low": low, "span": high - low}
