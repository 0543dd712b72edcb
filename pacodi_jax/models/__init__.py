"""Families of models behind one protocol; :mod:`~pacodi_jax.models.registry` lists them."""

from pacodi_jax.models.protocol import (
    Arrays,
    Drawing,
    Facts,
    Family,
    Generator,
    Shape,
    State,
    Training,
)
from pacodi_jax.models.registry import FAMILIES
from pacodi_jax.models.state import Batch, TrainState

__all__ = [
    "FAMILIES",
    "Arrays",
    "Batch",
    "Drawing",
    "Facts",
    "Family",
    "Generator",
    "Shape",
    "State",
    "TrainState",
    "Training",
]
