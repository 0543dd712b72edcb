"""What a step rule is, and the one loop that runs them all."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core.checks import check_finite, check_noise_law, check_spectrum, check_times
from pacodi_jax.types import Array, Denoiser, Key, Quadratures, Schedule


class Problem(NamedTuple):
    """What is solved: a denoiser, the schedule it was trained on and the noise law."""

    denoiser: Denoiser
    schedule: Schedule
    variance: Quadratures


def no_memory(problem: Problem, state: Quadratures, t: Array) -> tuple[()]:
    """The carry of a one-step rule: nothing."""
    return ()


def clean_estimate(problem: Problem, carry: Any, state: Quadratures, t: Array) -> Quadratures:
    """Ends with x̂₀ at the last time, so that nothing divides by σ(0)."""
    return problem.denoiser(state, t).clean


class StepRule(NamedTuple):
    """How to go from one time to the next.

    Attributes:
      step: ``(problem, key, carry, state, t, s) -> (carry, state)`` from time t to s < t.
      init: ``(problem, state, t) -> carry``, what the rule remembers between steps.
      finish: ``(problem, carry, state, t) -> clean``, from the last time to the end.
    """

    step: Callable[[Problem, Key, Any, Quadratures, Array, Array], tuple[Any, Quadratures]]
    init: Callable[[Problem, Quadratures, Array], Any] = no_memory
    finish: Callable[[Problem, Any, Quadratures, Array], Quadratures] = clean_estimate


def draw(
    rule: StepRule,
    denoiser: Denoiser,
    schedule: Schedule,
    variance: Quadratures,
    key: Key,
    start: Quadratures,
    times: Array,
) -> Quadratures:
    """Runs the reverse process for one window: one ``lax.scan``, then the rule's finish.

    Args:
      rule: from :data:`pacodi_jax.core.solvers.SOLVERS`.
      denoiser: ``denoiser(state, t) -> Prediction``.
      schedule: the schedule of the forward process.
      variance: the noise law.
      key: random key; the noise of step i comes from ``fold_in(key, i)``.
      start: the state at ``times[0]``, ``(K, C)`` per part.
      times: decreasing, ``(N,)``. One-step rules evaluate the denoiser N times.

    Returns:
      The clean half spectrum, ``(K, C)`` per part.

    Raises:
      PacodiError: for times that do not decrease within (0, 1], or a start that does not fit
        the noise law or is not finite; values are checked outside ``jit`` only.
    """
    check_times(times)
    check_spectrum("start", start, variance.real.shape[0])
    check_noise_law(variance, start.real.shape[1])
    check_finite("start.real", start.real)
    check_finite("start.imag", start.imag)
    times = jnp.asarray(times, start.real.dtype)
    problem = Problem(denoiser, schedule, variance)

    def step(
        memory: tuple[Any, Quadratures], inputs: tuple[Array, Array, Array]
    ) -> tuple[tuple[Any, Quadratures], None]:
        carry, state = memory
        index, t, s = inputs
        return rule.step(problem, jax.random.fold_in(key, index), carry, state, t, s), None

    first = (rule.init(problem, start, times[0]), start)
    inputs = (jnp.arange(times.shape[0] - 1), times[:-1], times[1:])
    (carry, state), _ = jax.lax.scan(step, first, inputs)
    return rule.finish(problem, carry, state, times[-1])
