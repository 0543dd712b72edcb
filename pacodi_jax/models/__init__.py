"""Generators behind one protocol, in one dict: PaCoDi and its relatives from the same code."""

from pacodi_jax.data.statistics import STATISTICS
from pacodi_jax.models.build import MODELS, Architecture, Settings, build
from pacodi_jax.models.spectral import (
    LOSSES,
    PARAMETERISATIONS,
    WEIGHTINGS,
    Sampler,
    SpectralDiffusion,
)
from pacodi_jax.models.state import Batch, TrainState
from pacodi_jax.models.times import TIMES

__all__ = [
    "LOSSES",
    "MODELS",
    "PARAMETERISATIONS",
    "STATISTICS",
    "TIMES",
    "WEIGHTINGS",
    "Architecture",
    "Batch",
    "Sampler",
    "Settings",
    "SpectralDiffusion",
    "TrainState",
    "build",
]
