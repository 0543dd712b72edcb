"""The mathematics: pure functions of one window, lifted to batches with ``jax.vmap``.

Modules are exported by name (``from pacodi_jax.core import spectrum, wiener``), and so are the
functions and types whose names are clear without their module. ``fit``, ``encode``, ``apply`` and
the like are called through it: ``wiener.fit``, ``level_coding.fit``, ``calibration.apply``.
"""

from pacodi_jax.core import (
    calibration,
    conditioning,
    diffusion,
    guidance,
    level,
    level_coding,
    linear,
    schedule,
    solvers,
    spectrum,
    training_times,
    wiener,
    window_covariance,
)
from pacodi_jax.core.calibration import Calibration
from pacodi_jax.core.diffusion import (
    Posterior,
    clean_from_noise,
    elbo_weight,
    marginal,
    noise_from_score,
    noise_loss,
    perturb,
    posterior,
    reverse_drift,
    score_from_noise,
    simulate_forward,
    slot_loss,
    step_beta,
    transition,
    wiener_increments,
    wirtinger_score,
)
from pacodi_jax.core.guidance import classifier_free, fold
from pacodi_jax.core.level import Level
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.linear import linear_denoiser, noise_error
from pacodi_jax.core.schedule import SCHEDULES, cosine, ddpm_linear, discrete_betas, vp
from pacodi_jax.core.solvers import GRIDS, SOLVERS, Problem, StepRule, draw, time_grid
from pacodi_jax.core.spectrum import (
    bin_count,
    covariance,
    keep_band,
    live,
    mahalanobis,
    noise_variance,
    pad_band,
    precision,
    sample_noise,
    self_conjugate,
    to_series,
    to_spectrum,
)
from pacodi_jax.core.training_times import TimeSampler, time_sampler
from pacodi_jax.core.wiener import Moments
from pacodi_jax.types import Denoiser, Guide, Prediction, Quadratures, Schedule

__all__ = [
    "GRIDS",
    "SCHEDULES",
    "SOLVERS",
    "Calibration",
    "Denoiser",
    "Guide",
    "Level",
    "LevelCoding",
    "Moments",
    "Posterior",
    "Prediction",
    "Problem",
    "Quadratures",
    "Schedule",
    "StepRule",
    "TimeSampler",
    "bin_count",
    "calibration",
    "classifier_free",
    "clean_from_noise",
    "conditioning",
    "cosine",
    "covariance",
    "ddpm_linear",
    "diffusion",
    "discrete_betas",
    "draw",
    "elbo_weight",
    "fold",
    "guidance",
    "keep_band",
    "level",
    "level_coding",
    "linear",
    "linear_denoiser",
    "live",
    "mahalanobis",
    "marginal",
    "noise_error",
    "noise_from_score",
    "noise_loss",
    "noise_variance",
    "pad_band",
    "perturb",
    "posterior",
    "precision",
    "reverse_drift",
    "sample_noise",
    "schedule",
    "score_from_noise",
    "self_conjugate",
    "simulate_forward",
    "slot_loss",
    "solvers",
    "spectrum",
    "step_beta",
    "time_grid",
    "time_sampler",
    "to_series",
    "to_spectrum",
    "training_times",
    "transition",
    "vp",
    "wiener",
    "wiener_increments",
    "window_covariance",
    "wirtinger_score",
]
