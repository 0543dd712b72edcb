"""A model that knows the calendar: draws of a date, of train's dates, calibrated, by any door."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import PaCoDi, load
from pacodi_jax.cli import sample
from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.text.runs import LENGTH, tiny


def _load_of(stamps):
    return np.where(stamps.day_of_week < 5, 10.0, 30.0)


@pytest.fixture(scope="module")
def model():
    """A briefly trained model of a daily load that is higher at weekends."""
    stamps = pd.date_range("2024-01-01", periods=500, freq="D", tz="Europe/Berlin")
    noise = np.random.default_rng(0).normal(size=500)
    frame = pd.DataFrame({"when": stamps, "load": _load_of(stamps) + noise})
    config = Config.default("pacodi", "tiny").changed(
        {
            "data.source": "table",
            "data.time": "when",
            "data.calendar": "auto",
            "train.learning_rate": 1e-2,
            "train.calibration": 200,
        }
    )
    with compiling_quickly():
        estimator = PaCoDi()
        estimator.trained_ = train(tiny(config, 300), table=frame).model
        yield estimator


def test_a_window_that_starts_on_a_day_has_the_levels_of_its_days(model):
    assert model.trained_.recipe.calendar.names == ("week",)
    for start in ("2027-01-04", "2027-01-09"):  # a Monday, a Saturday
        table = model.sample(60, start=start)
        stamps = pd.DatetimeIndex(table["when"])
        expected = pd.date_range(start, periods=LENGTH, freq="D", tz="Europe/Berlin")
        assert (stamps == np.tile(expected, 60)).all()
        means = table["load"].to_numpy().reshape(60, LENGTH).mean(0)
        np.testing.assert_allclose(means, _load_of(expected), atol=5)


def test_unasked_windows_have_dates_of_train_and_the_levels_of_these_dates(model):
    recipe = model.trained_.recipe
    table = model.sample(100, seed=3)
    first = pd.DatetimeIndex(table.groupby("window")["when"].first())
    assert set(first.as_unit("ns").asi8) <= set(recipe.calendar.firsts)
    pd.testing.assert_index_equal(first, recipe.calendar.draw(3, 100), check_names=False,
                                  exact=False)  # fmt: skip
    error = table["load"].to_numpy() - _load_of(pd.DatetimeIndex(table["when"]))
    assert np.abs(error).mean() < 4  # 20 is the season
    assert set(first.day_of_week) == set(range(7))


def test_window_i_depends_on_the_seed_and_i_alone(model):
    few, many = model.trained_.draw(5, seed=4), model.trained_.draw(21, seed=4, batch=7)
    np.testing.assert_allclose(few.values, many.values[:5], rtol=1e-4)
    pd.testing.assert_index_equal(few.stamps, many.stamps[: 5 * LENGTH], exact=False)


def test_a_calendar_leaves_calibration_on(model):
    assert model.trained_.facts["calibration"] == 200
    assert model.trained_.generator.facts().calibrated
    both = {"data.calendar": "on", "data.static": "a", "train.calibration": 200}
    with pytest.raises(PacodiError, match="is for models without texts and labels"):
        Config.default().changed(both)


def test_the_calendar_is_saved_and_drawn_from_by_the_command(model, tmp_path, capsys):
    path = model.save(tmp_path / "m.pacodi")
    start = "2027-01-04"
    np.testing.assert_array_equal(
        load(path).sample(3, start=start, output="numpy"),
        model.sample(3, start=start, output="numpy"),
    )
    arguments = [str(path), "-n", "3", f"--start={start}", f"--out={tmp_path}"]
    assert sample.main(arguments) == 0
    written = pd.read_csv(tmp_path / "samples.csv")
    assert written["when"][0] == f"{start} 00:00:00+01:00"
    assert sample.main([*arguments[:3], "--start=2027-01-04 12:00"]) == 2
    assert "is not on the grid of this table: every D from 2024" in capsys.readouterr().err


def test_a_model_without_a_calendar_knows_no_dates(model):
    trained = model.trained_
    bare = replace(trained, recipe=replace(trained.recipe, calendar=None))
    with pytest.raises(PacodiError, match="knows no dates; train one"):
        bare.draw(3, start="2027-01-04")
