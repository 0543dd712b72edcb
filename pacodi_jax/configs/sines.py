"""Sines: five channels of random sines, generated here, no download.

    python -m pacodi_jax.main --config=configs/sines.py --workdir=runs/sines

Two CPU cores: 6 to 14 minutes of training on one of them, the other at work, and 2.1 GB with the
scoring. Scores against train windows, mean of 5 seeds, the floor (real against other real
windows) in brackets: Context-FID 0.014 (0.014), discriminative 0.006 (0.005), predictive 0.186
(0.187), correlational 0.025 (0.019).
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="sines")
