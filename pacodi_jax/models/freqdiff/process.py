"""The state that FreqDiff diffuses, its noise and its sampler; all for one window."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core.spectrum import to_series, to_spectrum
from pacodi_jax.types import Array, Key, Quadratures

#: Where time ends instead of 0.
T_MIN = 1e-5
_BETA_MIN, _BETA_MAX = 0.1, 20.0

#: ``(x (L, C), t) -> score``.
Score = Callable[[Array, Array], Array]


def to_slots(window: Array) -> Array:
    """Real parts of bins 0…⌊L/2⌋, then the imaginary parts that are not always 0: ``(L, C)``."""
    real, imag = to_spectrum(window)
    return jnp.concatenate([real, imag[1 : 1 + len(window) - len(real)]])


def from_slots(slots: Array) -> Array:
    """The way back from :func:`to_slots`."""
    length = len(slots)
    real, inner = jnp.split(slots, [length // 2 + 1])
    ends = (1, len(real) - 1 - len(inner))
    return to_series(Quadratures(real, jnp.pad(inner, (ends, (0, 0)))), length)


def noise_scale(length: int) -> np.ndarray:
    """G: 1/√2, but 1 at DC and, if L is even, at Nyquist. Shape ``(L, 1)``."""
    scale = np.full((length, 1), 0.5**0.5, np.float32)
    scale[0] = 1.0
    if length % 2 == 0:
        scale[length // 2] = 1.0
    return scale


def beta(t: Array) -> Array:
    """β(t), linear from 0.1 to 20."""
    return _BETA_MIN + t * (_BETA_MAX - _BETA_MIN)


def marginal(t: Array, length: int) -> tuple[Array, Array]:
    """The factor of the clean state, and the deviations ``(L, 1)`` of the noise, at time t."""
    log = -0.25 * t**2 * (_BETA_MAX - _BETA_MIN) - 0.5 * t * _BETA_MIN
    return jnp.exp(log), jnp.sqrt(-jnp.expm1(2 * log)) * noise_scale(length)


def loss(score: Array, noise: Array, deviation: Array) -> Array:
    """Mean of (s + ε/std)² over slots and channels, over tr(Σ_t⁻¹) = Σ_l 1/std_l².

    Args:
      score: s, ``(L, C)``.
      noise: ε of unit variance.
      deviation: std, ``(L, 1)``.
    """
    return jnp.mean((score + noise / deviation) ** 2) / jnp.sum(deviation**-2)


def draw(score: Score, key: Key, shape: tuple[int, int], steps: int) -> Array:
    """Euler–Maruyama on dx = [−½βx − βG² s] dt + √β G dw from t = 1 down, noise in every step.

    Times are linspace(1, 1e-5, S) and the step is their distance, so that S evaluations go one step
    beyond the end, as in the release. The noise of step i comes from ``fold_in(key, i)``.
    """
    start_key, step_key = jax.random.split(key)
    scale = jnp.asarray(noise_scale(shape[0]))
    times = np.linspace(1.0, T_MIN, steps)
    width = np.float32((1.0 - T_MIN) / max(steps - 1, 1))

    def step(x: Array, now: tuple[Array, Array]) -> tuple[Array, None]:
        index, t = now
        rate = beta(t)
        drift = -0.5 * rate * x - rate * scale**2 * score(x, t)
        noise = jax.random.normal(jax.random.fold_in(step_key, index), shape)
        return x - width * drift + jnp.sqrt(width * rate) * scale * noise, None

    start = scale * jax.random.normal(start_key, shape)
    return jax.lax.scan(step, start, (jnp.arange(steps), jnp.asarray(times, jnp.float32)))[0]
