"""The packaged preset: see pacodi_jax/configs/text.py."""

from pacodi_jax.configs.text import get_config

__all__ = ["get_config"]
