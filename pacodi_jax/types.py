"""The shared vocabulary: what flows between the layers, and what they must offer."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax

Array: TypeAlias = jax.Array
Key: TypeAlias = jax.Array


class Quadratures(NamedTuple):
    """The real and the imaginary part of a half spectrum, two real arrays of one shape.

    One window of length L with C channels has shape ``(K, C)`` per part, ``K = L // 2 + 1``.
    It is a pytree of two leaves: what is written for one part maps over both with ``jax.tree.map``.
    """

    real: Array
    imag: Array


class Prediction(NamedTuple):
    """What a denoiser estimates from a noisy state: the noise in it and the clean state.

    Both are given, since recovering one from the other divides by α(t) or σ(t).
    """

    noise: Quadratures
    clean: Quadratures


#: ``denoiser(state, t) -> Prediction`` for one window, ``t`` a scalar.
Denoiser: TypeAlias = Callable[[Quadratures, Array], Prediction]

#: ``guide(denoiser) -> denoiser``: what steers samples, by a condition or by observed values.
Guide: TypeAlias = Callable[[Denoiser], Denoiser]


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
