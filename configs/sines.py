"""The packaged preset: see pacodi_jax/configs/sines.py."""

from pacodi_jax.configs.sines import get_config

__all__ = ["get_config"]
