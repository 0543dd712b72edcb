"""The shared vocabulary: what flows between the layers, and what they must offer."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax

Array: TypeAlias = jax.Array
Key: TypeAlias = jax.Array


class Quadratures(NamedTuple):
    """The real and the imaginary part of a half spectrum, two real arrays of one shape.

    One window of length L with C channels has shape ``(K, C)`` a part, ``K = L // 2 + 1``.
    Being a pytree of two leaves, a branch written once maps over both with ``jax.tree.map``.
    """

    real: Array
    imag: Array


class Prediction(NamedTuple):
    """What a denoiser knows of a noisy state: the noise in it and the clean state under it.

    Both are given, since recovering one from the other divides by α(t) or σ(t).
    """

    noise: Quadratures
    clean: Quadratures


#: ``denoiser(state, t) -> Prediction`` for one window, ``t`` a scalar.
Denoiser: TypeAlias = Callable[[Quadratures, Array], Prediction]


class Schedule(NamedTuple):
    """A variance-preserving noise schedule on ``t`` in ``[t_min, 1]``: α² + σ² = 1.

    Attributes:
      alpha: α(t) = √ᾱ(t), what is left of the signal.
      sigma: σ(t) = √(1 − ᾱ(t)), the noise level.
      beta: β(t) = −d log ᾱ(t)/dt, the rate of the forward SDE.
      t_min: where sampling stops and clean estimates take over.
    """

    alpha: Callable[[Any], Array]
    sigma: Callable[[Any], Array]
    beta: Callable[[Any], Array]
    t_min: float


class Generator(Protocol):
    """What every model offers, so that training, sampling and scoring know only this."""

    def init(self, key: Key, batch: Any) -> Any:
        """Returns the initial training state for batches shaped like ``batch``."""
        ...

    def update(self, state: Any, batch: Any) -> tuple[Any, dict[str, Array]]:
        """Returns the state after one step on ``batch`` and the step's metrics."""
        ...

    def sample(self, key: Key, params: Any, count: int, condition: Any = None) -> Array:
        """Returns ``count`` windows of shape ``(count, L, C)`` in the model's own scale."""
        ...
