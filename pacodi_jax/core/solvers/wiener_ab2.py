"""Adams–Bashforth-2 in Wiener coordinates, each bin stepping by its own angle."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core import wiener
from pacodi_jax.core.solvers.rule import Problem, StepRule
from pacodi_jax.core.wiener import Moments
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Key, Quadratures


class Memory(NamedTuple):
    """The state in z, and the last velocity and step of every slot (step 0 before the first)."""

    z: Quadratures
    velocity: Quadratures
    width: Quadratures


def _advance(memory: Memory, velocity: Quadratures, width: Quadratures) -> Quadratures:
    """z + Δθ [(1 + r/2) u − (r/2) u₋] with r = min(Δθ/Δθ₋, 1); Euler if Δθ₋ = 0."""

    def advance(z: Array, old: Array, before: Array, new: Array, now: Array) -> Array:
        known = before != 0
        ratio = jnp.where(known, jnp.minimum(now / jnp.where(known, before, 1), 1), 0)
        return z + now * (new + 0.5 * ratio * (new - old))

    return jax.tree.map(advance, memory.z, memory.velocity, memory.width, velocity, width)


def wiener_ab2(moments: Moments) -> StepRule:
    """Solves dz/dθ_k = u_k bin by bin, and ends at θ = 0, where x = m + √v·z.

    Order 2, one evaluation per step. Where the spectral covariance is diagonal, u = 0 and there is
    no discretisation error at any number of steps: weak bins keep their variance.

    Args:
      moments: of the training spectra (:func:`pacodi_jax.core.wiener.fit`).
    """

    def coordinates(problem: Problem, t: Array) -> tuple[Array, Array, Moments, Quadratures]:
        return problem.schedule.alpha(t), problem.schedule.sigma(t), moments, problem.variance

    def slope(problem: Problem, state: Quadratures, t: Array) -> tuple[Quadratures, Quadratures]:
        theta = wiener.angle(*coordinates(problem, t))
        prediction = problem.denoiser(state, t)
        return theta, wiener.velocity(prediction, theta, moments, problem.variance)

    def init(problem: Problem, state: Quadratures, t: Array) -> Memory:
        if moments.mean.real.shape != state.real.shape:
            raise PacodiError(
                f"moments are of spectra of shape {moments.mean.real.shape}, but the state has "
                f"shape {state.real.shape}; fit them to windows of the same length and channels."
            )
        zeros = jax.tree.map(jnp.zeros_like, state)
        return Memory(wiener.to_z(state, *coordinates(problem, t)), zeros, zeros)

    def step(
        problem: Problem, key: Key, carry: Memory, state: Quadratures, t: Array, s: Array
    ) -> tuple[Memory, Quadratures]:
        theta, velocity = slope(problem, state, t)
        after = wiener.angle(*coordinates(problem, s))
        width = jax.tree.map(jnp.subtract, after, theta)
        z = _advance(carry, velocity, width)
        return Memory(z, velocity, width), wiener.from_z(z, *coordinates(problem, s))

    def finish(problem: Problem, carry: Memory, state: Quadratures, t: Array) -> Quadratures:
        theta, velocity = slope(problem, state, t)
        z = _advance(carry, velocity, jax.tree.map(jnp.negative, theta))
        one = jnp.ones_like(t)
        return wiener.from_z(z, one, 0 * one, moments, problem.variance)

    return StepRule(step, init, finish)
