"""The settings of a run: its sections, all of them together, what may change, what was kept."""

from pacodi_jax.settings.changes import AFTERWARDS, FREE, first_difference
from pacodi_jax.settings.engine import ENGINE, Evaluation, TrainSettings
from pacodi_jax.settings.from_file import EARLIER, read, stored
from pacodi_jax.settings.together import Config, check_seed, flatten, sections_of

__all__ = [
    "AFTERWARDS",
    "EARLIER",
    "ENGINE",
    "FREE",
    "Config",
    "Evaluation",
    "TrainSettings",
    "check_seed",
    "first_difference",
    "flatten",
    "read",
    "sections_of",
    "stored",
]
