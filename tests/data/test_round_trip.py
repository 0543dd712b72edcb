"""Table → windows → scaled → unscaled → table is the input, in the user's types and units."""

import json

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.data import catalogue, files, sines, writing
from tests.data import tables

PARTS = ("train", "validation", "held_out")


def _rows_of(found, part, index):
    start = int(getattr(found, part).starts[index])
    return slice(start, start + found.recipe.length)


@pytest.mark.parametrize("scaling", ["min_max", "standard", "robust", "quantile"])
@pytest.mark.parametrize("name", ["etth1", "exchange", "air", "stocks"])
def test_every_public_data_set_comes_back(data_dir, name, scaling):
    entry = catalogue.CATALOGUE[name]
    raw = catalogue.read(data_dir / entry.file, entry)
    found = data.load(data.DataSettings(source=name, path=data_dir, length=24, scaling=scaling))
    channels = list(found.recipe.channels)
    values = raw[channels].to_numpy(np.float64)
    span = values.max(0) - values.min(0)
    seen = values != entry.missing
    for part in PARTS:
        windows = getattr(found, part)
        chosen = np.linspace(0, len(windows) - 1, 25).astype(int)
        table = windows.to_table(chosen)
        assert [str(table[c].dtype) for c in channels] == [str(raw[c].dtype) for c in channels]
        rows = (windows.starts[chosen][:, None] + np.arange(24)).ravel()
        error = np.abs(table[channels].to_numpy(np.float64) - values[rows])
        assert (error <= 1e-6 * span + 0.5 * (span > 1e7))[seen[rows]].all()
        for column in entry.time:
            parsed = pd.to_datetime(table[column], dayfirst=True, format="mixed")
            expected = pd.to_datetime(raw[column].iloc[rows], dayfirst=True, format="mixed")
            assert (parsed.to_numpy() == expected.to_numpy()).all()


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_mixed_table_with_ids_gaps_and_zones_comes_back(tmp_path, ending):
    original = tables.mixed()
    path = writing.write_table(original, tmp_path / f"t{ending}")
    found = data.load(
        data.DataSettings(
            source="table",
            path=path,
            length=6,
            time="when",
            id="site",
            static=["grade"],
            fractions=(0.6, 0.2, 0.2),
            max_gap=3,
        )
    )
    assert found.report.constant == ("limit",)
    assert found.report.added_rows == 3
    table = pd.concat([getattr(found, part).to_table() for part in PARTS])
    assert list(table.columns) == [
        "window", "site", "when", "load", "grade", "count", "small", "limit", "open",
    ]  # fmt: skip
    source = files.read_table(path)
    table["when"] = pd.to_datetime(table["when"], utc=True)
    source["when"] = pd.to_datetime(source["when"], utc=True)
    both = table.merge(source, on=["when", "site"], suffixes=("", "_was"))
    assert len(both) > 0.98 * len(table)
    both = both.dropna(subset=["load_was"])
    for column in ("grade", "limit", "open", "count"):
        assert (both[column] == both[f"{column}_was"]).all()
        assert both[column].dtype == source[column].dtype
    for column in ("load", "small"):
        assert np.abs(both[column] - both[f"{column}_was"]).max() < 1e-5 * source[column].std()


def test_every_usable_row_of_a_mixed_table_is_in_a_window(tmp_path):
    path = writing.write_table(tables.mixed(), tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table",
            path=path,
            length=6,
            time="when",
            id="site",
            static=["grade"],
            fractions=(1, 0, 0),
        )
    )
    stamps = found.train.to_table()[["when", "site"]].drop_duplicates()
    assert len(stamps) == 3 * (200 - 12)
    assert len(found.held_out) == 0


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".npy", ".npz"])
def test_samples_are_written_as_the_kind_of_file_the_source_was(tmp_path, ending):
    frame = tables.hourly(300)
    if ending in files.ARRAYS:
        array = frame[["load", "small"]].to_numpy(np.float32)
        path = writing.write_array(array, tmp_path / f"source{ending}")
        found = data.load(data.DataSettings(source="table", path=path, length=12))
    else:
        path = writing.write_table(frame, tmp_path / f"source{ending}")
        found = data.load(data.DataSettings(source="table", path=path, length=12, time="when"))
    recipe = data.Recipe.from_json(found.recipe.to_json())
    written = recipe.write(recipe.deliver(found.train.take([0, 5])), tmp_path / "samples")
    assert written.name == f"samples{ending}"
    if ending in files.ARRAYS:
        back = files.read_array(written)
        assert (back.shape, back.dtype) == ((2, 12, 2), np.float32)
        np.testing.assert_allclose(back[1], array[5:17], rtol=1e-5, atol=1e-4)
    else:
        back = files.read_table(written)
        assert list(back.columns) == ["window", *frame.columns]
        assert (back["count"].to_numpy()[:12] == frame["count"].to_numpy()[:12]).all()
        assert back["window"].tolist() == [0] * 12 + [1] * 12


def test_synthetic_stamps_follow_the_sources_grid_and_stay_in_its_range(tmp_path):
    frame = tables.hourly(60)
    path = writing.write_table(frame, tmp_path / "t.csv")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=8, time="when", fractions=(0.5, 0.25, 0.25)
        )
    )
    windows = np.zeros((9, 8, len(found.recipe.channels)))
    stamps = pd.to_datetime(found.recipe.to_table(windows)["when"]).to_numpy().reshape(9, 8)
    assert (np.diff(stamps, axis=1) == np.timedelta64(1, "h")).all()
    assert stamps[0, 0] == frame["when"][0]
    assert stamps[1, 0] == frame["when"][8]
    assert stamps[7, 0] == stamps[0, 0]
    assert stamps.max() <= frame["when"].max()


def test_synthetic_ids_are_not_those_of_the_source(tmp_path):
    path = writing.write_table(tables.mixed(), tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=6, time="when", id="site", static=["grade"]
        )
    )
    windows = np.zeros((2, 6, len(found.recipe.channels)))
    table = found.recipe.to_table(windows)
    assert set(table["site"]) == {"synthetic_0", "synthetic_1"}
    assert "grade" not in table
    labels = pd.DataFrame({"grade": [2, 0]})
    assert found.recipe.to_table(windows, static=labels)["grade"].tolist() == [2] * 6 + [0] * 6


def test_labels_become_conditions_and_unknown_ones_are_refused(tmp_path):
    path = writing.write_table(tables.mixed(), tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=6, time="when", id="site", static=["grade"]
        )
    )
    condition = found.train.condition()
    assert condition.shape == (len(found.train), 3)
    np.testing.assert_array_equal(condition.argmax(1), found.train.column("grade"))
    np.testing.assert_array_equal(found.recipe.condition({"grade": 1}), [0, 1, 0])
    with pytest.raises(data.recipe.PacodiError, match="grade=7 was not in train"):
        found.recipe.condition({"grade": 7})


def test_a_recipe_survives_json_exactly(tmp_path):
    path = writing.write_table(tables.mixed(), tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=6, time="when", id="site", static=["grade"]
        )
    )
    back = data.Recipe.from_json(found.recipe.to_json())
    assert back.to_json() == found.recipe.to_json()
    windows = found.train.take([0, 3])
    np.testing.assert_array_equal(back.deliver(windows), found.recipe.deliver(windows))
    for text in ("", "{}", "[1]", '{"scaler": 3}'):
        with pytest.raises(data.recipe.PacodiError, match="not a data recipe"):
            data.Recipe.from_json(text)


def test_a_recipe_written_before_the_order_was_kept_still_loads(tmp_path):
    path = writing.write_table(tables.mixed(), tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=6, time="when", id="site", static=["grade"]
        )
    )
    fields = json.loads(found.recipe.to_json())
    del fields["columns"]
    older = data.Recipe.from_json(json.dumps(fields))
    table = older.to_table(older.deliver(found.train.take([0])))
    assert set(table.columns) == {
        "window",
        "site",
        "when",
        "load",
        "count",
        "small",
        "limit",
        "open",
    }


def test_ready_made_windows_are_split_whole(tmp_path):
    windows = np.random.default_rng(0).normal(size=(50, 16, 3)).astype(np.float32)
    np.save(tmp_path / "w.npy", windows)
    found = data.load(data.DataSettings(source="table", path=tmp_path / "w.npy", length=16))
    assert [len(getattr(found, part)) for part in PARTS] == [40, 5, 5]
    back = found.recipe.deliver(np.concatenate([getattr(found, p).values() for p in PARTS]))
    order = np.concatenate([getattr(found, p).starts for p in PARTS]) // 16
    np.testing.assert_allclose(back, windows[order], atol=1e-5)


def test_sines_are_what_the_literature_draws():
    windows = sines.sines(24, windows=4000, seed=3)
    assert windows.shape == (4000, 24, 5)
    assert windows.dtype == np.float32
    phase = np.arcsin(2 * windows[:, 0] - 1)
    frequency = np.arcsin(np.clip(2 * windows[:, 1] - 1, -1, 1)) - phase
    for drawn in (phase, frequency):
        assert 0 <= drawn.min() < 0.001
        assert 0.099 < drawn.max() < 0.1001
        assert abs(drawn.mean() - 0.05) < 0.001
    np.testing.assert_array_equal(
        sines.sines(48, windows=4, seed=3)[:, :24], sines.sines(24, windows=4, seed=3)
    )


def test_captions_hold_within_a_window_and_are_written_with_real_windows(tmp_path):
    frame = tables.hourly(120).assign(said=np.repeat(["a rise", "a fall", "flat"], 40))
    path = writing.write_table(frame, tmp_path / "t.csv")
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=8, time="when", text="said", fractions=(1, 0, 0)
        )
    )
    assert len(found.train) == 3 * (40 - 8 + 1)
    assert found.train.condition() is None
    table = found.train.to_table()
    assert table["said"].tolist() == np.repeat(found.train.column("said"), 8).tolist()
    assert "said" not in found.recipe.to_table(found.recipe.deliver(found.train.take([0])))
