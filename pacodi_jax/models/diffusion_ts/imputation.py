"""Imputation and forecasting with a trained Diffusion-TS, without training for it (its -G and -R).

Yuan and Qiao, 2024, as released. After each sampling step from t to t':

1. (-G only) K times x ← x − step·sign ∇J(x), J = γ Σ (μ − x)²/σ + mean over observed entries of
   (x̂₀(x, t) − y)²/σ, with σ = 1 where the step has no noise. The release makes a new Adagrad per
   iteration, whose first step is a sign step; it adds no noise, though the paper calls the loop
   Langevin dynamics, and the printed update has the other sign. x̂₀ is not clamped here.
2. Observed entries become √ᾱ_t y + √(1−ᾱ_t) ξ: the level of t, not of t', as in the release.

At the end observed entries are y. γ is 0.01 and the step 0.05 in the released settings (the paper:
γ = 0.05). With fewer than T steps the last one only returns x̂₀.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts import schedule
from pacodi_jax.models.diffusion_ts.generator import Clean, DiffusionTS, as_arrays
from pacodi_jax.models.diffusion_ts.schedule import Path
from pacodi_jax.models.per_window import keys_of
from pacodi_jax.models.protocol import Arrays
from pacodi_jax.types import Array, Key


class Guiding(NamedTuple):
    """How observed values steer the other entries.

    Attributes:
      coefficient: γ, how closely x keeps to the mean of its step.
      step: the largest step of the sign update; 0 replaces only (-R).
    """

    coefficient: float = 0.01
    step: float = 0.05


#: -G and -R.
GUIDED, REPLACED = Guiding(), Guiding(step=0.0)


class Inner(NamedTuple):
    """Sign updates after each sampling step: how many, and their share of the largest step."""

    rounds: Any
    share: Any


def inner(path: Path, steps: int, guided: bool = True) -> Inner:
    """K = 3, 2, 1, 0 above 0.9 T, above 0.75 T, from 0.05 T and below it; steps 1, ½, ¼.

    Args:
      path: of the sampler.
      steps: T.
      guided: False for replacement alone.
    """
    bounds = path.time > 0.9 * steps, path.time > 0.75 * steps, path.time >= 0.05 * steps
    rounds = np.select(bounds, (3, 2, 1), 0)
    if len(path.time) < steps:
        rounds[-1] = 0
    return Inner(rounds * guided, np.select(bounds, (1.0, 0.5, 0.25), 0.0).astype(np.float32))


def evaluations(total: int, steps: int) -> tuple[int, int]:
    """Evaluations of the network without and with its gradient, for S steps of T (-G)."""
    path = schedule.path(schedule.cosine(total), steps)
    return len(path.time), int(inner(path, total).rounds.sum())


def impute(
    generator: DiffusionTS,
    key: Key,
    weights: Arrays,
    windows: np.ndarray,
    mask: np.ndarray,
    *,
    steps: int = 200,
    guiding: Guiding = GUIDED,
) -> np.ndarray:
    """Draws what is missing of each window; window i depends on (key, i) alone.

    The mean in J is over the observed entries of one window, where the release takes those of the
    batch: the same if all windows have equally many.

    Args:
      generator: whose network it is.
      key: random key.
      weights: of the generator.
      windows: ``(N, L, C)`` in the model's scale; entries outside the mask are not read.
      mask: ``(N, L, C)`` bool, which entries are observed. A forecast observes the first steps.
      steps: S; all T are ancestral, fewer are DDIM.
      guiding: ``GUIDED`` (-G), ``REPLACED`` (-R) or other figures.

    Raises:
      PacodiError: for a mask or windows of another shape.
    """
    if windows.shape != mask.shape or windows.shape[1:] != generator.shape[:2]:
        raise PacodiError(
            f"windows {windows.shape} and mask {mask.shape} must both be of shape "
            f"(N, {generator.shape.length}, {generator.shape.channels})."
        )
    known = generator.scaled(jnp.where(mask, jnp.asarray(windows), 0.0))
    path = schedule.path(generator.schedule, steps)
    plan = inner(path, generator.schedule.steps, guiding.step > 0)

    def one(weights: Arrays, key: Key, known: Array, mask: Array) -> Array:
        def clean(x: Array, t: Array) -> Array:
            return generator.parts(weights, x, t, None).clean

        return run(path, plan, clean, key, known, mask, guiding)

    keys = keys_of(key, jnp.arange(len(windows)))
    filled = jax.jit(jax.vmap(one, in_axes=(None, 0, 0, 0)))(
        weights, keys, known, jnp.asarray(mask)
    )
    return np.where(mask, windows, generator.unscaled(filled))


def run(
    path: Path, plan: Inner, clean: Clean, key: Key, known: Array, mask: Array, guiding: Guiding
) -> Array:
    """Fills one window ``(L, C)`` in the network's scale; ``clean`` is x̂₀, not clamped."""
    start_key, step_key = jax.random.split(key)
    shape, observed = known.shape, jnp.maximum(jnp.sum(mask), 1)

    def cost(x: Array, mean: Array, at: Path) -> Array:
        spread = jnp.where(at.spread > 0, at.spread, 1.0)
        near = guiding.coefficient * jnp.sum((mean - x) ** 2)
        gap = jnp.where(mask, clean(x, at.time) - known, 0.0)
        return (near + jnp.sum(gap**2) / observed) / spread

    def step(x: Array, now: tuple[Array, Path, Inner]) -> tuple[Array, None]:
        index, at, within = now
        noise_key, known_key = jax.random.split(jax.random.fold_in(step_key, index))
        guess = jnp.clip(clean(x, at.time), -1, 1)
        mean = at.from_clean * guess + at.from_state * x
        rate = guiding.step * within.share
        moved = jax.lax.fori_loop(
            0,
            within.rounds,
            lambda _, x: x - rate * jnp.sign(jax.grad(cost)(x, mean, at)),
            mean + at.spread * jax.random.normal(noise_key, shape),
        )
        level = jnp.sqrt(1 - at.alpha_bar) * jax.random.normal(known_key, shape)
        return jnp.where(mask, jnp.sqrt(at.alpha_bar) * known + level, moved), None

    table = as_arrays(path), Inner(jnp.asarray(plan.rounds), jnp.asarray(plan.share))
    steps = jnp.arange(len(path.time)), *table
    filled, _ = jax.lax.scan(step, jax.random.normal(start_key, shape), steps)
    return jnp.where(mask, known, filled)
