"""The packaged preset: see pacodi_jax/configs/exchange.py."""

from pacodi_jax.configs.exchange import get_config

__all__ = ["get_config"]
