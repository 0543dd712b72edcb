"""The calendar: phases against closed forms, chosen by what train tells apart, drawn by its law."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.data.calendar import MOST, Calendar
from pacodi_jax.data.captioned import with_texts
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import FAMILIES
from pacodi_jax.run import conditions, parts
from pacodi_jax.settings import Config
from pacodi_jax.text.encoders.hashed import Hashed


def load(rows, frequency, calendar="on", zone=None, start="2021-01-01", **settings):
    stamps = pd.date_range(start, periods=rows, freq=frequency, tz=zone)
    frame = pd.DataFrame({"when": stamps, "x": np.random.default_rng(0).normal(size=rows)})
    options = {"length": 6, "time": "when", "fractions": (1, 0, 0), **settings}
    return data.load(data.DataSettings(calendar=calendar, **options), table=frame)


def turn(*fractions):
    """The condition of phases that are these fractions of their periods."""
    angles = 2 * np.pi * np.array(fractions)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()


def test_known_stamps_have_their_closed_forms():
    known = Calendar(("day", "week", "year"), "", ())
    stamps = pd.DatetimeIndex(["2024-01-01 00:00", "2024-07-01 06:00", "2023-07-02 12:00"])
    expected = [
        turn(0, 0, 0),  # a Monday
        turn(1 / 4, 1 / 28, 182.25 / 366),  # a Monday of a leap year
        turn(1 / 2, 6.5 / 7, 1 / 2),  # a Sunday, in the middle of its year
    ]
    found = known.phases(stamps)
    assert (found.shape, found.dtype) == ((3, known.width), np.float32)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "frequency", "names"),
    [
        (2 * 8760, "h", ("day", "week", "year")),
        (2 * 8000, "h", ("day", "week")),  # 22 months
        (200, "h", ("day",)),
        (40, "h", ()),
        (800, "D", ("week", "year")),
        (400, "D", ("week",)),
        (100, "D", ("week",)),
        (600, "B", ("week", "year")),
        (120, "W", ("year",)),
        (100, "W", ()),
        (36, "MS", ("year",)),
        (40, "YS", ()),
        (1000, "15min", ("day",)),
        (1600, "12h", ("day", "week", "year")),
        (800, "24h", ("week", "year")),
    ],
)
def test_phases_are_those_that_frequency_and_span_tell_apart(rows, frequency, names):
    found = load(rows, frequency, "auto").recipe.calendar
    assert (found.names if found else ()) == names
    if not names:
        with pytest.raises(PacodiError, match="tell no day, week or year from others"):
            load(rows, frequency, "on")


def test_a_phase_at_which_every_window_begins_is_none():
    assert load(9600, "h", stride=24).recipe.calendar.names == ("week",)
    with pytest.raises(PacodiError, match="names 'day', but every window begins at the same one"):
        load(9600, "h", "day", stride=24)


def test_phases_may_be_named_and_come_in_their_order():
    assert load(400, "h", ("week", "day")).recipe.calendar.names == ("day", "week")
    assert Config.default().parsed({"data.calendar": "day, week"}).data.calendar == "day, week"
    assert load(400, "D", "off").recipe.calendar is None
    assert load(400, "D", "off").train.condition() is None


@pytest.mark.parametrize(
    ("calendar", "said"),
    [("weak", "Did you mean 'week'"), ("day,on", "'on' stands alone"), ("", "unknown")],
)
def test_what_is_no_phase_is_refused(calendar, said):
    with pytest.raises(PacodiError, match=said):
        data.DataSettings(calendar=calendar)


def test_tables_without_dates_have_no_calendar():
    frame = pd.DataFrame({"n": np.arange(300), "x": np.random.default_rng(0).normal(size=300)})
    for time in ("n", ()):
        settings = data.DataSettings(length=6, time=time, channels="x", calendar="auto")
        assert data.load(settings, table=frame).recipe.calendar is None
        with pytest.raises(PacodiError, match="needs a time column of dates"):
            data.load(settings.replace(calendar="on"), table=frame)


def test_local_time_counts_over_a_change_of_the_clocks():
    found = load(8 * 7 * 96, "15min", zone="Europe/Berlin", start="2024-03-01")
    stamps = pd.DatetimeIndex(found.train.table.stamps(found.train.starts))
    noon = (stamps.hour == 12) & (stamps.minute == 0)
    assert len(set(stamps[noon].tz_convert("UTC").hour)) == 2  # before and after the change
    day = found.train.condition()[noon, :2]
    np.testing.assert_allclose(day, np.tile(turn(0.5), (noon.sum(), 1)), atol=1e-6)
    utc = found.recipe.calendar.phases(stamps[noon].tz_convert("UTC"))  # the same moments
    np.testing.assert_array_equal(utc[:, :2], day)
    first = found.recipe.clock.moment("2024-03-31 01:30")
    steps = found.recipe.clock.windows(pd.DatetimeIndex([first] * 2), 6)
    assert [s.strftime("%H:%M%z") for s in steps[6:]] == [
        "01:30+0100", "01:45+0100", "03:00+0200", "03:15+0200", "03:30+0200", "03:45+0200",
    ]  # fmt: skip


def test_phases_stand_behind_static_columns():
    stamps = pd.date_range("2021-01-01", periods=300, freq="D")
    shops = [
        pd.DataFrame({"when": stamps[i:], "shop": i, "grade": grade, "x": np.arange(300.0)[i:]})
        for i, grade in ((0, "low"), (9, "high"))
    ]
    settings = data.DataSettings(length=6, time="when", id="shop", static="grade", calendar="on")
    found = data.load(settings, table=pd.concat(shops))
    condition = found.train.condition()
    assert condition.shape == (len(found.train), 2 + 2)
    assert set(map(tuple, condition[:, :2].tolist())) == {(0, 1), (1, 0)}
    table = found.train.to_table(np.arange(len(found.train)))
    first = pd.DatetimeIndex(table.groupby("window")["when"].first())
    np.testing.assert_allclose(condition[:, 2:], found.recipe.calendar.phases(first), atol=1e-6)


def test_phases_stand_behind_the_vectors_of_texts_and_requests_are_built_alike():
    stamps = pd.date_range("2021-01-01", periods=300, freq="D")
    told = np.where(np.arange(300) % 100 < 50, "it rises", "it falls")
    frame = pd.DataFrame({"when": stamps, "x": np.sin(np.arange(300.0)), "caption": told})
    settings = data.DataSettings(length=6, time="when", text="caption", calendar="on")
    plain = data.load(settings, table=frame)
    found = with_texts(plain, Hashed(width=64), column="caption", phrasings=1, seed=0).train
    condition = found.condition()
    np.testing.assert_array_equal(condition[:, :-2], found.vectors)
    np.testing.assert_array_equal(condition[:, -2:], plain.train.condition())
    recipe, vector = plain.recipe, found.vectors[0]
    asked = conditions.asked(recipe, None, 0, 3, text="it rises", vector=vector)
    dated = conditions.at_dates(
        recipe, asked, 0, 3, pd.DatetimeIndex(stamps)[plain.train.starts[0]]
    )
    np.testing.assert_array_equal(dated.vectors, np.tile(condition[0], (3, 1)))
    assert dated.columns["caption"].tolist() == ["it rises"] * 3


def test_a_family_without_conditions_goes_without_what_auto_finds(monkeypatch):
    deaf = dataclasses.replace(FAMILIES["temporal"], reads_conditions=False)
    monkeypatch.setitem(FAMILIES, "temporal", deaf)
    frame = pd.DataFrame({"when": pd.date_range("2021", periods=300), "x": np.arange(300.0) % 7})
    asked = {"data.source": "table", "data.time": "when", "data.calendar": "auto"}
    for name, known in (("pacodi", True), ("temporal", False)):
        config = Config.default(name).changed(asked)
        assert (parts.load_windows(config, frame).recipe.calendar is not None) == known
    with pytest.raises(PacodiError, match=r"'temporal' cannot be conditioned; .*data\.calendar"):
        config.changed({"data.calendar": "on"})


def test_dates_are_drawn_evenly_from_train_and_the_ith_depends_on_the_seed_and_i_alone():
    recipe = load(9000, "h", zone="Europe/Berlin", fractions=(0.8, 0.1, 0.1)).recipe
    dates = recipe.calendar
    assert len(dates.firsts) == MOST
    many = dates.draw(3, 50_000)
    pd.testing.assert_index_equal(dates.draw(3, 7), many[:7])
    assert not dates.draw(4, 7).equals(many[:7])
    begin, end = many.min(), many.max()
    assert begin == pd.Timestamp("2021-01-01", tz="Europe/Berlin")
    assert end < begin + pd.Timedelta(hours=7200)
    np.testing.assert_allclose(np.bincount(many.hour) / 50_000, 1 / 24, atol=0.006)
    np.testing.assert_allclose(np.bincount(many.day_of_week) / 50_000, 1 / 7, atol=0.01)
    again = Recipe.from_json(recipe.to_json()).calendar
    assert again == dates
    pd.testing.assert_index_equal(again.draw(0, 99), dates.draw(0, 99))


def test_recipes_without_a_calendar_load_as_before():
    recipe = load(400, "D", "off").recipe
    older = json.loads(recipe.to_json())
    del older["calendar"]
    assert Recipe.from_json(json.dumps(older)).calendar is None


@pytest.mark.parametrize(
    ("frequency", "good", "bad"),
    [
        ("h", "2030-05-05 07:00", "2030-05-05 07:30"),
        ("D", "2019-02-01", "2019-02-01 12:00"),
        ("B", "2027-01-01", "2027-01-02"),
        ("MS", "2027-03-01", "2027-03-02"),
        ("W", "2027-01-03", "2027-01-04"),
    ],
)
def test_a_start_lies_on_the_grid_of_the_table(frequency, good, bad):
    clock = load(100, frequency, "off").recipe.clock
    assert clock.moment(good) == pd.Timestamp(good)
    for wrong in (bad, "soon", "2027-01-01 00:00+01:00", None):
        with pytest.raises(PacodiError, match="start="):
            clock.moment(wrong)
    with pytest.raises(
        PacodiError, match=r"has a time zone, and the stamps of this table have none"
    ):
        clock.moment(f"{good}+01:00" if ":" in good else f"{good} 00:00+01:00")


def test_a_calendar_that_is_off_is_the_data_set_that_it_was():
    assert load(400, "D", "off").fingerprint != load(400, "D", "on").fingerprint
