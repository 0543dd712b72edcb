"""ETTm1: seven channels of an electricity transformer, every 15 minutes.

    python -m pacodi_jax.main --config=configs/ettm1.py --workdir=runs/ettm1

Two CPU cores: time not measured, memory not measured. Scores: not measured.
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="ettm1")
