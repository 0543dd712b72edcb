"""Air quality: thirteen sensors in an Italian city, hourly, with gaps.

    python -m pacodi_jax.main --config=configs/air.py --workdir=runs/air

Two CPU cores: the default of 40,000 steps was not run yet with the present network. Scores with
--config.train.steps=8000, 3 minutes of training on one of them, shared with other work, and 2.1
GB with the scoring: against train windows, mean of 3 seeds, the floor (real against other real
windows) in brackets: Context-FID 0.079 (0.017), discriminative 0.014 (0.017), predictive 0.022
(0.019), correlational 0.088 (0.074).
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="air")
