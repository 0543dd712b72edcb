"""Stocks: six daily columns of Google's share price.

    python -m pacodi_jax.main --config=configs/stocks.py --workdir=runs/stocks

Two CPU cores: 11 to 15 minutes of training on one of them, by the machine, the other at work, and
2.0 GB with the scoring. Scores against train windows, mean of 5 seeds, the floor (real against
other real windows) in brackets: Context-FID 0.008 (0.014), discriminative 0.008 (0.011),
predictive 0.045 (0.045), correlational 0.005 (0.006).
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="stocks")
