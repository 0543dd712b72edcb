"""A small table of shops and a model that has seen it for some steps."""

import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj


def shops(days: int = 150) -> pd.DataFrame:
    """Three shops: whole-numbered sales with a week in them, a share, a grade per shop."""
    rng = np.random.default_rng(0)
    frames = []
    for number, name in enumerate(["north", "south", "west"]):
        day = pd.date_range("2024-01-01", periods=days, freq="D") + pd.Timedelta(days=7 * number)
        level = 20 + 10 * number + 8 * np.sin(2 * np.pi * day.day_of_week / 7)
        frames.append(
            pd.DataFrame(
                {
                    "day": day,
                    "shop": name,
                    "sales": rng.poisson(level),
                    "share": 1 / (1 + np.exp(-rng.normal(size=days) - 0.1 * level + 2)),
                    "grade": ["plain", "high"][number % 2],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return shops()


@pytest.fixture(scope="session")
def model(table) -> pj.PaCoDi:
    """A tiny model of the shops that knows the calendar."""
    chosen = {"train.steps": 30, "train.batch": 16, "sample.steps": 4, "data.calendar": "week"}
    chosen |= {"sample.batch": 8, "data.fractions": (0.6, 0.2, 0.2)}
    estimator = pj.PaCoDi(
        length=14, time="day", id="shop", static="grade", size="tiny", settings=chosen
    )
    return estimator.fit(table, progress=False)


@pytest.fixture(scope="session")
def plain() -> pj.PaCoDi:
    """A tiny model of an array of one series, two channels."""
    walk = np.cumsum(np.random.default_rng(1).normal(size=(300, 2)), axis=0)
    chosen = {"train.steps": 20, "train.batch": 16, "sample.steps": 4}
    return pj.PaCoDi(length=12, size="tiny", settings=chosen).fit(walk, progress=False)
