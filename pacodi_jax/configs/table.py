"""Your own table: CSV, Parquet or .npy; samples come back as the same kind, in your units.

    python -m pacodi_jax.main --config=configs/table.py --workdir=runs/mine \\
        --config.data.path=mine.csv --config.data.time=date

Look at it first: ``python -m pacodi_jax.data describe --config=configs/table.py …``. Name the time
column with ``data.time``, the column that tells series apart with ``data.id``, the columns to model
with ``data.channels`` (all that have no other role by default), labels with ``data.static``; with
these, ``--mode=sample --static="grade=high,area=12.5"`` draws windows that have them.

Two CPU cores: time and memory depend on the table. Scores: not measured.
"""

from ml_collections import ConfigDict

from pacodi_jax.configs import common


def get_config(arguments: str = "") -> ConfigDict:
    """Returns the settings; ``arguments`` as in ``configs/common.py``."""
    return common.get_config(arguments, source="table")
