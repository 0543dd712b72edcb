"""Stocks: six daily columns of Google's share price.

    python -m pacodi_jax.main --config=configs/stocks.py --workdir=runs/stocks

Two CPU cores: the default of 40,000 steps was not run yet with the present network. Scores with
--config.train.steps=8000, 3 minutes of training on one of them, shared with other work, and 1.9
GB with the scoring: against train windows, mean of 3 seeds, the floor (real against other real
windows) in brackets: Context-FID 0.014 (0.014), discriminative 0.009 (0.012), predictive 0.045
(0.045), correlational 0.004 (0.009).
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="stocks")
