"""Whole series, filled gaps and forecasts by the estimator: columns, stamps, seeds, refusals."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacodi_jax as pj
from pacodi_jax.errors import PacodiError

QUIET = {"progress": False}


def _holes(table: pd.DataFrame) -> pd.DataFrame:
    """Cells, a stretch of a channel, whole rows and skipped rows are gone."""
    frame = table.astype({"sales": "float64"})
    frame.loc[20:22, "sales"] = np.nan
    frame.loc[60:100, "share"] = np.nan
    frame.loc[200:240, ["sales", "share"]] = np.nan
    return frame.drop(index=[30, 31, 330]).reset_index(drop=True)


# ---- simulate ---------------------------------------------------------------


def test_a_series_has_the_users_columns_types_and_true_stamps(model, table):
    year = model.simulate(60, start="2027-03-01", **QUIET)
    assert list(year.columns) == list(table.columns)
    assert (year.dtypes == table.dtypes).all()
    assert (year["day"] == pd.date_range("2027-03-01", periods=60)).all()
    assert year["shop"].nunique() == year["grade"].nunique() == 1
    assert (year["sales"] >= 0).all()
    assert year["share"].between(0, 1).all()


def test_series_i_depends_on_the_seed_and_its_number_alone(model):
    many = model.simulate(40, count=3, seed=4, static={"grade": "high"}, **QUIET)
    one = model.simulate(40, count=1, seed=4, static={"grade": "high"}, **QUIET)
    first = many[many["shop"] == many["shop"].iloc[0]].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, one, rtol=1e-4)
    other = model.simulate(40, seed=5, static={"grade": "high"}, **QUIET)
    assert not other["sales"].equals(one["sales"])


def test_a_longer_series_begins_like_a_shorter_one(plain):
    long = plain.simulate(60, seed=1, output="numpy", **QUIET)
    short = plain.simulate(24, seed=1, output="numpy", **QUIET)
    assert long.shape == (1, 60, 2)
    np.testing.assert_allclose(long[:, :24], short, rtol=1e-4, atol=1e-5)
    assert plain.simulate(3, output="numpy", **QUIET).shape == (1, 3, 2)


def test_a_table_is_continued_from_its_last_rows(model, table):
    more = model.simulate(10, start=table, seed=2, **QUIET)
    assert list(more.columns) == list(table.columns)
    for shop, rows in table.groupby("shop"):
        own = more[more["shop"] == shop]
        assert len(own) == 10
        assert own["day"].iloc[0] == rows["day"].iloc[-1] + pd.Timedelta(days=1)
        assert (own["grade"] == rows["grade"].iloc[-1]).all()


# ---- impute -----------------------------------------------------------------


def test_gaps_are_filled_and_what_was_observed_is_untouched(model, table):
    gaps = _holes(table)
    whole = model.impute(gaps, draws=4, **QUIET)
    assert list(whole.columns) == list(table.columns)
    assert not whole.isna().any().any()
    assert (whole.dtypes == table.dtypes).all()
    assert len(whole) == len(gaps) + 3  # the rows that the stamps skip
    both = gaps.merge(whole, on=["day", "shop"], suffixes=("", "_new"))
    assert len(both) == len(gaps)
    for name in ("sales", "share"):
        seen = both[name].notna()
        assert (both.loc[seen, name] == both.loc[seen, f"{name}_new"]).all()
    for shop, rows in whole.groupby("shop"):
        assert (rows["day"].diff().dropna() == pd.Timedelta(days=1)).all(), shop
        assert (rows["grade"] == rows["grade"].iloc[0]).all()


def test_quantiles_bracket_the_median_and_meet_at_observed_cells(model, table):
    gaps = _holes(table)
    whole = model.impute(gaps, draws=8, quantiles=(0.1, 0.9), **QUIET)
    assert (whole["share_q10"] <= whole["share"]).all()
    assert (whole["share"] <= whole["share_q90"]).all()
    assert (whole["share_q10"] < whole["share_q90"]).sum() >= 41
    seen = gaps.merge(whole, on=["day", "shop"], suffixes=("_old", ""))
    seen = seen[seen["share_old"].notna()]
    assert (seen["share_q10"] == seen["share_q90"]).all()


def test_draws_are_numbered_and_differ_only_in_gaps(model, table):
    gaps = table.astype({"sales": "float64"})
    gaps.loc[40:45, "sales"] = np.nan
    every = model.impute(gaps, draws=3, each=True, **QUIET)
    assert list(every["draw"].unique()) == [0, 1, 2]
    first, second = (every[every["draw"] == d].reset_index(drop=True) for d in (0, 1))
    assert first["sales"][40:46].tolist() != second["sales"][40:46].tolist()
    pd.testing.assert_series_equal(first["share"], second["share"])
    pd.testing.assert_frame_equal(every, model.impute(gaps, draws=3, each=True, **QUIET))


def test_rows_keep_their_order_and_further_columns(model, table):
    gaps = table.astype({"sales": "float64"}).sort_values(["day", "shop"], ignore_index=True)
    gaps["note"] = np.arange(len(gaps)).astype(str)
    gaps.loc[5, "sales"] = np.nan
    whole = model.impute(gaps, draws=2, **QUIET)
    pd.testing.assert_frame_equal(
        whole.drop(columns="sales"), gaps.drop(columns="sales"), check_column_type=False
    )


def test_a_table_without_gaps_comes_back_as_it_was(model, table):
    pd.testing.assert_frame_equal(model.impute(table, draws=2, **QUIET), table)


def test_an_array_and_a_polars_frame_come_back_as_what_they_were(plain, model, table):
    walk = np.cumsum(np.random.default_rng(2).normal(size=(50, 2)), axis=0)
    walk[10:30, 0] = np.nan
    whole = plain.impute(walk, draws=3, **QUIET)
    assert whole.shape == walk.shape
    np.testing.assert_array_equal(whole[~np.isnan(walk)], walk[~np.isnan(walk)])
    assert np.isfinite(whole).all()
    assert plain.impute(walk, draws=3, each=True, **QUIET).shape == (3, 50, 2)
    frame = pl.from_pandas(_holes(table))
    found = model.impute(frame, draws=2, **QUIET)
    assert isinstance(found, pl.DataFrame)
    assert found.null_count().to_numpy().sum() == 0


def test_a_table_in_which_nothing_is_known_is_drawn_like_a_sample(plain):
    nothing = np.full((30, 2), np.nan)
    drawn = plain.impute(nothing, draws=4, each=True, **QUIET)
    assert np.isfinite(drawn).all()
    assert np.ptp(drawn[:, 0], axis=0).min() > 0


# ---- forecast ---------------------------------------------------------------


@pytest.mark.parametrize("horizon", [3, 20])
def test_forecasts_follow_every_series_with_its_stamps(model, table, horizon):
    found = model.forecast(table, horizon=horizon, draws=8, quantiles=(0.1, 0.5, 0.9), **QUIET)
    assert list(found.columns) == [
        "day",
        "shop",
        "grade",
        *(f"{name}_q{q}" for name in ("sales", "share") for q in (10, 50, 90)),
    ]
    assert len(found) == 3 * horizon
    assert (found["share_q10"] <= found["share_q90"]).all()
    for shop, rows in table.groupby("shop"):
        own = found[found["shop"] == shop]
        expected = pd.date_range(rows["day"].iloc[-1], periods=horizon + 1)[1:]
        assert (own["day"].to_numpy() == expected.to_numpy()).all()


def test_draws_of_a_forecast_and_its_array(model, plain, table):
    every = model.forecast(table, horizon=4, draws=3, each=True, **QUIET)
    assert len(every) == 3 * 3 * 4
    assert every["sales"].dtype == table["sales"].dtype
    walk = np.cumsum(np.random.default_rng(3).normal(size=(40, 2)), axis=0)
    drawn = plain.forecast(walk, horizon=5, draws=6, **QUIET)
    assert drawn.shape == (6, 5, 2)
    np.testing.assert_array_equal(drawn, plain.forecast(walk, horizon=5, draws=6, **QUIET))


def test_a_forecast_of_a_short_history_and_of_one_with_gaps(plain):
    walk = np.cumsum(np.random.default_rng(3).normal(size=(5, 2)), axis=0)
    walk[2, 0] = np.nan
    assert np.isfinite(plain.forecast(walk, horizon=30, draws=2, **QUIET)).all()


def test_noisy_observations_are_drawn_anew_but_stay_in_the_table(plain):
    walk = np.cumsum(np.random.default_rng(4).normal(size=(30, 2)), axis=0)
    walk[12:15] = np.nan
    whole = plain.impute(walk, draws=3, noise={"c0": 0.5}, **QUIET)
    np.testing.assert_array_equal(whole[~np.isnan(walk)], walk[~np.isnan(walk)])
    exact = plain.impute(walk, draws=3, **QUIET)
    assert np.abs(whole - exact)[12:15].max() > 1e-4


# ---- refusals ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, t: m.simulate(0), "steps=0; accepted"),
        (lambda m, t: m.simulate(10, count=0), "count=0"),
        (lambda m, t: m.simulate(10, seed=-1), "seed=-1; accepted"),
        (lambda m, t: m.simulate(10**11), "free here"),
        (lambda m, t: m.simulate(10, count=10**10), "free here"),
        (lambda m, t: m.impute(t, draws=10**9), "free here"),
        (lambda m, t: m.simulate(10, start="2027-01-01 05:00"), "not on the grid"),
        (lambda m, t: m.simulate(10, overlap=14), "overlap=14"),
        (lambda m, t: m.simulate(10, output="polars"), "output='polars'"),
        (lambda m, t: m.simulate(10, start=t, static={"grade": "high"}), "read from the table"),
        (lambda m, t: m.forecast(t, horizon=0), "horizon=0; accepted"),
        (lambda m, t: m.forecast(t, draws=-1), "draws=-1"),
        (lambda m, t: m.forecast(t, seed=2**32), "seed=4294967296; accepted"),
        (lambda m, t: m.forecast(t, quantiles=(1.5,)), "quantile 1.5"),
        (lambda m, t: m.forecast(t, quantiles=0.5), "give a list"),
        (lambda m, t: m.impute(t, quantiles="0.5"), "give a list"),
        (lambda m, t: m.forecast(t.drop(columns="sales")), "no column 'sales'"),
        (lambda m, t: m.forecast(t.drop(columns="shop")), "no column 'shop'"),
        (lambda m, t: m.forecast(t.assign(grade="odd")), "was not in train"),
        (lambda m, t: m.forecast(t.iloc[::-1]), "earlier than"),
        (lambda m, t: m.forecast(pd.concat([t, t])), "earlier than"),
        (
            lambda m, t: m.impute(t.groupby("shop").nth(slice(None, None, 2))),
            "2 steps of 24h apart",
        ),
        (lambda m, t: m.impute(t, noise={"sale": 1}), "'sales'"),
        (lambda m, t: m.impute(t, noise=-1), "0 or more"),
        (lambda m, t: m.impute("nosuch.csv"), "does not exist"),
    ],
)
def test_impossible_requests_are_refused_in_one_line(model, table, call, words):
    with pytest.raises(PacodiError, match=words) as error:
        call(model, table)
    assert "\n" not in str(error.value)


def test_stamps_between_two_steps_are_refused(model, table):
    odd = table.copy()
    odd.loc[5, "day"] += pd.Timedelta(hours=5)
    with pytest.raises(PacodiError, match="whole number of steps of 24h"):
        model.impute(odd)


def test_values_far_outside_train_warn_and_go_on(model, table):
    far = table.copy()
    far.loc[149, "sales"] = 5000
    with pytest.warns(UserWarning, match="'sales' holds 1 value far outside"):
        model.forecast(far, horizon=2, draws=2, **QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.forecast(table, horizon=2, draws=2, **QUIET)


def test_series_that_run_away_are_refused(plain, monkeypatch):
    grown = {"to": 1e6}

    def growing(*args, **how):
        return np.full_like(how["observed"].values, grown["to"])

    monkeypatch.setattr(type(plain.trained_), "draw_scaled", growing)
    with pytest.raises(PacodiError, match="ran away"):
        plain.simulate(30, **QUIET)
    grown["to"] = np.inf
    with pytest.raises(PacodiError, match="ran away"):
        plain.forecast(np.zeros((30, 2)), horizon=4, draws=2, **QUIET)


def test_an_array_with_other_channels_and_a_model_without_the_skill(plain):
    with pytest.raises(PacodiError, match="3 channels; the model was trained on 2"):
        plain.forecast(np.zeros((20, 3)))
    with pytest.raises(PacodiError, match="no time column"):
        plain.simulate(10, start="2027-01-01")
    walk = np.random.default_rng(0).normal(size=(200, 1))
    oracle = pj.PaCoDi(
        length=8,
        size="tiny",
        settings={"train.steps": 2, "train.batch": 4, "diffusion.statistics": "oracle"},
    ).fit(walk, progress=False)
    with pytest.raises(PacodiError, match="oracle"):
        oracle.simulate(20, **QUIET)
