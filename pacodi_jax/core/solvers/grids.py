"""Time grids: where the denoiser is evaluated, from t = 1 down to ``schedule.t_min``."""

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core import spectrum, wiener
from pacodi_jax.core.checks import check_count, check_spectrum
from pacodi_jax.core.wiener import Moments
from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.types import Quadratures, Schedule

_DENSE = 4001
_EMPHASIS = 0.5  # power of v/V in the mean angle; an unweighted mean has 3 times the AR(1) error


def _uniform(schedule: Schedule, steps: int) -> np.ndarray:
    return np.linspace(1.0, schedule.t_min, steps)


def _quadratic(schedule: Schedule, steps: int) -> np.ndarray:
    return np.linspace(1.0, np.sqrt(schedule.t_min), steps) ** 2


def _equal_steps(clock: np.ndarray, dense: np.ndarray, steps: int) -> np.ndarray:
    """Times at equal steps of a monotone ``clock``, which is given on dense decreasing times."""
    ticks = np.linspace(clock[0], clock[-1], steps)
    order = slice(None, None, -1 if clock[-1] < clock[0] else 1)
    return np.interp(ticks, clock[order], dense[order])


def _dense_times(schedule: Schedule) -> np.ndarray:
    return np.geomspace(1.0, schedule.t_min, _DENSE)


def _log_snr(schedule: Schedule, steps: int) -> np.ndarray:
    dense = _dense_times(schedule)
    clock = np.log(np.asarray(schedule.alpha(dense)) / np.asarray(schedule.sigma(dense)))
    return _equal_steps(clock, dense, steps)


def _angle(schedule: Schedule, steps: int, moments: Moments, variance: Quadratures) -> np.ndarray:
    dense = _dense_times(schedule)
    moments, variance = jax.tree.map(lambda x: jnp.asarray(x, float), (moments, variance))
    alpha, sigma = schedule.alpha(dense), schedule.sigma(dense)
    theta = wiener.angle(alpha[:, None, None], sigma[:, None, None], moments, variance)
    weight = jax.tree.map(
        lambda v, precision: np.asarray(v * precision) ** _EMPHASIS,
        moments.variance,
        spectrum.precision(variance),
    )
    total = weight.real.sum() + weight.imag.sum()
    sums = jax.tree.map(lambda a, w: (np.asarray(a) * w).sum(axis=(1, 2)), theta, weight)
    return _equal_steps((sums.real + sums.imag) / total, dense, steps)


_BY_SCHEDULE = {"uniform": _uniform, "quadratic": _quadratic, "log_snr": _log_snr}
GRIDS = (*_BY_SCHEDULE, "angle")


def time_grid(
    name: str,
    schedule: Schedule,
    steps: int,
    *,
    moments: Moments | None = None,
    variance: Quadratures | None = None,
) -> np.ndarray:
    """Returns ``steps`` times decreasing from 1 to ``schedule.t_min``, in double precision.

    Args:
      name: ``uniform`` in t, ``quadratic`` in √t, ``log_snr`` (equal steps of log α/σ) or
        ``angle`` (equal steps of the mean Wiener angle, live slots weighted by √(v/V)).
      schedule: the noise schedule.
      steps: how many; one step is the single time 1.
      moments: of the training spectra, for ``angle``.
      variance: the noise law, for ``angle``.

    Raises:
      PacodiError: for an unknown name, no steps, or ``angle`` without moments.
    """
    choose("time grid", name, dict.fromkeys(GRIDS))
    check_count(steps, "steps")
    if steps == 1:
        return np.ones(1)
    with jax.enable_x64(True):
        if name in _BY_SCHEDULE:
            times = _BY_SCHEDULE[name](schedule, steps)
        elif moments is None or variance is None:
            raise PacodiError(
                "time grid 'angle' needs moments= and variance=: pass the fitted ones."
            )
        else:
            check_spectrum("moments.variance", moments.variance, variance.real.shape[0])
            times = _angle(schedule, steps, moments, variance)
    times[0], times[-1] = 1.0, schedule.t_min
    return times
