"""A table of shops, and an estimator that is trained on it in a moment."""

import numpy as np
import pandas as pd
import polars as pl

import pacodi_jax as pj

QUICK = {"train.steps": 6, "train.batch": 8, "sample.steps": 3}


def shops(backend: str = "pandas"):
    """Four shops with a grade, whole-numbered sales and a load, hourly."""
    rng = np.random.default_rng(0)
    parts = []
    for number in range(4):
        when = pd.date_range("2024-03-01", periods=240, freq="h")
        wave = np.sin(2 * np.pi * np.arange(240) / 24)
        parts.append(
            pd.DataFrame(
                {
                    "date": when,
                    "shop": f"shop {number}",
                    "sales": rng.poisson(20 + 5 * wave).astype("int32"),
                    "load": (10 * number + wave + 0.1 * rng.normal(size=240)).astype("float32"),
                    "grade": "high" if number % 2 else "low",
                }
            )
        )
    frame = pd.concat(parts, ignore_index=True)
    return frame if backend == "pandas" else pl.from_pandas(frame)


def estimator(**changes) -> pj.PaCoDi:
    plain = {"length": 12, "time": "date", "id": "shop", "static": "grade", "size": "tiny"}
    return pj.PaCoDi(**plain | {"settings": QUICK} | changes)
