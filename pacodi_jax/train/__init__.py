"""Training that can be stopped, killed and resumed."""

from pacodi_jax.train.job import train
from pacodi_jax.train.loop import fit
from pacodi_jax.train.plan import Run, Settings

__all__ = ["Run", "Settings", "fit", "train"]
