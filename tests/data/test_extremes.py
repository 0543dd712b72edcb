"""Columns at the ends of their types are handled or refused by name, never changed in silence."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from pacodi_jax import data
from pacodi_jax.data import DataSettings
from pacodi_jax.errors import PacodiError

ROWS = 300
WALK = np.random.default_rng(0).normal(size=ROWS).cumsum()


def load(table=None, **settings):
    return data.load(DataSettings(source="table", length=8, **settings), table=table)


@pytest.mark.parametrize("top", [2**63 - 1, -(2**63) + 1, 2**53 + 1])
def test_whole_numbers_that_float64_would_change_are_refused(top, tmp_path):
    column = np.full(ROWS, 5, np.int64)
    column[7] = top
    pd.DataFrame({"n": column, "x": WALK}).to_csv(tmp_path / "t.csv", index=False)
    for given in ({"path": str(tmp_path / "t.csv")}, {"table": pd.DataFrame({"n": column})}):
        with pytest.raises(PacodiError, match=rf"column 'n' holds the whole number {top}, which"):
            load(**given)
    with pytest.raises(PacodiError, match=rf"column 'c1' holds the whole number {top}, which"):
        load(np.stack([np.arange(ROWS), column], axis=1))
    column[7] = 2**53
    load(pd.DataFrame({"n": column, "x": WALK}))


def test_durations_are_refused_and_decimals_are_told_to_become_floats(tmp_path, caplog):
    with pytest.raises(PacodiError, match=r"column 'd' holds durations.* \.dt\.total_seconds"):
        load(pd.DataFrame({"d": pd.to_timedelta(WALK, unit="s")}))
    money = [decimal.Decimal(f"{value:.2f}") for value in WALK]
    table = pa.table({"money": pa.array(money, pa.decimal128(10, 2)), "x": WALK})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    for given in ({"path": str(tmp_path / "t.parquet")}, {"table": table}):
        caplog.clear()
        assert load(**given).recipe.dtypes == ("float64", "float64")
        assert "column 'money' is decimal128(10, 2); samples of it are float64" in caplog.text


@pytest.mark.parametrize("year", [1, 9998])
def test_stamps_that_nanoseconds_cannot_count_are_refused(year):
    begin = datetime.datetime(year, 3, 1)
    stamps = [begin + datetime.timedelta(hours=i) for i in range(ROWS)]
    texts = [f"{year:04d}-{stamp:%m-%d %H:%M:%S}" for stamp in stamps]
    for column in (pa.array(stamps, pa.timestamp("us")), texts):
        with pytest.raises(PacodiError, match=rf"column 't': the stamp {year:04d}-03-01 .* outsi"):
            load(pa.table({"t": column, "x": WALK}), time="t")


def test_a_stamp_that_no_calendar_shows_is_refused_by_name():
    """Found by fuzzing: pandas cannot show a stamp in a zone beyond the year 9999."""
    stamps = np.arange(ROWS).astype("datetime64[h]").astype("datetime64[us]")
    stamps[7] = np.datetime64("44689-02-03T04", "us")
    for zone in (None, "Europe/Paris"):
        table = pa.table({"t": pa.array(stamps, pa.timestamp("us", zone)), "x": WALK})
        with pytest.raises(PacodiError, match=r"the stamp 44689-02-03 04:00:00\.0+ is outside"):
            load(table, time="t")


def test_formulas_in_names_and_labels_are_told_and_quoted_on_request(tmp_path, caplog):
    frame = pd.DataFrame({"=1+1": WALK, "@x": WALK, "a-b": WALK, "grade": "-high"})
    recipe = load(frame, static="grade").recipe
    windows, labels = np.zeros((1, 8, 3)), pd.DataFrame({"grade": ["-high"]}, dtype="category")
    plain = recipe.write(windows, tmp_path / "plain.csv", static=labels)
    assert "takes these for formulas" in caplog.text
    assert caplog.text.strip().endswith("(--quote-formulas): '=1+1', '@x', '-high'")
    caplog.clear()
    quoted = recipe.write(windows, tmp_path / "quoted.csv", static=labels, quote=True)
    assert not caplog.text
    assert plain.read_text().splitlines()[:2] == ["window,=1+1,@x,a-b,grade", "0,0.0,0.0,0.0,-high"]
    first = ["window,'=1+1,'@x,a-b,grade", "0,0.0,0.0,0.0,'-high"]
    assert quoted.read_text().splitlines()[:2] == first
    recipe.write(windows, tmp_path / "plain.parquet", static=labels)
    assert not caplog.text
