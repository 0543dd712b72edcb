"""Checkpoints that are whole or refused, and the file of a trained model."""

from pacodi_jax.checkpoint.digest import Damaged, flatten, require_same_shapes, seal, unflatten
from pacodi_jax.checkpoint.model_file import Stored, load, save
from pacodi_jax.checkpoint.store import Checkpoint, Checkpoints

__all__ = [
    "Checkpoint",
    "Checkpoints",
    "Damaged",
    "Stored",
    "flatten",
    "load",
    "require_same_shapes",
    "save",
    "seal",
    "unflatten",
]
