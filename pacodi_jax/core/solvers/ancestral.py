"""DDPM's ancestral sampling: draw from the posterior with x̂₀ in place of x₀."""

from typing import Any

import jax
import jax.numpy as jnp

from pacodi_jax.core.diffusion import posterior, step_beta
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.core.spectrum import sample_noise
from pacodi_jax.errors import choose
from pacodi_jax.types import Array, Key, Quadratures


def ancestral(posterior_variance: str = "small") -> StepRule:
    """x_s = a·(σ_s²/σ_t²) x_t + (α_s b/σ_t²) x̂₀ + √(w V) ξ, a = α_t/α_s, b = 1 − a² (appendix C).

    Order 1 in law. First-order steps shrink bins whose data variance is far below the noise.

    Args:
      posterior_variance: ``'small'`` takes w = b σ_s²/σ_t², exact for a fixed x₀; ``'large'``
        takes w = b, exact for data that is N(0, V). Both are in Ho et al., 2020.
    """
    choose("posterior_variance", posterior_variance, {"small": 0, "large": 1})

    def step(
        problem: Problem, key: Key, carry: Any, state: Quadratures, t: Array, s: Array
    ) -> tuple[Any, Quadratures]:
        clean = problem.denoiser(state, t).clean
        law = posterior(problem.schedule, t, s)
        large = step_beta(problem.schedule, t, s)
        spread = jnp.sqrt(law.variance if posterior_variance == "small" else large)
        noise = sample_noise(key, problem.variance, state.real.shape[1])
        moved = jax.tree.map(
            lambda x, c, e: law.from_state * x + law.from_clean * c + spread * e,
            state,
            clean,
            noise,
        )
        return carry, moved

    return StepRule(step)
