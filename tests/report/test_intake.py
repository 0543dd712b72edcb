"""Windows are read alike from frames, arrays, lists and files, and refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.report.intake import GivenWindows, check_channels, read_windows
from tests.metrics.windows import waves
from tests.report.frames import table

NAMES = ["c 0", "c 1", "c 2", "c 3"]


@pytest.mark.parametrize("length", [7, 16])
@pytest.mark.parametrize(
    "kind",
    [
        lambda frame, _: frame,
        lambda frame, _: pl.from_pandas(frame),
        lambda frame, _: pl.from_pandas(frame).lazy(),
        lambda frame, folder: frame.to_csv(folder / "t.csv", index=False) or folder / "t.csv",
        lambda frame, folder: frame.to_parquet(folder / "t.parquet") or str(folder / "t.parquet"),
    ],
    ids=["pandas", "polars", "lazy", "csv", "parquet"],
)
def test_tables_of_every_kind_hold_the_same_windows(tmp_path, kind, length):
    windows = waves(5, length)
    found = read_windows(kind(table(windows), tmp_path), "real")
    np.testing.assert_array_equal(found.values, windows)
    assert found.channels == NAMES
    (note,) = found.notes
    assert note.endswith("columns that are not numbers are not scored: date")
    assert note.startswith(("real: ", "t.csv: ", "t.parquet: "))


@pytest.mark.parametrize(
    "give",
    [
        lambda w: w,
        list,
        tuple,
        lambda w: [w[:2], w[2:]],
        lambda w: w.tolist(),
        lambda w: w.astype(np.float64),
    ],
    ids=["array", "list", "tuple", "parts", "numbers", "float64"],
)
def test_arrays_and_lists_of_arrays_hold_the_same_windows(give):
    windows = waves(5)
    found = read_windows(give(windows), "real")
    np.testing.assert_array_equal(found.values, windows)
    assert found.channels is None


def test_one_channel_may_come_without_its_axis(tmp_path):
    windows = waves(5)[..., 0]
    np.save(tmp_path / "w.npy", windows)
    for given in (windows, list(windows), tmp_path / "w.npy"):
        assert read_windows(given, "real").values.shape == (5, 16, 1)


def test_tables_are_grouped_by_window_or_cut_by_length():
    windows = waves(5)
    frame = table(windows)
    mixed = frame.sample(frac=1, random_state=0).sort_values("date")
    np.testing.assert_array_equal(read_windows(mixed, "real").values, windows)
    named = frame.assign(window="w" + frame["window"].astype(str))
    np.testing.assert_array_equal(read_windows(named, "real").values, windows)
    cut = read_windows(frame.drop(columns="window"), "real", 16)
    assert cut.values.shape == (5 * 16 - 15, 16, 4)
    np.testing.assert_array_equal(cut.values[16], windows[1])


def test_columns_may_have_numbers_for_names_and_missing_values():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2)).astype({1: "Int64"})
    frame.loc[2, 1] = pd.NA
    found = read_windows(frame, "real", 3)
    assert found.channels == ["0", "1"]
    assert np.isnan(found.values[0, 2, 1])
    assert read_windows(pl.from_pandas(frame.rename(columns=str)), "real", 3).values.shape == (
        4,
        3,
        2,
    )


@pytest.mark.parametrize("path", [True, False])
@pytest.mark.parametrize(
    ("edit", "length", "message"),
    [
        (lambda f: f.drop(columns="window"), None, "has no 'window' column .*--length"),
        (
            lambda f: f.drop(columns="window"),
            1000,
            "length=1000 does not fit .*, which has 80 rows",
        ),
        (lambda f: f.iloc[:-1], None, "windows differ in length"),
        (lambda f: f.assign(window=f["window"].where(f.index != 3)), None, "empty in row 4"),
        (lambda f: f[["window", "date"]], None, "no column of numbers"),
    ],
)
def test_tables_without_windows_are_refused_by_name(tmp_path, edit, length, message, path):
    source = edit(table(waves(5)))
    if path:
        source.to_csv(tmp_path / "t.csv", index=False)
        source = tmp_path / "t.csv"
    with pytest.raises(PacodiError, match=message) as refused:
        read_windows(source, "synthetic", length)
    assert ("t.csv" if path else "synthetic") in str(refused.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros(5), r"held_out has shape \(5,\); expected \(windows, length, channels\)"),
        (np.zeros((1, 2, 3, 4)), r"held_out has shape \(1, 2, 3, 4\)"),
        ([], "held_out is an empty list"),
        (
            [np.zeros((4, 2)), np.zeros((5, 2))],
            r"different shapes, for example \(4, 2\) and \(5, 2\)",
        ),
        ([table(waves(2))], "held_out is a list of frames"),
        (object(), "held_out holds object, not numbers; give a frame"),
        (np.array(["a"]), "held_out holds <U1, not numbers"),
        (pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]), "held_out cannot be read as a table"),
        ("w.xlsx", "w.xlsx: cannot tell the format"),
    ],
)
def test_what_holds_no_windows_is_refused_by_name(source, message):
    with pytest.raises(PacodiError, match=message):
        read_windows(source, "held_out")


@pytest.mark.parametrize("others", [["b", "a"], ["a", "z"], ["a"]])
def test_channels_must_agree_in_name_and_order(others):
    real = GivenWindows(waves(2), ["a", "b"])
    check_channels(real, GivenWindows(waves(2)), "synthetic")
    with pytest.raises(PacodiError, match=r"synthetic has channels .*; names and order must agree"):
        check_channels(real, GivenWindows(waves(2), others), "synthetic")
