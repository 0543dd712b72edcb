"""A run: from settings to data and a generator, and from a run's folder back to a generator."""

from pacodi_jax.run.parts import build_encoder, build_generator, load_data, load_windows
from pacodi_jax.run.trained import RECIPE, SETTINGS, WEIGHTS, Trained, card, load, sampler, weights

__all__ = [
    "RECIPE",
    "SETTINGS",
    "WEIGHTS",
    "Trained",
    "build_encoder",
    "build_generator",
    "card",
    "load",
    "load_data",
    "load_windows",
    "sampler",
    "weights",
]
