"""The packaged preset: see pacodi_jax/configs/air.py."""

from pacodi_jax.configs.air import get_config

__all__ = ["get_config"]
