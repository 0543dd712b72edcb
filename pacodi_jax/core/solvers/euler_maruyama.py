"""Euler–Maruyama on the reverse SDE (theorem 4.2, corrected): the paper's sampler."""

from typing import Any

import jax
import jax.numpy as jnp

from pacodi_jax.core.diffusion import reverse_drift, score_from_noise
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.core.spectrum import sample_noise
from pacodi_jax.types import Array, Key, Quadratures


def euler_maruyama() -> StepRule:
    """x_s = x_t − h·drift(x_t, t) + √(β h V) ξ with h = t − s.

    Weak order 1. The drift is :func:`pacodi_jax.core.diffusion.reverse_drift`.
    """

    def step(
        problem: Problem, key: Key, carry: Any, state: Quadratures, t: Array, s: Array
    ) -> tuple[Any, Quadratures]:
        width, beta = t - s, problem.schedule.beta(t)
        noise = problem.denoiser(state, t).noise
        score = score_from_noise(noise, problem.schedule.sigma(t), problem.variance)
        drift = reverse_drift(state, score, beta, problem.variance)
        fresh = sample_noise(key, problem.variance, state.real.shape[1])
        moved = jax.tree.map(
            lambda x, d, e: x - width * d + jnp.sqrt(beta * width) * e, state, drift, fresh
        )
        return carry, moved

    return StepRule(step)
