"""DDIM (Song et al., 2021): deterministic at η = 0, ancestral sampling at η = 1."""

from typing import Any

import jax
import jax.numpy as jnp

from pacodi_jax.core.diffusion import marginal, posterior
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.core.spectrum import sample_noise
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Key, Quadratures


def ddim(eta: float = 0.0) -> StepRule:
    """x_s = α_s x̂₀ + √(σ_s² − w) ε̂ + √(w V) ξ with w = η² b σ_s²/σ_t².

    Order 1. At η = 0 it is the exponential Euler step of the probability-flow ODE.

    Args:
      eta: between 0 (deterministic) and 1 (ancestral with the small variance).
    """
    if not 0 <= eta <= 1:
        raise PacodiError(f"eta={eta}; accepted: 0 <= eta <= 1.")

    def step(
        problem: Problem, key: Key, carry: Any, state: Quadratures, t: Array, s: Array
    ) -> tuple[Any, Quadratures]:
        prediction = problem.denoiser(state, t)
        sigma = problem.schedule.sigma(s)
        fresh = eta**2 * posterior(problem.schedule, t, s).variance
        kept = jnp.sqrt(jnp.maximum(sigma**2 - fresh, 0))
        moved = marginal(prediction.clean, prediction.noise, problem.schedule.alpha(s), kept)
        if eta:
            noise = sample_noise(key, problem.variance, state.real.shape[1])
            moved = jax.tree.map(lambda x, e: x + jnp.sqrt(fresh) * e, moved, noise)
        return carry, moved

    return StepRule(step)
