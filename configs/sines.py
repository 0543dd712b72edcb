"""Sines: five channels of random sines, generated here, no download.

    python -m pacodi_jax.main --config=configs/sines.py --workdir=runs/sines

Two CPU cores: the default of 40,000 steps was not run yet with the present network. Scores with
--config.train.steps=8000 --config.train.learning_rate=0.0014 and time steps that were not yet
the window's own, 6 minutes of training on one of them, shared with other work, and 2.1 GB with
the scoring: against train windows, mean of 3 seeds, the floor (real against other real windows)
in brackets: Context-FID 0.019 (0.014), discriminative 0.004 (0.006), predictive 0.185 (0.187),
correlational 0.027 (0.019).
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="sines")
