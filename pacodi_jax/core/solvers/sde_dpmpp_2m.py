"""SDE-DPM-Solver++(2M): the multistep exponential integrator of the reverse SDE."""

import jax
import jax.numpy as jnp

from pacodi_jax.core.solvers.dpmpp_2m import Memory, extrapolate, init, log_snr
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.core.spectrum import sample_noise
from pacodi_jax.types import Array, Key, Quadratures


def sde_dpmpp_2m() -> StepRule:
    """x_s = (σ_s/σ_t) e^{−h} x_t + α_s (1 − e^{−2h}) D + σ_s √(1 − e^{−2h}) √V ξ.

    Here h = λ_s − λ_t and D is that of :func:`~pacodi_jax.core.solvers.dpmpp_2m.dpmpp_2m`.
    Order 2 in law, one evaluation per step; exact for a constant x̂₀ (Lu et al., 2022).
    """

    def step(
        problem: Problem, key: Key, carry: Memory, state: Quadratures, t: Array, s: Array
    ) -> tuple[Memory, Quadratures]:
        schedule = problem.schedule
        width = log_snr(schedule, s) - log_snr(schedule, t)
        clean = problem.denoiser(state, t).clean
        ahead = extrapolate(clean, carry, width)
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

    return StepRule(step, init)
