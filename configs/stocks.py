"""The packaged preset: see pacodi_jax/configs/stocks.py."""

from pacodi_jax.configs.stocks import get_config

__all__ = ["get_config"]
