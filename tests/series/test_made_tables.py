"""Made tables through the library: types, bounds, the week, and stamps over clock changes."""

import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj


@pytest.fixture(scope="module")
def made(benchmark):
    return benchmark("made_tables")


@pytest.fixture(scope="module")
def shops(made):
    return made.shops(count=6, days=200)


@pytest.fixture(scope="module")
def model(shops):
    """A model that has seen the shops for long enough to know their week."""
    settings = {"train.steps": 400, "train.ema": 0.99, "data.calendar": "week"}
    model = pj.PaCoDi(length=14, time="day", id="shop", size="tiny", settings=settings)
    return model.fit(shops, progress=False)


def test_shops_are_simulated_filled_and_forecast_in_whole_numbers_that_keep_the_week(
    made, shops, model
):
    year = model.simulate(84, start="2027-01-01", count=6, progress=False)
    whole = model.impute(shops, draws=4, progress=False)
    ahead = model.forecast(shops, horizon=21, draws=20, quantiles=(0.5,), progress=False)
    middle = ahead.rename(columns={"sales_q50": "sales"})
    for table in (year, whole):
        assert table["sales"].dtype == shops["sales"].dtype == "Int64"
        assert not table["sales"].isna().any()
    assert middle["sales"].dtype.kind == "i"
    for table in (year, whole, middle):
        assert (table["sales"] >= 0).all()
    for table in (year, middle):
        assert made.alike(made.weekdays(shops), made.weekdays(table)) > 0.9
    assert year["sales"].std() == pytest.approx(shops["sales"].std(), rel=0.3)


def test_gaps_of_the_shops_are_filled_by_the_day_of_the_week(made, shops, model):
    whole = model.impute(shops, draws=4, progress=False)
    both = whole.merge(shops, on=["day", "shop"], how="left", suffixes=("", "_seen"))
    seen = both["sales_seen"].notna()
    assert (both["sales"][seen] == both["sales_seen"][seen]).all()
    assert made.alike(made.weekdays(shops), made.weekdays(both[~seen])) > 0.8
    starts = shops.groupby("shop")["day"].min()
    assert starts.nunique() > 1
    assert (whole.groupby("shop")["day"].min() == starts).all()
    assert (whole.groupby("shop")["day"].diff().dropna() == pd.Timedelta(days=1)).all()


def test_stamps_are_right_over_both_clock_changes(made):
    table = made.load(days=40)  # from 1 October: local time is put back on the 27th
    assert made.steps_per_day(table["time"])["2024-10-27"] == 100
    settings = {"train.steps": 10, "train.batch": 8, "sample.steps": 4, "data.calendar": "day"}
    model = pj.PaCoDi(length=96, time="time", size="tiny", settings=settings)
    model.fit(table, progress=False)
    for start, steps in (("2027-03-27", (96, 92, 96)), ("2027-10-30", (96, 100, 96))):
        drawn = model.simulate(sum(steps), start=start, progress=False)
        assert drawn["time"].dtype == table["time"].dtype
        assert drawn["time"].iloc[0] == pd.Timestamp(start, tz=made.ZONE)
        assert tuple(made.steps_per_day(drawn["time"])) == steps
        assert (drawn["time"].diff().dropna() == pd.Timedelta(minutes=15)).all()
    until = table[table["time"] < "2024-10-27"]  # a forecast and a gap over the night itself
    ahead = model.forecast(until, horizon=100, draws=2, progress=False)
    assert tuple(made.steps_per_day(ahead["time"])) == (100,)
    gaps = table[table["time"] != pd.Timestamp("2024-10-27 02:30+02:00")]
    assert len(gaps) == len(table) - 1
    whole = model.impute(gaps, draws=2, progress=False)
    assert (whole["time"] == table["time"]).all()
    assert np.isfinite(whole["kW"]).all()
