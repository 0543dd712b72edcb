"""Air quality: thirteen sensors in an Italian city, hourly, with gaps.

    python -m pacodi_jax.main --config=configs/air.py --workdir=runs/air

Two CPU cores: about a quarter of an hour of training on one of them, 2.2 GB with the scoring.
Scores against train windows, mean of 5 seeds, the floor (real against other real windows) in
brackets: Context-FID 0.071 (0.018), discriminative 0.043 (0.011), predictive 0.022 (0.020),
correlational 0.132 (0.085).
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="air")
