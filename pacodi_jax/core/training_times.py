"""The distribution of diffusion times in training."""

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
    """Returns a sampler of times that are uniform in t, in log-SNR or in the mean Wiener angle.

    Args:
      name: ``uniform``, ``log_snr`` or ``angle``, as in :func:`pacodi_jax.core.solvers.time_grid`.
      schedule: the noise schedule.
      moments: of the training spectra, for ``angle``.
      variance: the noise law, for ``angle``.
      strata: the global batch size B, for stratified times: one in each of B equal intervals, all
        shifted by one random offset per step, so that steps vary less. None for independent times.
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
