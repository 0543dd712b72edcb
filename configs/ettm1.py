"""The packaged preset: see pacodi_jax/configs/ettm1.py."""

from pacodi_jax.configs.ettm1 import get_config

__all__ = ["get_config"]
