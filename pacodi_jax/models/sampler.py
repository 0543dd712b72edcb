"""From the settings of the ``sample`` section to a step rule and its times."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from pacodi_jax.core.solvers import SOLVERS, StepRule, time_grid
from pacodi_jax.core.wiener import Moments
from pacodi_jax.models.settings import Sampling
from pacodi_jax.types import Array, Quadratures, Schedule


class Sampler(NamedTuple):
    """The step rule and its falling times."""

    rule: StepRule
    times: Array


def make_sampler(
    sampling: Sampling, schedule: Schedule, moments: Moments, variance: Quadratures
) -> Sampler:
    """The sampler that the settings ask for; any solver works for either variant."""
    times = time_grid(sampling.grid, schedule, sampling.steps, moments=moments, variance=variance)
    return Sampler(_rule(sampling, moments), jnp.asarray(times))


def _rule(sampling: Sampling, moments: Moments) -> StepRule:
    """The step rule; each option goes to the solver that has it."""
    options: dict[str, dict[str, Any]] = {
        "ancestral": {"posterior_variance": sampling.posterior_variance},
        "ddim": {"eta": sampling.eta},
        "wiener_ab2": {"moments": moments},
    }
    return SOLVERS[sampling.solver](**options.get(sampling.solver, {}))
