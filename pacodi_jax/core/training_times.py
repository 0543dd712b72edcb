"""At which times a model trains."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from pacodi_jax.core.solvers import time_grid
from pacodi_jax.core.wiener import Moments
from pacodi_jax.types import Array, Key, Quadratures, Schedule

TIMES = ("uniform", "log_snr", "angle")
_QUANTILES = 1025

#: ``(step_key, example_keys, slot) -> (B,)`` times in [t_min, 1].
TimeSampler = Callable[[Key, Key, Array], Array]


def time_sampler(
    name: str,
    schedule: Schedule,
    moments: Moments,
    variance: Quadratures,
    *,
    strata: int | None,
    discrete_steps: int | None,
) -> TimeSampler:
    """Draws training times that are uniform on a clock: t itself, log-SNR, or the mean angle.

    Args:
      name: of the clock, as in :func:`pacodi_jax.core.solvers.time_grid`.
      schedule: the noise schedule.
      moments: of the training spectra, for ``angle``.
      variance: the noise law, for ``angle``.
      strata: the global batch size B, to draw one time in each of B equal slices of the clock,
        shifted by one offset a step (less variance between steps); None for independent times.
      discrete_steps: T, to train at t = i/T only (DDPM); None for continuous times.
    """
    quantiles = jnp.asarray(
        time_grid(name, schedule, _QUANTILES, moments=moments, variance=variance), jnp.float32
    )

    def draw(step_key: Key, example_keys: Key, slot: Array) -> Array:
        if strata is None:
            uniform = jax.vmap(jax.random.uniform)(example_keys)
        else:
            uniform = (slot / strata + jax.random.uniform(step_key)) % 1.0
        times = jnp.interp(uniform, jnp.linspace(0, 1, _QUANTILES), quantiles)
        if discrete_steps is None:
            return times
        return jnp.clip(jnp.ceil(times * discrete_steps), 1, discrete_steps) / discrete_steps

    return draw
