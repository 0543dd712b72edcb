"""ETTh1: seven channels of an electricity transformer, hourly.

    python -m pacodi_jax.main --config=configs/etth1.py --workdir=runs/etth1

One CPU core: 13 minutes of training, 1.3 GB. Scores against train windows (5 seeds; floor, that is real
against real, in brackets): Context-FID 0.024 ± 0.007 (0.016), discriminative 0.009 ± 0.011 (0.011),
predictive 0.121 ± 0.005 (0.122), correlational 0.048 ± 0.006 (0.032). More in docs/results.md.
"""

from ml_collections import ConfigDict

from configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="etth1")
