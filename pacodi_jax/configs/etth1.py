"""ETTh1: seven channels of an electricity transformer, hourly.

    python -m pacodi_jax.main --config=configs/etth1.py --workdir=runs/etth1

Two CPU cores: 6 to 16 minutes of training on one of them, by the machine, the other at work, one
or two more to calibrate, and 3.5 GB with the scoring. Scores against train windows, mean of 5
seeds, the floor (real against other real windows) in brackets: Context-FID 0.019 (0.016),
discriminative 0.013 (0.011), predictive 0.120 (0.122), correlational 0.038 (0.032). For a first
look add ``--config.train.steps=2000 --config.train.calibration=0``.
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    better = {"train.calibration": 30_000}
    return common.get_config(arguments, better=better, source="etth1")
