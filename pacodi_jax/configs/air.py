"""Air quality: thirteen sensors in an Italian city, hourly, with gaps.

    python -m pacodi_jax.main --config=configs/air.py --workdir=runs/air

Two CPU cores: 5 to 15 minutes of training on one of them, the other at work, one or two more to
calibrate, and 2.1 GB with the scoring. Scores against train windows, mean of 5 seeds, the floor
(real against other real windows) in brackets: Context-FID 0.026 (0.018), discriminative 0.009
(0.011), predictive 0.022 (0.020), correlational 0.069 (0.085).
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    better = {"diffusion.statistics": "generated", "train.calibration": 30_000}
    return common.get_config(arguments, better=better, source="air")
