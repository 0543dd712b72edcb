"""Bounds: a link that is exact both ways and never leads beyond, where train shows a bound."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import bounds, scaling
from pacodi_jax.data.bounds import Bounds
from pacodi_jax.data.column import Column
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import Config
from tests.core.strategies import MODEST, SEEDS

NONE = math.nan
BOUNDED = [Bounds(0.0, NONE, 2.0), Bounds(NONE, -3.0, 0.7), Bounds(0.0, 1.0, 0.5)]


def load(columns, **settings):
    return data.load(data.DataSettings(length=6, **settings), table=pd.DataFrame(columns))


def bounds_of(values, text="auto", dtype="float64"):
    return bounds.chooser(text, ("x",), (dtype,))("x", Column.of(np.asarray(values, float)))[:2]


@pytest.mark.parametrize("bounded", BOUNDED)
def test_the_link_is_the_line_away_from_bounds_and_rises_without_a_step_in_its_slope(bounded):
    low = -10.0 if math.isnan(bounded.low) else bounded.low
    high = 10.0 if math.isnan(bounded.high) else bounded.high
    values = np.linspace(low, high, 20_001)
    line = bounds.to_line(values, bounded)
    assert (np.diff(line) > 0).all()
    far = (values - bounded.low < bounded.width) | (bounded.high - values < bounded.width)
    np.testing.assert_array_equal(line[~far], values[~far])
    slope = np.diff(bounds.from_line(np.linspace(low, high, 20_001), bounded))
    assert np.abs(np.diff(slope)).max() < 2 * np.median(slope) * (high - low) / bounded.width / 2e4
    np.testing.assert_allclose(bounds.from_line(line, bounded), values, rtol=0, atol=1e-12)


@MODEST
@given(seed=SEEDS, power=st.floats(0.3, 6), offset=st.floats(-3, 3))
def test_the_way_there_and_back_through_float32_keeps_values_and_bounds(seed, power, offset):
    random = np.random.default_rng(seed)
    values = offset + random.gamma(0.7, size=(400, 1)) ** power
    values[random.random(400) < 0.3] = offset
    text = bounds.as_text({"x": (offset, None)})
    choose = bounds.chooser(text, ("x",), ("float64",))
    for name in scaling.SCALINGS:
        scaler = scaling.fit(values, np.ones(400, bool), name, ("x",), choose)
        # beyond train: further up, and as near to the bound as can be
        more = np.vstack([values, [[offset], [offset + 1e-9], [values.max() * 3 + 1]]])
        back = scaler.unscale(scaler.scale(more.copy())[None])[0]
        width = max(abs(offset), np.abs(more).max(), values.std())
        np.testing.assert_allclose(back, more, rtol=0, atol=2e-6 * width)
        at = more == offset
        assert at.sum() > 50
        np.testing.assert_array_equal(back[at], more[at])


@pytest.mark.parametrize("bounded", BOUNDED)
def test_nothing_that_a_model_may_draw_leads_beyond_a_bound(bounded):
    draws = np.concatenate([np.random.default_rng(0).normal(0, 50, 10_000), [-1e30, 1e30]])
    values = bounds.from_line(draws, bounded)
    assert not (values < bounded.low).any()
    assert not (values > bounded.high).any()
    assert np.isfinite(bounds.to_line(draws, bounded)).all()  # even for observed impossible values
    assert (np.diff(bounds.to_line(np.sort(draws), bounded)) >= 0).all()


def test_auto_takes_a_bound_where_train_touches_it_or_keeps_a_wide_margin():
    random = np.random.default_rng(0)
    skewed, wave = random.gamma(1.0, 5.0, 2000), 12 + 8 * np.sin(np.arange(2000) / 99)
    assert bounds_of(skewed)[0] == 0
    assert bounds_of(-skewed)[1] == 0
    assert bounds_of(np.rint(skewed), dtype="int64")[0] == 0
    assert bounds_of(random.normal(1000, 20, 2000))[0] == 0  # far from 0
    assert np.isnan(bounds_of(random.normal(0, 1, 2000))).all()
    degrees = np.abs(random.normal(3.3, 1, 2000) * 3) + 1.5  # a warm part of a year
    assert np.isnan(bounds_of(degrees)).all()
    assert bounds_of(random.beta(1, 1, 2000)) == (0, 1)
    assert bounds_of(wave / wave.max())[1] != 1  # within 0 and 1, but far from 0
    assert np.isnan(bounds_of(skewed, "none")).all()
    assert np.isnan(bounds_of(skewed > 5, dtype="bool")).all()


def test_a_wide_margin_leaves_train_as_it_is():
    prices = np.random.default_rng(0).normal(1000, 20, (500, 1))
    plain, bounded = (
        scaling.fit(prices, np.ones(500, bool), "standard", ("x",), bounds.chooser(t, "x", ["f"]))
        for t in ("none", "auto")
    )
    np.testing.assert_array_equal(plain.scale(prices.copy()), bounded.scale(prices.copy()))
    assert (
        plain.unscale(np.full((1, 1, 1), -80.0)) < 0 <= bounded.unscale(np.full((1, 1, 1), -80.0))
    )


def test_bounds_are_given_as_a_mapping_or_as_text_and_the_rest_stays_automatic():
    mapping = {"sales": (0, None), "a,b": (None, 5), "at:noon": (-1.5, 1.5), "free": (None, None)}
    text = data.DataSettings(bounds=mapping).bounds
    assert text == 'sales:0:,"a,b::5",at:noon:-1.5:1.5,free::'
    read = bounds.parse(text)
    assert read["at:noon"] == (-1.5, 1.5)
    assert (read["sales"][0], read["a,b"][1]) == (0, 5)
    assert np.isnan([*read["free"], read["sales"][1]]).all()
    assert Config.default().changed({"data.bounds": mapping}).data.bounds == text
    assert Config.default().parsed({"data.bounds": text}).data.bounds == text
    random = np.random.default_rng(0)
    columns = {"x": random.gamma(1, size=300), "y": random.gamma(1, size=300)}
    found = load(columns, bounds={"x": (None, None)})
    assert [name for name, _ in found.recipe.scaler.links()] == [1]
    assert found.report.given == ("x",)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("sales", r"data\.bounds='sales' cannot be read at 'sales'; write channel:low:high"),
        ("x:0", "cannot be read at 'x:0'"),
        ("x:zero:", "'zero' is not a finite number"),
        ("x:inf:", "'inf' is not a finite number"),
        ("x:1:1", "'x' cannot stay within 1 and 1"),
        ("x:0:,x:1:", "names the channel 'x' twice"),
        ({"x": 0}, "'x' has the bounds 0; give two, such as"),
        ("sale:0:", r"names 'sale', which is no channel; there are sales.*mean 'sales'"),
        ("sales:0:", "'sales' should be at least 0, but has the value -2 in the training part"),
        ("sales::0", "'sales' should be at most 0, but has the value 0\\."),
    ],
)
def test_what_cannot_be_a_bound_is_refused_by_name(wrong, said):
    with pytest.raises(PacodiError, match=said):
        load({"sales": np.linspace(-2, 1, 100)}, bounds=wrong)


def test_whole_numbers_keep_whole_bounds():
    found = load({"n": np.arange(1, 301) % 90 + 1}, bounds="n:0.5:")
    assert (found.recipe.deliver(np.full((1, 6, 1), -9.0)) == 1).all()


def test_values_beyond_the_bounds_outside_train_are_finite_and_told():
    level = np.abs(np.random.default_rng(0).normal(size=400))
    level[-3:] = -1.0
    found = load({"level": level})
    assert found.report.outside == (("level", 3),)
    assert "level (3 values)" in found.report.beyond
    assert np.isfinite(found.held_out.values()).all()


def test_bounds_live_in_the_recipe_and_recipes_without_them_load_as_before():
    random = np.random.default_rng(0)
    found = load({"x": random.gamma(1, size=300), "y": random.normal(size=300)})
    text, windows = found.recipe.to_json(), random.normal(0, 3, (4, 6, 2))
    json.loads(text, parse_constant=pytest.fail)  # NaN is not JSON
    again = Recipe.from_json(text)
    np.testing.assert_array_equal(again.deliver(windows), found.recipe.deliver(windows))
    assert again.deliver(windows)[..., 0].min() == 0
    older = json.loads(text)
    del older["scaler"]["bounds"]
    assert Recipe.from_json(json.dumps(older)).deliver(windows)[..., 0].min() < 0


def test_the_papers_protocol_and_unscaled_values_know_no_bounds_unless_given():
    columns = {"x": np.random.default_rng(0).gamma(1, size=300)}
    for settings in ({"protocol": "paper"}, {"scaling": "none"}):
        assert not load(columns, **settings).recipe.scaler.links()
    assert load(columns, scaling="none", bounds="x:0:").recipe.scaler.links()


def test_other_bounds_are_another_data_set_and_none_is_the_one_that_it_was():
    columns = {"x": np.random.default_rng(0).gamma(1, size=300)}
    auto, none = load(columns), load(columns, bounds="none")
    assert auto.fingerprint != none.fingerprint
