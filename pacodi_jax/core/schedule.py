"""Noise schedules: one object for both variants of the paper.

A schedule gives α(t), σ(t) and β(t) = −d log α²/dt for t in [t_min, 1], with α² + σ² = 1. The
continuous variant evaluates it anywhere; DDPM is the same object on the grid t = i/T.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pacodi_jax.core.checks import check_count
from pacodi_jax.errors import PacodiError, Registry
from pacodi_jax.types import Array, Schedule

T_MIN = 1e-4
_COSINE_END = 1e-3
_BETA_LIMIT = 0.999


def _as_time(t: ArrayLike) -> Array:
    time = jnp.asarray(t)
    return time if jnp.issubdtype(time.dtype, jnp.floating) else time.astype(float)


def _from_log_alpha_bar(
    log_alpha_bar: Callable[[Array], Array], beta: Callable[[Array], Array], t_min: float
) -> Schedule:
    """Builds a schedule from log ᾱ(t); σ = √(−expm1(log ᾱ)) stays accurate near t = 0."""
    if not 0 < t_min <= 1:
        raise PacodiError(f"t_min={t_min}; accepted: 0 < t_min <= 1.")
    return Schedule(
        alpha=lambda t: jnp.exp(0.5 * log_alpha_bar(_as_time(t))),
        sigma=lambda t: jnp.sqrt(-jnp.expm1(log_alpha_bar(_as_time(t)))),
        beta=lambda t: beta(_as_time(t)),
        t_min=t_min,
    )


def vp(beta_min: float = 0.1, beta_max: float = 20.0, t_min: float = T_MIN) -> Schedule:
    """The linear variance-preserving SDE: β(t) = β_min + t (β_max − β_min) (paper, section 4.1)."""
    if not 0 < beta_min <= beta_max:
        raise PacodiError(
            f"beta_min={beta_min}, beta_max={beta_max}; accepted: 0 < beta_min <= beta_max."
        )
    slope = beta_max - beta_min
    return _from_log_alpha_bar(
        lambda t: -(beta_min * t + 0.5 * slope * t**2), lambda t: beta_min + slope * t, t_min
    )


def cosine(offset: float = 0.008, t_min: float = T_MIN) -> Schedule:
    """The cosine schedule α(t) = cos(u(t)) / cos(u(0)), u linear in t (Nichol & Dhariwal, 2021).

    u starts at ``offset/(1+offset)·π/2`` and ends where α(1) = 1e-3 instead of 0, so that log ᾱ
    and β stay finite.
    """
    if not 0 <= offset < 1:
        raise PacodiError(f"offset={offset}; accepted: 0 <= offset < 1.")
    first = offset / (1 + offset) * np.pi / 2
    rate = float(np.arccos(_COSINE_END * np.cos(first)) - first)

    def log_alpha_bar(t: Array) -> Array:
        # cos(first + d) / cos(first) − 1 without cancellation at small d.
        d = rate * t
        drop = -2 * jnp.sin(d / 2) ** 2 - jnp.sin(d) * np.tan(first)
        return 2 * jnp.log1p(drop)

    return _from_log_alpha_bar(log_alpha_bar, lambda t: 2 * rate * jnp.tan(first + rate * t), t_min)


def ddpm_linear(steps: int = 1000, first: float = 1e-4, last: float = 0.02) -> Schedule:
    """DDPM's linear β_i from ``first`` to ``last``, rescaled by 1000/T: every T has the same end.

    This is the β_t of the paper's section 3.1 (Ho et al., 2020).
    log ᾱ is interpolated linearly between the grid points t = i/T, where it equals DDPM's
    Σ log(1 − β_j) exactly; ``t_min = 1/T`` is the first of them.
    """
    check_count(steps, "steps")
    if not 0 < first <= last < 1:
        raise PacodiError(f"first={first}, last={last}; accepted: 0 < first <= last < 1.")
    betas = np.minimum(np.linspace(first, last, steps) * (1000 / steps), _BETA_LIMIT)
    logs = np.log1p(-betas)
    knots, values = np.arange(steps + 1) / steps, np.concatenate([[0.0], np.cumsum(logs)])

    def log_alpha_bar(t: Array) -> Array:
        return jnp.interp(t, jnp.asarray(knots, t.dtype), jnp.asarray(values, t.dtype))

    def beta(t: Array) -> Array:
        segment = jnp.clip(jnp.ceil(t * steps - 1e-4).astype(jnp.int32) - 1, 0, steps - 1)
        return jnp.asarray(-steps * logs, t.dtype)[segment]

    return _from_log_alpha_bar(log_alpha_bar, beta, 1.0 / steps)


def discrete_betas(schedule: Schedule, steps: int) -> np.ndarray:
    """The DDPM form of a schedule: β_i = 1 − ᾱ(i/T)/ᾱ((i−1)/T), at most 0.999. Shape (T,)."""
    check_count(steps, "steps")
    with jax.enable_x64(True):
        alpha_bar = np.asarray(schedule.alpha(np.arange(steps + 1) / steps)) ** 2
    return np.minimum(1 - alpha_bar[1:] / alpha_bar[:-1], _BETA_LIMIT)


SCHEDULES: Registry[Callable[..., Schedule]] = Registry(
    "schedule", {"vp": vp, "cosine": cosine, "ddpm_linear": ddpm_linear}
)
