"""Heun's method on the probability-flow ODE."""

from typing import Any

import jax

from pacodi_jax.core.diffusion import marginal
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.types import Array, Key, Quadratures


def heun() -> StepRule:
    """The trapezoidal rule on dy/dρ = ε̂ with y = x/α and ρ = σ/α (Karras et al., 2022).

    Order 2, two evaluations per step. The predictor is DDIM's step.
    """

    def step(
        problem: Problem, key: Key, carry: Any, state: Quadratures, t: Array, s: Array
    ) -> tuple[Any, Quadratures]:
        alpha, sigma = problem.schedule.alpha(s), problem.schedule.sigma(s)
        here = problem.denoiser(state, t)
        there = problem.denoiser(marginal(here.clean, here.noise, alpha, sigma), s)
        gap = alpha * problem.schedule.sigma(t) / problem.schedule.alpha(t) - sigma
        slope = jax.tree.map(lambda e, f: 0.5 * (e + f), here.noise, there.noise)
        ratio = alpha / problem.schedule.alpha(t)
        return carry, jax.tree.map(lambda x, d: ratio * x - gap * d, state, slope)

    return StepRule(step)
