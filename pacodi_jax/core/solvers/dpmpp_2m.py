"""DPM-Solver++(2M): a multistep exponential integrator of the probability-flow ODE in log-SNR."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.types import Array, Key, Quadratures, Schedule


class Memory(NamedTuple):
    """The last step's clean estimate and its width in log-SNR; width 0 before the first step."""

    clean: Quadratures
    width: Array


def init(problem: Problem, state: Quadratures, t: Array) -> Memory:
    """The memory before the first step: no estimate, width 0."""
    return Memory(jax.tree.map(jnp.zeros_like, state), jnp.zeros_like(t))


def log_snr(schedule: Schedule, t: Array) -> Array:
    """λ(t) = log(α/σ)."""
    return jnp.log(schedule.alpha(t)) - jnp.log(schedule.sigma(t))


def extrapolate(clean: Quadratures, memory: Memory, width: Array) -> Quadratures:
    """x̂₀ extrapolated by half a step: D = x̂₀ + (h/2h₋) (x̂₀ − x̂₀₋); the first step has no slope."""
    known = memory.width > 0
    slope = jnp.where(known, width / (2 * jnp.where(known, memory.width, 1)), 0)
    return jax.tree.map(lambda new, old: new + slope * (new - old), clean, memory.clean)


def dpmpp_2m() -> StepRule:
    """x_s = (σ_s/σ_t) x_t + α_s (1 − e^{−h}) D, with h = λ_s − λ_t (Lu et al., 2022).

    Order 2, one evaluation per step, noise-free.
    """

    def step(
        problem: Problem, key: Key, carry: Memory, state: Quadratures, t: Array, s: Array
    ) -> tuple[Memory, Quadratures]:
        schedule = problem.schedule
        width = log_snr(schedule, s) - log_snr(schedule, t)
        clean = problem.denoiser(state, t).clean
        ahead = extrapolate(clean, carry, width)
        kept = schedule.sigma(s) / schedule.sigma(t)
        gained = -schedule.alpha(s) * jnp.expm1(-width)
        return Memory(clean, width), jax.tree.map(lambda x, d: kept * x + gained * d, state, ahead)

    return StepRule(step, init)
