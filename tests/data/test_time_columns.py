"""Time stamps: formats, zones, grids."""

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.data import time_columns
from pacodi_jax.data.clock import Clock
from pacodi_jax.errors import PacodiError


def _grid(stamps, bounds=None):
    index = pd.DatetimeIndex(stamps)
    return time_columns.positions(index, np.array(bounds or [0, len(index)]), "when")


def _stamps(clock, start, found):
    return clock.stamps([start], np.zeros(len(found), int), found)


@pytest.mark.parametrize(
    "format",
    [
        "%m/%d/%Y %I:%M %p",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M",
        "%d.%m.%Y %H:%M",
        "%Y-%m-%d %H:%M:%S%z",
        "%Y/%m/%d",
    ],
)
def test_a_format_is_found_and_written_back(format):
    index = pd.date_range("2020-01-20", periods=40, freq="D", tz="UTC" if "%z" in format else None)
    text = pd.Series(index.strftime(format))
    stamps = time_columns.parse(text.to_frame("t"), ("t",), None)
    assert (stamps.values == index).all()
    clock = Clock(("t",), stamps.format, stamps.zone, "D", False, index[0].isoformat(), 40)
    assert list(clock.write(stamps.values)["t"]) == text.tolist()


def test_day_and_month_are_not_guessed():
    text = pd.Series(["01/02/2020", "02/02/2020"]).to_frame("t")
    with pytest.raises(PacodiError, match=r"%d/%m/%Y.*%m/%d/%Y.*time_format"):
        time_columns.parse(text, ("t",), None)
    assert time_columns.parse(text, ("t",), "%d/%m/%Y").values[0] == pd.Timestamp("2020-02-01")
    later = pd.Series(["01/02/2020", "13/02/2020"]).to_frame("t")
    assert time_columns.parse(later, ("t",), None).format == "%d/%m/%Y"


def test_a_date_and_a_time_column_are_one_stamp():
    frame = pd.DataFrame({"Date": ["9/03/2004", "10/03/2004"], "Time": ["18.00.00", "19.00.00"]})
    frame.loc[2] = ["31/03/2004", "20.00.00"]
    stamps = time_columns.parse(frame, ("Date", "Time"), None)
    assert stamps.values[0] == pd.Timestamp("2004-03-09 18:00")
    clock = Clock(("Date", "Time"), stamps.format, "", "h", False, "", 3)
    assert list(clock.write(stamps.values)["Time"]) == frame["Time"].tolist()


@pytest.mark.parametrize("frequency", ["s", "15min", "h", "D", "B", "W", "MS", "ME", "QS", "YS"])
def test_every_common_frequency_is_a_grid(frequency):
    index = pd.date_range("2015-01-01", periods=60, freq=frequency)
    found, name = _grid(index)
    np.testing.assert_array_equal(found, np.arange(60))
    clock = Clock(("t",), "", "", name, False, index[0].isoformat(), 60)
    assert (_stamps(clock, index[0].isoformat(), found) == index).all()


def test_local_days_over_a_clock_change_are_a_grid():
    index = pd.date_range("2020-03-20", periods=30, freq="D", tz="Europe/Berlin")
    found, name = _grid(index)
    np.testing.assert_array_equal(found, np.arange(30))
    clock = Clock(("t",), "", "Europe/Berlin", name, False, index[0].isoformat(), 30)
    assert (_stamps(clock, index[0].isoformat(), found) == index).all()


def test_skipped_hours_and_holidays_leave_holes_in_the_grid():
    hours = pd.date_range("2020-01-01", periods=50, freq="h").delete([7, 8])
    assert _grid(hours)[0][6:8].tolist() == [6, 9]
    days = pd.bdate_range("2020-01-01", periods=60).delete([20])
    found, name = _grid(days)
    assert name == "B"
    assert found[19:21].tolist() == [19, 21]


def test_each_series_has_its_own_origin():
    a = pd.date_range("2020-01-01", periods=5, freq="h")
    b = pd.date_range("2019-01-01", periods=4, freq="h")
    found, _ = _grid(a.append(b), [0, 5, 9])
    assert found.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3]


def test_a_counting_column_is_a_clock_too():
    found, step = time_columns.positions(
        pd.Index([10.0, 12.0, 14.0, 18.0, *np.arange(20, 60, 2.0)]), np.array([0, 24]), "t"
    )
    assert found[:4].tolist() == [0, 1, 2, 4]
    clock = Clock(("t",), "", "", step, True, "10.0", 26)
    assert _stamps(clock, "10.0", found)[:4].tolist() == [10, 12, 14, 18]


@pytest.mark.parametrize(
    ("stamps", "words"),
    [
        (["2020-01-01", "2020-01-01", "2020-01-02"], "repeats the one before it .row 2"),
        (["2020-01-02", "2020-01-01", "2020-01-03"], "is earlier than .* sort"),
        (["2020-01-01", "2020-01-02", "2020-01-04", "2020-01-04 05:00"], "mixed frequencies"),
    ],
)
def test_stamps_that_are_no_grid_are_refused(stamps, words):
    with pytest.raises(PacodiError, match=words):
        _grid(pd.to_datetime(pd.Series(stamps), format="ISO8601"))


def test_an_offset_with_a_colon_keeps_it():
    text = pd.Series(["2020-01-01 10:00:00+01:00", "2020-01-01 11:00:00+01:00"])
    stamps = time_columns.parse(text.to_frame("t"), ("t",), None)
    clock = Clock(("t",), stamps.format, stamps.zone, "h", False, "", 2)
    assert clock.write(stamps.values)["t"].tolist() == text.tolist()


def test_a_clock_of_tenths_is_regular():
    found, step = time_columns.positions(pd.Index(np.arange(300) * 0.1), np.array([0, 300]), "t")
    np.testing.assert_array_equal(found, np.arange(300))
    assert step == "0.1"


def test_stamps_of_several_series_keep_their_order():
    starts = ["2020-01-31T00:00:00", "2021-01-31T00:00:00"]
    which, steps = np.array([1, 0, 1, 0]), np.array([0, 2, 1, 0])
    expected = ["2021-01-31", "2020-03-31", "2021-02-28", "2020-01-31"]
    monthly = Clock(("t",), "", "", "ME", False, starts[0], 3)
    assert monthly.stamps(starts, which, steps).strftime("%Y-%m-%d").tolist() == expected
    daily = monthly._replace(frequency="D")
    expected = ["2021-01-31", "2020-02-02", "2021-02-01", "2020-01-31"]
    assert daily.stamps(starts, which, steps).strftime("%Y-%m-%d").tolist() == expected
