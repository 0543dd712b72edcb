"""What bench_observed measures: a model given observed values, and baselines, by their scores.

Draws of whole windows are ``(n, N, L, C)``, in the model's scale.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import observed_baselines as baselines
import observed_scores as scores
from observed_scores import Scores

from pacodi_jax import parallel
from pacodi_jax.core import guidance, solvers
from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts import imputation
from pacodi_jax.models.diffusion_ts.generator import DiffusionTS
from pacodi_jax.models.sampler import Sampler, make_sampler
from pacodi_jax.models.spectral_drawing import SpectralSampler
from pacodi_jax.types import Array, Key

KEY = 20_262
#: Windows whose draws are computed at once.
_TOGETHER = 10
#: Called with (drawn, count) after each block of draws.
Show: TypeAlias = Callable[[int, int], None] | None


class Part(NamedTuple):
    """Windows that are asked about, in the order of time.

    Attributes:
      windows: ``(N, L, C)``.
      condition: ``(N, E)``, or None.
    """

    windows: np.ndarray
    condition: np.ndarray | None


class Subject(NamedTuple):
    """A trained model and what it is asked about.

    Attributes:
      generator: the model.
      weights: of its network.
      train: the training windows and their conditions, for the Gaussian laws.
      parts: what it is asked about, by name.
      season: steps per day, or None.
    """

    generator: Any
    weights: Any
    train: Part
    parts: dict[str, Part]
    season: int | None


class Budget(NamedTuple):
    """Windows per part, draws per window, evaluations of the network per draw."""

    windows: int
    draws: int
    steps: int

    def check(self) -> None:
        """Refuses what gives no interval, no spread or no draw."""
        for name, least in (("windows", scores.STRETCHES), ("draws", 2), ("steps", 2)):
            if getattr(self, name) < least:
                raise PacodiError(f"--{name}={getattr(self, name)}; accepted: {least} or more.")


def by_mask(hidden: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each mask and the row numbers of its windows: window i has mask i modulo their number."""
    for number, mask in enumerate(hidden[:count]):
        yield mask, np.arange(number, count, len(hidden))


def gaussian(
    subject: Subject, part: Part, hidden: np.ndarray, draws: int, calendar: bool
) -> tuple[Scores, Scores]:
    """Scores of the Gaussian conditional from draws, and in closed form."""
    law = baselines.fit(subject.train.windows, subject.train.condition if calendar else None)
    rng = np.random.default_rng(0)
    drawn, exact = [], []
    for mask, rows in by_mask(hidden, len(part.windows)):
        told = part.condition[rows] if calendar and part.condition is not None else None
        normal = baselines.given(law, part.windows[rows], ~mask, told)
        truth = part.windows[rows][:, mask].astype(np.float64)
        drawn.append((rows, scores.of_draws(truth, baselines.draw(rng, normal, draws))))
        deviation = np.sqrt(np.maximum(np.diag(normal.covariance), 0))
        exact.append((rows, scores.of_normal(truth, normal.mean, deviation)))
    return scores.joined(drawn, len(part.windows)), scores.joined(exact, len(part.windows))


def of_windows(part: Part, hidden: np.ndarray, made: np.ndarray) -> Scores:
    """Scores of whole windows ``(n, N, L, C)``."""
    found = []
    for mask, rows in by_mask(hidden, len(part.windows)):
        truth = part.windows[rows][:, mask].astype(np.float64)
        found.append((rows, scores.of_draws(truth, made[:, rows][..., mask].astype(np.float64))))
    return scores.joined(found, len(part.windows))


def _repeated(part: Part, seen: np.ndarray, draws: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Values, masks and conditions, one row per draw."""
    told = None if part.condition is None else jnp.asarray(part.condition.repeat(draws, axis=0))
    return part.windows.repeat(draws, axis=0), seen.repeat(draws, axis=0), told


def _apart(made: np.ndarray, draws: int) -> np.ndarray:
    """Rows as ``(n, N, L, C)``."""
    return made.reshape(-1, draws, *made.shape[1:]).swapaxes(0, 1)


def network(
    subject: Subject, part: Part, seen: np.ndarray, budget: Budget, show: Show = None
) -> np.ndarray:
    """Windows of the model given what is observed, ``(n, N, L, C)``."""
    values, mask, told = _repeated(part, seen, budget.draws)
    made = subject.generator.sample(
        jax.random.key(KEY),
        subject.weights,
        len(values),
        told,
        observed=Observed(values, mask, np.zeros(values.shape[2], np.float32)),
        steps=budget.steps,
        batch=budget.draws * _TOGETHER,
        progress=show,
    )
    return _apart(made, budget.draws)


def replaced(
    subject: Subject, part: Part, seen: np.ndarray, budget: Budget, show: Show = None
) -> np.ndarray:
    """Windows whose observed cells were replaced in every noisy state, ``(n, N, L, C)``."""
    values, mask, told = _repeated(part, seen, budget.draws)
    program = _replacing(subject.generator, budget.steps)

    def block(rows: Array) -> Array:
        keys = jax.vmap(partial(jax.random.fold_in, jax.random.key(KEY)))(rows)
        own = None if told is None else told[rows]
        return program(
            subject.weights, keys, jnp.asarray(values)[rows], jnp.asarray(mask)[rows], own
        )

    made = parallel.in_blocks(block, len(values), budget.draws * _TOGETHER, show)
    return _apart(np.where(mask, values, made), budget.draws)


@cache
def _replacing(generator: SpectralSampler, steps: int) -> Callable[..., Array]:
    """The compiled program of replacement, one for all masks."""
    process, sampling = generator.process, generator.sampling.replace(steps=steps)
    sampler = make_sampler(sampling, process.schedule, process.moments, process.variance)
    draw_one = partial(_replace_one, generator, sampler, sampling.scale)
    return jax.jit(jax.vmap(draw_one, (None, 0, 0, 0, 0)))


def _replace_one(
    generator: SpectralSampler,
    sampler: Sampler,
    scale: float,
    params: Any,
    key: Key,
    values: Array,
    seen: Array,
    condition: Array | None,
) -> Array:
    """One window by replacement, under classifier-free guidance of that scale."""
    process = generator.process
    start_key, step_key, noise_key = jax.random.split(key, 3)
    guides = [baselines.replacement(noise_key, values, seen, process.schedule, generator.coding)]
    if condition is not None:
        guides.insert(0, guidance.classifier_free(generator.denoiser(params), scale))
    spectrum = solvers.draw(
        sampler.rule,
        guidance.fold(generator.denoiser(params, condition), guides),
        process.schedule,
        process.variance,
        step_key,
        process.start(start_key, sampler.times[0]),
        sampler.times,
    )
    return generator.coding.decode(spectrum)


def published(
    subject: Subject, part: Part, seen: np.ndarray, budget: Budget, show: Show = None
) -> np.ndarray:
    """Windows of Diffusion-TS by its authors' guided scheme, ``(n, N, L, C)``."""
    values, mask, _ = _repeated(part, seen, budget.draws)
    key = jax.random.key(KEY)
    made = imputation.impute(
        subject.generator, key, subject.weights, values, mask, steps=budget.steps
    )
    return _apart(made, budget.draws)


PUBLISHED = "Diffusion-TS"
DRAWN = {"network": network, "replacement": replaced, PUBLISHED: published}


def drawn(subject: Subject) -> list[str]:
    """The ways to draw that a model has; replacement needs windows that are their own rows."""
    if isinstance(subject.generator, DiffusionTS):
        return [PUBLISHED]
    return ["network", "replacement"] if subject.generator.coding.mode == "none" else ["network"]
