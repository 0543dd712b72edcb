"""The packaged preset: see pacodi_jax/configs/etth1.py."""

from pacodi_jax.configs.etth1 import get_config

__all__ = ["get_config"]
