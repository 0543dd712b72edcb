"""Exchange: eight exchange rates, daily.

    python -m pacodi_jax.main --config=configs/exchange.py --workdir=runs/exchange

Two CPU cores: time not measured, memory not measured. Scores: not measured.
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="exchange")
