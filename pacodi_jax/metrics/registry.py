"""Every score of the panel under its versioned name, with what is needed to read it."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pacodi_jax.metrics import (
    correlation,
    ends,
    neighbours,
    spectra,
    surrogates,
    transport,
    ts2vec,
)
from pacodi_jax.metrics.discriminative import discriminative_score
from pacodi_jax.metrics.frechet import frechet_distance
from pacodi_jax.metrics.predictive import predictive_score
from pacodi_jax.metrics.results import Method
from pacodi_jax.metrics.strong import strong_discriminative_score

SEEDS = (0, 1, 2, 3, 4)


class Budget(NamedTuple):
    """How much to spend. The defaults are the published settings; tests spend less.

    Attributes:
      seeds: one complete run of every score each.
      windows: the most that each side has.
      encoder_steps: of TS2Vec; None for the release's rule (600, or 200 for little data).
      discriminative_steps: of the recurrent classifier.
      predictive_steps: of the recurrent forecaster.
      strong_steps: of the transformer.
    """

    seeds: tuple[int, ...] = SEEDS
    windows: int = 3000
    encoder_steps: int | None = None
    discriminative_steps: int = 2000
    predictive_steps: int = 5000
    strong_steps: int = 500


class Metric(NamedTuple):
    """One score and how to read it.

    Attributes:
      name: with its version: a change of the numbers is a new name.
      title: for people.
      about: one sentence on what it sees.
      group: ``"paper"`` for the four published ones, else ``"beyond"``.
      better: ``"lower"`` or ``"higher"``, or ``"one"`` where 1 is best.
      halves: scored on half of the windows per side. The floor (one half of the real windows
        against the other) then has the same size, and the spread over seeds estimates the
        sampling error of the whole.
      worst: makes from real windows the copy on which the ceiling is measured.
      score: ``(real, synthetic, seed) -> float``.
      trained: whether something is trained to measure it, which takes seconds.
    """

    name: str
    title: str
    about: str
    group: str
    better: str
    halves: bool
    worst: Callable[[np.ndarray, int], np.ndarray]
    score: Callable[[np.ndarray, np.ndarray, int], float]
    trained: bool = False


def _shuffled(windows: np.ndarray, seed: int) -> np.ndarray:
    return surrogates.shuffled(windows, seed=seed)


def _noise(windows: np.ndarray, seed: int) -> np.ndarray:
    return surrogates.noise(windows.shape, seed=seed)


def _seeded(score: Callable[..., float]) -> Callable[[np.ndarray, np.ndarray, int], float]:
    """Turns ``score(real, synthetic, seed=…)`` into a function of three positions."""
    return lambda real, synthetic, seed: score(real, synthetic, seed=seed)


def paper_metrics(
    budget: Budget, encode: Callable[[int, np.ndarray], np.ndarray]
) -> tuple[Metric, ...]:
    """The four scores of the paper; ``encode(seed, windows)`` represents windows by TS2Vec."""

    def context_fid(real: np.ndarray, synthetic: np.ndarray, seed: int) -> float:
        return frechet_distance(encode(seed, real), encode(seed, synthetic))

    discriminative = functools.partial(discriminative_score, steps=budget.discriminative_steps)
    predictive = functools.partial(predictive_score, steps=budget.predictive_steps)
    entry = functools.partial(Metric, group="paper", better="lower", halves=False, worst=_shuffled)
    return (
        entry(
            "context_fid_v1",
            "Context-FID",
            "Fréchet distance between TS2Vec representations of whole windows.",
            score=context_fid,
            trained=True,
        ),
        entry(
            "discriminative_v1",
            "Discriminative",
            "|accuracy − ½| of a small recurrent classifier.",
            score=_seeded(discriminative),
            trained=True,
        ),
        entry(
            "predictive_v1",
            "Predictive",
            "Error on real windows of a forecaster trained on synthetic ones.",
            score=_seeded(predictive),
            trained=True,
        ),
        entry(
            "correlational_v1",
            "Correlational",
            "Difference of the channels' correlation matrices.",
            score=_seeded(correlation.correlational_score),
        ),
    )


def further_metrics(budget: Budget) -> tuple[Metric, ...]:
    """The scores beyond the paper."""
    strong = functools.partial(strong_discriminative_score, steps=budget.strong_steps)
    entry = functools.partial(Metric, group="beyond", better="lower", halves=True, worst=_shuffled)
    return (
        entry(
            "strong_discriminative_v1",
            "Strong discriminative",
            "|accuracy − ½| of a small transformer.",
            halves=False,
            score=_seeded(strong),
            trained=True,
        ),
        entry(
            "wasserstein_v1",
            "Wasserstein (values)",
            "Wasserstein distance between the values of each channel.",
            worst=_noise,
            score=_seeded(transport.wasserstein),
        ),
        entry(
            "sliced_wasserstein_v1",
            "Wasserstein (windows)",
            "Wasserstein distance between whole windows along random directions.",
            worst=_noise,
            score=_seeded(transport.sliced_wasserstein),
        ),
        entry(
            "autocorrelation_v1",
            "Autocorrelation",
            "Difference of the autocorrelation, averaged over lags and channels.",
            score=_seeded(correlation.autocorrelation_distance),
        ),
        entry(
            "own_mean_autocorrelation_v1",
            "Autocorrelation (own mean)",
            "The same around each window's own mean: blind to levels that last a whole window.",
            score=_seeded(correlation.own_mean_autocorrelation_distance),
        ),
        entry(
            "window_ends_v1",
            "Window ends",
            "Difference in the laws of the first step, the last step and the jump between them.",
            score=_seeded(ends.window_ends_distance),
        ),
        entry(
            "power_spectrum_v1",
            "Power spectrum",
            "Difference of the power spectrum, in decibels.",
            score=_seeded(spectra.power_spectrum_distance),
        ),
        entry(
            "phase_coherence_v1",
            "Phase coherence",
            "Difference in how phases are coupled across frequencies and channels; blind to power.",
            score=_seeded(spectra.phase_coherence_distance),
        ),
        entry(
            "density_v1",
            "Density",
            "How many real neighbourhoods a synthetic window lies in; 1 for real windows.",
            better="higher",
            score=_seeded(neighbours.density),
        ),
        entry(
            "coverage_v1",
            "Coverage",
            "Share of real windows with a synthetic window in their neighbourhood.",
            better="higher",
            score=_seeded(neighbours.coverage),
        ),
    )


def method(budget: Budget, windows: np.ndarray) -> Method:
    """All that decides the numbers beside the windows, for the record.

    Args:
      budget: what was spent.
      windows: ``(N, L, C)``, on which the encoder was trained.
    """
    steps = budget.encoder_steps or ts2vec.default_steps(windows)
    return Method(
        **budget._replace(encoder_steps=steps)._asdict(),
        encoder=f"TS2Vec, hidden {ts2vec.HIDDEN}, depth {ts2vec.DEPTH}, "
        f"{ts2vec.DIMENSIONS} dimensions, batch {ts2vec.BATCH}, AdamW {ts2vec.LEARNING_RATE}",
        correlational_windows=correlation.WINDOWS,
        projections=transport.PROJECTIONS,
        neighbours=neighbours.NEIGHBOURS,
        scale="min-max by the real windows, per channel",
        interval="mean over seeds ± Student's t at 95 %",
    )
