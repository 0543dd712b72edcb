"""DPM-Solver++ (2M), the multistep exponential integrators, without noise and with it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.solvers.rule import Problem, StepRule
from pacodi_jax.spectrum import sample_noise
from pacodi_jax.types import Array, Key, Quadratures, Schedule


class Memory(NamedTuple):
    """The last step's clean estimate and its width in log-SNR; width 0 before the first step."""

    clean: Quadratures
    width: Array


def _init(problem: Problem, state: Quadratures, t: Array) -> Memory:
    return Memory(jax.tree.map(jnp.zeros_like, state), jnp.zeros_like(t))


def log_snr(schedule: Schedule, t: Array) -> Array:
    """λ(t) = log(α/σ)."""
    return jnp.log(schedule.alpha(t)) - jnp.log(schedule.sigma(t))


def _extrapolate(clean: Quadratures, memory: Memory, width: Array) -> Quadratures:
    """x̂₀ carried half a step ahead: D = x̂₀ + (h/2h₋) (x̂₀ − x̂₀₋); the first step has no slope."""
    known = memory.width > 0
    slope = jnp.where(known, width / (2 * jnp.where(known, memory.width, 1)), 0)
    return jax.tree.map(lambda new, old: new + slope * (new - old), clean, memory.clean)


def dpmpp_2m() -> StepRule:
    """x_s = (σ_s/σ_t) x_t + α_s (1 − e^{−h}) D, with h = λ_s − λ_t (Lu et al., 2022).

    Order 2, one evaluation a step, noise-free.
    """

    def step(
        problem: Problem, key: Key, carry: Memory, state: Quadratures, t: Array, s: Array
    ) -> tuple[Memory, Quadratures]:
        schedule = problem.schedule
        width = log_snr(schedule, s) - log_snr(schedule, t)
        clean = problem.denoiser(state, t).clean
        ahead = _extrapolate(clean, carry, width)
        kept = schedule.sigma(s) / schedule.sigma(t)
        gained = -schedule.alpha(s) * jnp.expm1(-width)
        return Memory(clean, width), jax.tree.map(lambda x, d: kept * x + gained * d, state, ahead)

    return StepRule(step, _init)


def sde_dpmpp_2m() -> StepRule:
    """x_s = (σ_s/σ_t) e^{−h} x_t + α_s (1 − e^{−2h}) D + σ_s √(1 − e^{−2h}) √V ξ.

    The stochastic member (Lu et al., 2022): exact for a constant x̂₀, second order in x̂₀'s drift.
    """

    def step(
        problem: Problem, key: Key, carry: Memory, state: Quadratures, t: Array, s: Array
    ) -> tuple[Memory, Quadratures]:
        schedule = problem.schedule
        width = log_snr(schedule, s) - log_snr(schedule, t)
        clean = problem.denoiser(state, t).clean
        ahead = _extrapolate(clean, carry, width)
        kept = schedule.sigma(s) / schedule.sigma(t) * jnp.exp(-width)
        gained = -jnp.expm1(-2 * width)
        spread = schedule.sigma(s) * jnp.sqrt(gained)
        noise = sample_noise(key, problem.variance, state.real.shape[1])
        return Memory(clean, width), jax.tree.map(
            lambda x, d, e: kept * x + schedule.alpha(s) * gained * d + spread * e,
            state,
            ahead,
            noise,
        )

    return StepRule(step, _init)
