"""Made tables that the tests of this folder share."""

import numpy as np
import pandas as pd


def hourly(rows: int, seed: int = 0, zone: str | None = None) -> pd.DataFrame:
    """A table with stamps, a float, an int, a float32 and a bool column."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "when": pd.date_range("2020-03-20 00:00", periods=rows, freq="h", tz=zone),
            "load": generator.normal(100, 20, rows),
            "count": generator.integers(-1000, 1000, rows),
            "small": generator.normal(0, 1, rows).astype(np.float32),
            "open": generator.integers(0, 2, rows).astype(bool),
        }
    )


def mixed(rows: int = 200) -> pd.DataFrame:
    """Three interleaved zoned series with labels, a missing stretch, a long gap and a constant."""
    parts = []
    for i, name in enumerate(("north", "south", "east")):
        part = hourly(rows, seed=i, zone="Europe/Berlin")
        part["site"] = name
        part["grade"] = i
        part["limit"] = 7
        part.loc[10:11, "load"] = np.nan
        part = part.drop(index=[40, *range(100, 112)])
        parts.append(part)
    table = pd.concat(parts).sort_values(["when", "site"]).reset_index(drop=True)
    return table[["site", "when", "load", "grade", "count", "small", "limit", "open"]]
