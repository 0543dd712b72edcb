"""From any table to windows, and back in the user's own units, with nothing leaking."""

from pacodi_jax.data.dataset import Dataset, Report, load
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.windows import WindowSet

__all__ = ["DataSettings", "Dataset", "Recipe", "Report", "WindowSet", "load"]
