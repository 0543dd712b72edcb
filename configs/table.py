"""The packaged preset: see pacodi_jax/configs/table.py."""

from pacodi_jax.configs.table import get_config

__all__ = ["get_config"]
