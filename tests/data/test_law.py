"""Static values are drawn from train's law; partial requests are completed by it."""

import collections
import dataclasses

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.data import attributes, law
from pacodi_jax.errors import PacodiError

LENGTH = 5


def shops(series: int = 40) -> pd.DataFrame:
    """Series of three windows each, with two labels that go together, a flag and a quantity."""
    number = np.repeat(np.arange(series), 3 * LENGTH)
    return pd.DataFrame(
        {
            "who": number,
            "grade": np.where(number % 4 == 0, "high", "low"),
            "city": np.where(number % 4 == 0, "Rome", np.where(number % 2, "Oslo", "Bonn")),
            "open": number % 2 == 0,
            "area": 10.0 + number,
            "sales": np.random.default_rng(0).normal(size=len(number)),
        }
    )


@pytest.fixture(scope="module")
def recipe():
    settings = data.DataSettings(
        length=LENGTH, stride=LENGTH, id="who", static=("grade", "city", "open", "area"),
        fractions=(1, 0, 0),
    )  # fmt: skip
    return data.load(settings, table=shops()).recipe


def test_draws_have_trains_law_and_row_i_depends_on_the_seed_and_i_alone(recipe):
    many = recipe.draw_static(3, 20_000)
    assert many["grade"].eq("high").mean() == pytest.approx(0.25, abs=0.01)
    assert set(zip(many["grade"], many["city"], strict=True)) == {
        ("high", "Rome"), ("low", "Oslo"), ("low", "Bonn"),
    }  # fmt: skip
    pd.testing.assert_frame_equal(recipe.draw_static(3, 7), many[:7])
    assert not recipe.draw_static(4, 20_000).equals(many)
    assert recipe.draw_static(-1, 3).shape == (3, 4)
    kept = shops()[["grade", "city", "open", "area"]]
    assert (many.dtypes == kept.dtypes).all()


def test_given_labels_are_kept_and_the_others_completed_from_matching_rows(recipe):
    drawn = recipe.draw_static(0, 500, {"grade": "low", "open": True})
    assert set(drawn["grade"]) == {"low"}
    assert set(drawn["city"]) == {"Bonn"}
    assert set(drawn["area"]) == {10.0 + n for n in range(40) if n % 4 == 2}


def test_a_given_quantity_chooses_among_the_nearest_tenth(recipe):
    drawn = recipe.draw_static(0, 500, {"area": 12.3, "grade": "low"})
    assert set(drawn["area"]) == {12.3}
    assert set(drawn["city"]) == {"Oslo", "Bonn"}  # areas 11, 12 and 13 are nearest of 30
    alone = recipe.draw_static(0, 5000, {"area": 30.0})["city"]  # 30, 29, 31, and 28 as near as 32
    shares = alone.value_counts(normalize=True)
    assert shares.to_dict() == pytest.approx({"Oslo": 0.4, "Bonn": 0.4, "Rome": 0.2}, abs=0.03)
    far = recipe.draw_static(0, 9, {"area": 1e6})
    assert set(far["area"]) == {1e6}


def test_labels_that_no_window_combines_are_completed_from_the_whole_law(recipe):
    drawn = recipe.draw_static(0, 2000, {"grade": "high", "city": "Oslo"})
    assert set(drawn["grade"]) == {"high"}
    assert set(drawn["city"]) == {"Oslo"}
    assert drawn["open"].mean() == pytest.approx(0.5, abs=0.05)


def test_a_full_request_is_every_row_and_encodes_as_its_condition(recipe):
    full = {"grade": "high", "city": "Rome", "open": np.True_, "area": np.float32(14)}
    rows = recipe.draw_static(9, 4, full)
    encoded = recipe.encode_static(rows)
    assert (encoded.shape, encoded.dtype) == ((4, 2 + 3 + 2 + 1), np.float32)
    np.testing.assert_array_equal(encoded, np.tile(recipe.condition(full), (4, 1)))


def test_the_law_survives_json(recipe):
    again = data.Recipe.from_json(recipe.to_json())
    assert again.law == recipe.law
    pd.testing.assert_frame_equal(again.draw_static(5, 50), recipe.draw_static(5, 50))


def test_a_recipe_without_a_law_asks_for_every_column(recipe):
    older = dataclasses.replace(recipe, law=None)
    with pytest.raises(PacodiError, match=r"version 0\.1.*'grade', 'city', 'open', 'area'"):
        older.draw_static(0, 3, {"grade": "high"})
    full = {"grade": "high", "city": "Rome", "open": True, "area": 14.0}
    assert older.draw_static(0, 3, full)["city"].tolist() == ["Rome"] * 3


def test_what_cannot_be_drawn_is_refused(recipe):
    for given, said in (
        ({"grad": "high"}, "'grad' is no static column.*mean 'grade'"),
        ({"grade": "medium"}, "grade='medium' was not in train"),
        ({"area": float("nan")}, "not a finite number"),
    ):
        with pytest.raises(PacodiError, match=said):
            recipe.draw_static(0, 3, given)
    with pytest.raises(PacodiError, match="no value for the static column 'city', 'open', 'area'"):
        recipe.encode_static(pd.DataFrame({"grade": ["high"]}))


def test_part_of_the_columns_can_be_asked_for_in_text(recipe):
    assert recipe.parse_static("area=12,grade=low") == {"grade": "low", "area": 12.0}
    with pytest.raises(PacodiError, match="'grad' is no static column"):
        recipe.parse_static("grad=low")


def test_many_distinct_rows_are_thinned_evenly():
    rows = pd.DataFrame({"size": np.random.default_rng(0).exponential(size=50_000)})
    rows["kind"] = np.where(rows["size"] > 1, "large", "small")
    known = [attributes.fit(name, rows[name]) for name in rows]
    found = law.fit(known, rows)
    assert len(found.rows) == law.MOST
    assert sum(found.counts) == law.MOST
    sizes = np.array([row[0] for row in found.rows])
    np.testing.assert_allclose(np.quantile(sizes, (0.1, 0.5, 0.9)),
                               rows["size"].quantile((0.1, 0.5, 0.9)), rtol=2e-3)  # fmt: skip
    kinds = collections.Counter(row[1] for row in found.rows)
    assert kinds["large"] / law.MOST == pytest.approx(rows["kind"].eq("large").mean(), abs=1e-3)


def test_only_training_windows_make_the_law():
    frame = shops()
    settings = data.DataSettings(
        length=LENGTH, id="who", static="area", channels="sales", split="series"
    )
    found = data.load(settings, table=frame)
    trained = {row[0] for row in found.recipe.law.rows}
    assert trained == set(found.train.column("area"))
    assert sum(found.recipe.law.counts) == len(found.train)
