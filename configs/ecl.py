"""The packaged preset: see pacodi_jax/configs/ecl.py."""

from pacodi_jax.configs.ecl import get_config

__all__ = ["get_config"]
