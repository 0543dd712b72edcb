"""ETTh1: seven channels of an electricity transformer, hourly.

    python -m pacodi_jax.main --config=configs/etth1.py --workdir=runs/etth1

Two CPU cores: the default of 40,000 steps was not run yet with the present network. Scores with
--config.train.steps=8000, 4 minutes of training on one of them, shared with other work, and 2.5
GB with the scoring: against train windows, mean of 3 seeds, the floor (real against other real
windows) in brackets: Context-FID 0.027 (0.017), discriminative 0.006 (0.015), predictive 0.121
(0.120), correlational 0.050 (0.032).
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="etth1")
