"""Generators behind one protocol, in one dict: PaCoDi and its relatives from the same code."""

from pacodi_jax.core.training_times import TIMES
from pacodi_jax.models.build import MODELS, Architecture, Fitted, Settings, build, fit, make_sampler
from pacodi_jax.models.spectral import (
    LOSSES,
    PARAMETERISATIONS,
    WEIGHTINGS,
    Sampler,
    SpectralDiffusion,
)
from pacodi_jax.models.state import Batch, TrainState

__all__ = [
    "LOSSES",
    "MODELS",
    "PARAMETERISATIONS",
    "TIMES",
    "WEIGHTINGS",
    "Architecture",
    "Batch",
    "Fitted",
    "Sampler",
    "Settings",
    "SpectralDiffusion",
    "TrainState",
    "build",
    "fit",
    "make_sampler",
]
