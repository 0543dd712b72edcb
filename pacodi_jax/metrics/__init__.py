"""Scores of synthetic windows: arrays in, numbers out; no model is needed.

Every score takes real and synthetic windows ``(N, L, C)`` and a seed, and returns a float.
``panel.score_panel`` runs them all over several seeds, with floors, ceilings and intervals.
"""

from pacodi_jax.metrics.conditional import best_of_n, crps, mse, wape
from pacodi_jax.metrics.correlation import (
    autocorrelation_distance,
    correlational_score,
    own_mean_autocorrelation_distance,
)
from pacodi_jax.metrics.discriminative import discriminative_score
from pacodi_jax.metrics.ends import window_ends_distance
from pacodi_jax.metrics.frechet import context_fid, frechet_distance
from pacodi_jax.metrics.neighbours import coverage, density, nearest_neighbour
from pacodi_jax.metrics.predictive import predictive_score
from pacodi_jax.metrics.results import Panel
from pacodi_jax.metrics.score import Estimate, Score
from pacodi_jax.metrics.spectra import phase_coherence_distance, power_spectrum_distance
from pacodi_jax.metrics.strong import strong_discriminative_score
from pacodi_jax.metrics.transport import sliced_wasserstein, wasserstein

__all__ = [
    "Estimate",
    "Panel",
    "Score",
    "autocorrelation_distance",
    "best_of_n",
    "context_fid",
    "correlational_score",
    "coverage",
    "crps",
    "density",
    "discriminative_score",
    "frechet_distance",
    "mse",
    "nearest_neighbour",
    "own_mean_autocorrelation_distance",
    "phase_coherence_distance",
    "power_spectrum_distance",
    "predictive_score",
    "sliced_wasserstein",
    "strong_discriminative_score",
    "wape",
    "wasserstein",
    "window_ends_distance",
]
