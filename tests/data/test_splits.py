"""Nothing leaks: cuts come first, and no window, gap filling or scaler looks over one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import gaps, splits
from tests.data import tables


def _table(seed: int, lengths: list[int], holes: float) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    rows = sum(lengths)
    frame = pd.DataFrame(generator.normal(size=(rows, 2)), columns=["a", "b"])
    frame = frame.mask(generator.random((rows, 2)) < holes)
    frame["id"] = np.repeat(np.arange(len(lengths)), lengths)
    return frame


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    lengths=st.lists(st.integers(120, 200), min_size=1, max_size=3),
    window=st.integers(2, 6),
    stride=st.integers(1, 4),
    holes=st.sampled_from([0.0, 0.02, 0.06]),
    scaling=st.sampled_from(["min_max", "standard", "robust", "quantile"]),
)
def test_no_value_after_train_reaches_a_scaler_or_a_training_window(
    tmp_path_factory, seed, lengths, window, stride, holes, scaling
):
    frame = _table(seed, lengths, holes)
    path = tmp_path_factory.mktemp("t") / "t.csv"

    def load(table):
        table.to_csv(path, index=False)
        options = {"id": "id", "stride": stride, "max_gap": 3, "scaling": scaling}
        return data.load(
            data.DataSettings(
                source="table", path=path, length=window, fractions=(0.6, 0.2, 0.2), **options
            )
        )

    first = load(frame)
    within = frame.groupby("id").cumcount()
    train_rows = (frame.groupby("id")["id"].transform("size") - window) * 0.6
    later = within >= np.round(train_rows)
    frame.loc[later, ["a", "b"]] = frame.loc[later, ["a", "b"]] * -1e6 + 3
    second = load(frame)
    for one, other in zip(first.recipe.scaler, second.recipe.scaler, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first.train.values(), second.train.values())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    lengths=st.lists(st.integers(1, 90), min_size=1, max_size=5),
    window=st.integers(1, 12),
    stride=st.integers(1, 5),
)
def test_no_window_crosses_a_cut_and_none_is_forgotten(seed, lengths, window, stride):
    generator = np.random.default_rng(seed)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    parts = splits.by_time(bounds, (0.5, 0.25, 0.25), window)
    cut = generator.random(bounds[-1]) < 0.05
    cut[bounds[:-1]] = True
    broken = generator.random(bounds[-1]) < 0.05
    for part in (splits.TRAIN, splits.VALIDATION, splits.HELD_OUT):
        allowed = (parts == part) & ~broken
        found = splits.starts(allowed, cut, window, stride)
        for start in found:
            assert allowed[start : start + window].all()
            assert not cut[start + 1 : start + window].any()
        if stride == 1:
            fits = [
                start
                for start in range(bounds[-1] - window + 1)
                if allowed[start : start + window].all()
                and not cut[start + 1 : start + window].any()
            ]
            assert found.tolist() == fits


def test_a_gap_of_one_window_lies_between_train_and_what_follows():
    parts = splits.by_time(np.array([0, 107]), (0.6, 0.2, 0.2), 7)
    assert (parts[:60] == splits.TRAIN).all()
    assert (parts[60:67] == splits.GAP).all()
    assert (parts[67:87] == splits.VALIDATION).all()
    assert (parts[87:] == splits.HELD_OUT).all()
    assert (splits.by_time(np.array([0, 50]), (1, 0, 0), 7) == splits.TRAIN).all()


def test_parts_share_no_row(tmp_path):
    tables.mixed().to_parquet(tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table",
            path=tmp_path / "t.parquet",
            length=6,
            time="when",
            id="site",
            static=["grade"],
            fractions=(0.6, 0.2, 0.2),
        )
    )
    rows = [
        set((part.starts[:, None] + np.arange(6)).ravel().tolist())
        for part in (found.train, found.validation, found.held_out)
    ]
    assert not rows[0] & rows[1]
    assert not rows[0] & rows[2]
    assert not rows[1] & rows[2]


def test_series_are_given_whole_to_the_parts():
    bounds = np.arange(0, 1001, 10)
    parts = splits.by_series(bounds, (0.8, 0.1, 0.1), seed=1).reshape(100, 10)
    assert (parts == parts[:, :1]).all()
    assert np.bincount(parts[:, 0], minlength=4).tolist() == [0, 80, 10, 10]


def test_short_gaps_are_interpolated_and_long_ones_cut():
    values = np.array([[0.0, np.nan, 2.0, np.nan, np.nan, np.nan, 6.0, np.nan]]).T
    filled = gaps.fill(values, np.zeros(8, bool), max_gap=2)
    assert values[1, 0] == 1.0
    assert filled.broken.tolist() == [False] * 3 + [True] * 3 + [False, True]
    assert (filled.missing, filled.filled) == (5, 1)


def test_a_gap_is_not_filled_from_the_other_side_of_a_cut():
    values = np.array([[0.0, np.nan, 2.0]]).T
    filled = gaps.fill(values, np.array([True, False, True]), max_gap=5)
    assert filled.broken.tolist() == [False, True, False]


def test_a_changing_label_cuts_the_series(tmp_path):
    frame = tables.hourly(100)
    frame["mode"] = np.where(np.arange(100) < 45, "winter", "summer")
    frame.to_parquet(tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table",
            path=tmp_path / "t.parquet",
            length=8,
            time="when",
            static=["mode"],
            fractions=(0.6, 0.2, 0.2),
        )
    )
    assert not ((found.train.starts > 45 - 8) & (found.train.starts < 45)).any()
    assert set(found.train.column("mode")) == {"winter", "summer"}
    np.testing.assert_array_equal(found.train.condition().sum(1), 1)


def test_the_paper_protocol_is_what_the_paper_did_and_says_so(tmp_path):
    values = np.random.default_rng(0).normal(size=(200, 3))
    np.save(tmp_path / "t.npy", values)
    found = data.load(
        data.DataSettings(
            source="table", path=tmp_path / "t.npy", length=10, protocol="paper", stride=5
        )
    )
    low, high = values.min(0), values.max(0)
    scaled = 2 * (values - low) / (high - low) - 1
    every = np.lib.stride_tricks.sliding_window_view(scaled, 10, axis=0).transpose(0, 2, 1)
    assert len(found.train) == round(0.9 * 191)
    both = np.concatenate([found.train.values(), found.held_out.values()])
    np.testing.assert_allclose(both, every, atol=1e-6)
    assert "paper" in found.recipe.label
    assert data.Recipe.from_json(found.recipe.to_json()).protocol == "paper"


def test_the_fingerprint_knows_values_and_options(tmp_path):
    path = tmp_path / "t.npy"
    values = np.random.default_rng(0).normal(size=(200, 2))
    np.save(path, values)
    first = data.load(data.DataSettings(source="table", path=path, length=10)).fingerprint
    assert data.load(data.DataSettings(source="table", path=path, length=10)).fingerprint == first
    unset = {"time": (), "time_format": "", "id": "", "channels": (), "text": ""}
    assert (
        data.load(data.DataSettings(source="table", path=path, length=10, **unset)).fingerprint
        == first
    )
    assert data.load(data.DataSettings(source="table", path=path, length=12)).fingerprint != first
    values[150, 1] += 1e-12
    np.save(path, values)
    assert data.load(data.DataSettings(source="table", path=path, length=10)).fingerprint != first


@pytest.mark.parametrize("scaling", ["min_max", "standard", "robust", "quantile", "none"])
def test_scaled_windows_come_back_to_float32_precision(tmp_path, scaling):
    values = np.random.default_rng(0).gamma(0.3, 50, size=(300, 4))
    np.save(tmp_path / "t.npy", values)
    found = data.load(
        data.DataSettings(source="table", path=tmp_path / "t.npy", length=10, scaling=scaling)
    )
    back = found.recipe.deliver(found.held_out.take([0]))[0]
    start = found.held_out.starts[0]
    span = values.max(0) - values.min(0)
    assert (np.abs(back - values[start : start + 10]) <= 1e-6 * span).all()
