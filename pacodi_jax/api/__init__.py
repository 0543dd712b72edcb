"""The library's front door: one estimator that learns from a table and draws new ones."""

from pacodi_jax.api.estimator import PaCoDi, load

__all__ = ["PaCoDi", "load"]
