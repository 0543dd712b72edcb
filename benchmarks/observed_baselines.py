"""What answers observed values without this library's update: the baselines of bench_observed.

All work in the model's scale. ``seen`` is bool, True where a cell was observed.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core.conditioning import from_rows, to_rows
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.types import Array, Denoiser, Guide, Key, Prediction, Quadratures, Schedule

#: Added to the variance of what is observed, as a share of the mean variance.
_RIDGE = 1e-6


class Gaussian(NamedTuple):
    """The Gaussian law of training windows, and of what else is known of each.

    Attributes:
      mean: ``(L·C + E,)``.
      covariance: ``(L·C + E, L·C + E)``.
    """

    mean: np.ndarray
    covariance: np.ndarray


class Normal(NamedTuple):
    """The law of a window's hidden cells, in row-major order: means ``(N, H)``, one covariance."""

    mean: np.ndarray
    covariance: np.ndarray


def _flat(windows: np.ndarray, condition: np.ndarray | None) -> np.ndarray:
    flat = windows.reshape(len(windows), -1).astype(np.float64)
    return flat if condition is None else np.concatenate([flat, condition], axis=1)


def fit(windows: np.ndarray, condition: np.ndarray | None = None) -> Gaussian:
    """Mean and covariance of ``(M, L, C)`` windows, jointly with conditions ``(M, E)`` if given."""
    flat = _flat(windows, condition)
    mean = flat.mean(axis=0)
    flat -= mean
    return Gaussian(mean, flat.T @ flat / len(flat))


def given(
    law: Gaussian, windows: np.ndarray, seen: np.ndarray, condition: np.ndarray | None = None
) -> Normal:
    """The Gaussian conditional: m_h + S_ho S_oo⁻¹ (x_o − m_o) and S_hh − S_ho S_oo⁻¹ S_oh.

    Args:
      law: from :func:`fit`.
      windows: ``(N, L, C)``; hidden cells are not read.
      seen: ``(L, C)``, shared by the windows.
      condition: ``(N, E)``, as fitted.
    """
    known = np.concatenate([seen.ravel(), np.ones(len(law.mean) - seen.size, bool)])
    hidden, s = ~known, law.covariance
    inside = s[np.ix_(known, known)].copy()
    inside[np.diag_indices(len(inside))] += _RIDGE * np.trace(s) / len(s)
    gain = np.linalg.solve(inside, s[np.ix_(known, hidden)]).T
    residual = _flat(windows, condition)[:, known] - law.mean[known]
    spread = s[np.ix_(hidden, hidden)] - gain @ s[np.ix_(known, hidden)]
    return Normal(law.mean[hidden] + residual @ gain.T, spread)


def draw(rng: np.random.Generator, law: Normal, draws: int) -> np.ndarray:
    """Draws of the hidden cells, ``(draws, N, H)``."""
    values, vectors = np.linalg.eigh(law.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    white = rng.standard_normal((draws, *law.mean.shape))
    return law.mean + white @ root.T


def interpolate(windows: np.ndarray, seen: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Linear in time per channel, the nearest value at the ends, the train mean without any.

    Args:
      windows: ``(N, L, C)``.
      seen: ``(N, L, C)``.
      mean: ``(C,)``, of train.
    """
    filled = np.broadcast_to(mean, windows.shape).astype(np.float64).copy()
    steps = np.arange(windows.shape[1])
    for n, c in np.argwhere(seen.any(axis=1)):
        known = seen[n, :, c]
        filled[n, :, c] = np.interp(steps, steps[known], windows[n, known, c])
    return filled


def seasonal(windows: np.ndarray, hidden: int, season: int) -> np.ndarray:
    """The last ``hidden`` steps repeat the last season before them."""
    first = windows.shape[1] - hidden
    filled = windows.astype(np.float64).copy()
    for step in range(first, windows.shape[1]):
        filled[:, step] = filled[:, step - season]
    return filled


def replacement(
    key: Key, values: Array, seen: Array, schedule: Schedule, coding: LevelCoding
) -> Guide:
    """RePaint's floor: x_t ← α x_a + σ ε in observed cells before each evaluation, ε fresh.

    Observed cells of the clean estimate become x_a after it, and ε̂ = (x_t − α x̂₀)/σ holds for
    the solver's own state, so that any solver, multistep or not, steps from what was replaced.

    Args:
      key: of the noise, one per draw.
      values: ``(L, C)``; hidden cells are not read.
      seen: ``(L, C)``.
      schedule: of the process.
      coding: of the model's windows; a window must be its rows.
    """

    def put(spectrum: Quadratures, known: Array) -> Quadratures:
        return from_rows(jnp.where(seen, known, to_rows(spectrum, coding)), coding)

    def guide(denoiser: Denoiser) -> Denoiser:
        def guided(state: Quadratures, t: Array) -> Prediction:
            alpha, sigma = schedule.alpha(t), schedule.sigma(t)
            at = jax.lax.bitcast_convert_type(jnp.asarray(t, jnp.float32), jnp.uint32)
            noise = jax.random.normal(jax.random.fold_in(key, at), values.shape)
            replaced = put(state, alpha * values + sigma * noise)
            clean = put(denoiser(replaced, t).clean, values)
            return Prediction(
                jax.tree.map(lambda x, c: (x - alpha * c) / sigma, state, clean), clean
            )

        return guided

    return guide
