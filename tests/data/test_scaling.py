"""The curve of ``scaling=quantile``: normal scores for any channel, and the way back."""

import json

import numpy as np
import pytest
from scipy.special import ndtr

from pacodi_jax import data
from pacodi_jax.data import scaling
from pacodi_jax.data.recipe import Recipe
from pacodi_jax.data.scaling import fit
from pacodi_jax.errors import PacodiError


def _fit(*columns):
    values = np.stack(columns, axis=1)
    scaler = scaling.fit(values, np.ones(len(values), bool), "quantile", ("a", "b")[: len(columns)])
    return scaler, values


def test_a_skewed_channel_becomes_a_normal_one():
    normal = np.random.default_rng(0).normal(size=4000)
    scaler, values = _fit(np.exp(normal))
    scores = scaler.scale(values.copy())[:, 0]
    assert np.abs(scores - normal)[np.abs(normal) < 2.5].max() < 0.15
    assert scores.mean() == pytest.approx(0, abs=0.03)
    assert scores.std() == pytest.approx(1, abs=0.03)


def test_scores_keep_the_order_and_few_draws_leave_the_range():
    rng = np.random.default_rng(1)
    scaler, values = _fit(rng.gamma(0.3, 50, size=4000), rng.uniform(size=4000))
    scores = scaler.scale(values.copy())
    for column in range(2):
        order = np.argsort(values[:, column])
        assert (np.diff(scores[order, column]) >= 0).all()
    drawn = scaler.unscale(rng.normal(size=(500, 24, 2)))
    outside = (drawn < values.min(0)) | (drawn > values.max(0))
    assert 0 < outside.mean() < 1e-3  # one of 4000 on average: half a row beyond either end


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_that_half_the_rows_share_comes_back_exactly(dtype):
    rng = np.random.default_rng(2)
    half = np.where(np.arange(4000) % 2, rng.uniform(1, 2, 4000), 0.0).astype(dtype)
    scaler, values = _fit(half)
    scores = scaler.scale(values.astype(np.float64))[:, 0]
    assert ndtr(scores[0]) == pytest.approx(0.25, abs=0.03)  # its middle rank
    draws = scaler.unscale(rng.normal(size=(4000, 1, 1))).ravel()
    assert (draws == 0).mean() == pytest.approx(0.5, abs=0.05)


def test_values_beyond_train_survive_the_way_there_and_back():
    scaler, _ = _fit(np.random.default_rng(3).gamma(2, size=4000))
    far = np.array([[-30.0], [0.0], [500.0]])
    back = scaler.unscale(scaler.scale(far.copy())[None])[0]
    np.testing.assert_allclose(back, far, atol=1e-4)


def test_constant_channels_stay_out_beside_curved_ones():
    scaler, values = _fit(np.full(4000, 7.0), np.random.default_rng(4).gamma(2, size=4000))
    assert scaler.live.tolist() == [False, True]
    back = scaler.unscale(scaler.scale(values.copy())[None])[0]
    np.testing.assert_allclose(back, values, atol=1e-5)


def test_a_recipe_keeps_the_curve_and_an_older_one_has_none(tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(5).gamma(0.5, size=(300, 2)))
    recipes = {
        name: data.load(
            data.DataSettings(
                source="table", path=tmp_path / "t.npy", length=8, scaling=name, bounds="none"
            )
        ).recipe
        for name in ("quantile", "standard")
    }
    windows = np.random.default_rng(6).normal(size=(3, 8, 2))
    again = Recipe.from_json(recipes["quantile"].to_json())
    np.testing.assert_array_equal(again.deliver(windows), recipes["quantile"].deliver(windows))
    older = json.loads(recipes["standard"].to_json())
    older["scaler"] = {k: older["scaler"][k] for k in ("offset", "factor")}
    again = Recipe.from_json(json.dumps(older))
    np.testing.assert_array_equal(again.deliver(windows), recipes["standard"].deliver(windows))


@pytest.mark.parametrize("scaling", ["min_max", "standard", "robust"])
@pytest.mark.parametrize("end", [1e302, 1.7e308])
def test_a_channel_that_spans_too_much_is_refused_by_name(scaling, end):
    column = np.tile([-end, end], 50)[:, None]
    with pytest.raises(PacodiError, match="column 'a' spans too wide a range"):
        fit(column, np.ones(100, bool), scaling, ("a",))


def test_the_rows_of_train_alone_are_looked_at_wherever_they_lie():
    values = np.arange(20.0)[:, None]
    for rows in (slice(3, 9), slice(3, 10), slice(0, 20), [3, 4, 9, 12]):
        chosen = np.zeros(20, bool)
        chosen[rows] = True
        scaler = scaling.fit(values, chosen, "standard", ("a",))
        assert scaler.offset == pytest.approx(values[rows].mean())
        assert scaler.factor == pytest.approx(values[rows].std())


def test_a_curve_has_128_pieces_and_half_a_row_lies_beyond_each_end():
    scaler, values = _fit(np.random.default_rng(7).gamma(2, size=1000))
    assert scaler.scores.shape == scaler.knots[:, 0].shape == (129,)
    assert ndtr(scaler.scores[0]) == pytest.approx(0.5 / 1000)
    assert ndtr(scaler.scores[-1]) == pytest.approx(1 - 0.5 / 1000)
    assert scaler.unscale(scaler.scores[[0, -1], None]).ravel() == pytest.approx(
        [values.min(), values.max()]
    )
