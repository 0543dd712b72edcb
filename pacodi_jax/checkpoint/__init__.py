"""Checkpoints that are whole or refused, and the exported weights."""

from pacodi_jax.checkpoint.digest import Damaged, flatten, unflatten
from pacodi_jax.checkpoint.disk import write_text
from pacodi_jax.checkpoint.export import export, load_weights
from pacodi_jax.checkpoint.store import Checkpoint, Checkpoints

__all__ = [
    "Checkpoint",
    "Checkpoints",
    "Damaged",
    "export",
    "flatten",
    "load_weights",
    "unflatten",
    "write_text",
]
