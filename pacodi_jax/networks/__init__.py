"""Transformers over frequency bins (two branches) or time steps (one), from the same blocks."""

from pacodi_jax.networks.backbones import DualBranch, SingleBranch

__all__ = ["DualBranch", "SingleBranch"]
