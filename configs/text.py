"""Text to series: captions of one channel's windows become conditions.

    python -m pacodi_jax.main --config=configs/text.py:source=etth1,length=24 --workdir=runs/text
    python -m pacodi_jax.main --config=configs/text.py:source=etth1,length=24 --workdir=runs/text \
        --mode=sample --text="a slow rise, then a sharp drop near the end" --samples=16

Two CPU cores: time not measured, memory not measured. Scores: not measured.
"""

from ml_collections import ConfigDict

from configs import common

CHANNELS = {"etth1": "OT", "ettm1": "OT", "ecl": "c320", "exchange": "c7", "air": "T"}


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``source`` is a key of CHANNELS, the rest as in ``common.py``."""
    extra = {"source": tuple(CHANNELS)}
    source = common.parse(arguments, extra).get("source", "etth1")
    config = common.get_config(
        arguments, extra=extra, source=source, channels=(CHANNELS[source],)
    ).unlock()
    config.text.encoder = "hashed"
    return config.lock()
