"""What tells one data set from any other."""

import hashlib
import json

import numpy as np
import pandas as pd

from pacodi_jax.data import bounds, calendar, mapped
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.data.table import Table


def fingerprint(table: Table, settings: DataSettings, seed: int) -> str:
    """SHA-256 of the values, the time grid, ids and labels, and the settings that change them."""
    options = {**settings.to_dict(), "seed": seed}
    del options["path"], options["stream"]
    for name, off in (("bounds", bounds.NONE), ("calendar", calendar.OFF), ("block", 0)):
        if options[name] == off:  # as in versions that had no such setting
            del options[name]
    given = {name: value for name, value in options.items() if value or value == 0}
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
    known = [table.channels, table.dtypes, table.starts, table.clock, table.bounds.tolist()]
    digest.update(json.dumps(known).encode())
    for array in (table.values, *(() if table.positions is None else (table.positions,))):
        for part in mapped.blocks(array):
            digest.update(np.ascontiguousarray(array[part]).data)
    if table.ids is not None:
        digest.update(json.dumps([str(i) for i in table.ids]).encode())
    if table.static.shape[1]:
        digest.update(pd.util.hash_pandas_object(table.static, index=False).to_numpy().data)
    return digest.hexdigest()
