"""Level and scale in the vacant DC bin, so that they are generated and not borrowed.

After instance normalisation a window has mean 0, which leaves its DC bin empty. Here the real DC
slot carries the standardised level. The imaginary DC slot, where Hermitian noise is zero, carries
the standardised log-scale and gets unit noise variance. Level and scale are then diffused and
generated with the rest. The number of tokens does not change, and sampling needs nothing from a
real window. (The authors' released code multiplies generated windows by the standard deviation of
real ones and adds their mean; see docs/explanation/divergences.md.)
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core import spectrum as _spectrum
from pacodi_jax.core.checks import check_finite, check_rank
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Quadratures

#: The soft floor of a window's scale, as a fraction of the channel's standard deviation. Quiet
#: windows are not blown up to unit variance, so that the loss is not spent on windows that hardly
#: move (docs/experiments/calibration.md compares others).
FLOOR = 0.3


class Level(NamedTuple):
    """The law of the training windows' level and log-scale, ``(C,)`` each.

    Attributes:
      mean: mean of the windows' levels.
      deviation: their standard deviation.
      log_mean: mean of the windows' log-scales.
      log_deviation: their standard deviation.
      floor: added in squares to a window's deviation, so that flat windows have a finite log-scale.
    """

    mean: Array
    deviation: Array
    log_mean: Array
    log_deviation: Array
    floor: Array


def _positive(deviation: Array) -> Array:
    return jnp.where(deviation > 0, deviation, 1)


def fit(windows: Array, floor: float = FLOOR) -> Level:
    """Fits the law of levels and log-scales to training windows ``(N, L, C)``.

    ``floor`` is a fraction of each channel's standard deviation over all windows. A level or
    log-scale that does not vary is divided by 1.
    """
    check_rank("windows", windows, 3, "(N, L, C)")
    check_finite("windows", windows)
    if not floor > 0:
        raise PacodiError(f"floor={floor}; accepted: a positive fraction, for example 0.3.")
    lowest = floor * _positive(windows.std(axis=(0, 1)))
    _, levels, scales = jax.vmap(lambda window: standardise(window, lowest))(windows)
    logs = jnp.log(scales)
    return Level(
        levels.mean(0), _positive(levels.std(0)), logs.mean(0), _positive(logs.std(0)), lowest
    )


def standardise(window: Array, floor: Array) -> tuple[Array, Array, Array]:
    """Instance normalisation: ``((x − mean)/scale, mean, scale)``, scale² = std² + floor²."""
    mean = window.mean(axis=0)
    scale = jnp.sqrt(window.var(axis=0) + floor**2)
    return (window - mean) / scale, mean, scale


def encode(window: Array, level: Level) -> Quadratures:
    """The normalised window's half spectrum with level and log-scale in its DC bin.

    Args:
      window: ``(L, C)``.
      level: fitted on train.

    Returns:
      ``(K, C)`` per part.
    """
    normalised, mean, scale = standardise(window, level.floor)
    spectrum = _spectrum.to_spectrum(normalised)
    return Quadratures(
        spectrum.real.at[0].set((mean - level.mean) / level.deviation),
        spectrum.imag.at[0].set((jnp.log(scale) - level.log_mean) / level.log_deviation),
    )


def decode(spectrum: Quadratures, level: Level, length: int) -> Array:
    """The exact inverse of :func:`encode`: a window ``(L, C)`` with its own level and scale."""
    mean = spectrum.real[0] * level.deviation + level.mean
    scale = jnp.exp(spectrum.imag[0] * level.log_deviation + level.log_mean)
    shape = Quadratures(spectrum.real.at[0].set(0), spectrum.imag.at[0].set(0))
    return _spectrum.to_series(shape, length) * scale + mean


def noise_variance(length: int) -> Quadratures:
    """The noise law with variance 1 for level and log-scale, both in DC: ``(K, 1)`` per part."""
    variance = _spectrum.noise_variance(length)
    return variance._replace(imag=variance.imag.at[0].set(1))
