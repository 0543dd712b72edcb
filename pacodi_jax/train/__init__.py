"""Training that can be stopped, killed and resumed."""

from pacodi_jax.train.engine import Batch, Data
from pacodi_jax.train.loop import fit
from pacodi_jax.train.session import Run, Settings

__all__ = ["Batch", "Data", "Run", "Settings", "fit"]
