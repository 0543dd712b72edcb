"""Tables that are read chunk by chunk and stay on disk: the same data as read whole."""

import io

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.core import wiener
from pacodi_jax.data import (
    chunks,
    column,
    delimited,
    describe,
    files,
    gaps,
    mapped,
    scaling,
    writing,
)
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Quadratures

LENGTH = 6


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch, tmp_path):
    """Chunks of a few rows, so that series, gaps and edges fall across them."""
    monkeypatch.setattr(delimited, "_BLOCK", 700)
    monkeypatch.setattr(files, "_CHUNK", 700)
    monkeypatch.setattr(mapped, "_BLOCK", 640)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def frame(seed=0):
    """Three series one after another: holes, a skipped hour, a long gap, a constant, a bound."""
    parts = []
    for number, name in enumerate(("north", "south", "east")):
        rng = np.random.default_rng(seed + number)
        part = pd.DataFrame(
            {
                "site": name,
                "when": pd.date_range("2024-03-01", periods=150 + 20 * number, freq="h"),
                "load": rng.normal(100, 20, 150 + 20 * number).round(3),
                "count": rng.integers(-1000, 1000, 150 + 20 * number),
                "rain": np.maximum(rng.normal(0, 1, 150 + 20 * number), 0).round(3),
                "limit": 7,
            }
        )
        part.loc[10:11, "load"] = np.nan
        part.loc[60:69, "rain"] = np.nan
        parts.append(part.drop(index=[40, *range(100, 112)]))
    return pd.concat(parts, ignore_index=True)


def load(table, tmp_path, ending, stream, **options):
    path = tmp_path / f"table{ending}"
    if not path.exists():
        writing.write_table(table, path)
    roles = {"id": "site", "time": "when"} | options
    return data.load(
        data.DataSettings(source="table", path=path, length=LENGTH, stream=stream, **roles)
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("calendar", ["off", "day"])
def test_a_table_read_in_chunks_is_the_table_read_whole(tmp_path, ending, calendar):
    kept, whole = (
        load(frame(), tmp_path, ending, stream, calendar=calendar) for stream in ("on", "off")
    )
    assert mapped.is_mapped(kept.train.series)
    assert not mapped.is_mapped(whole.train.series)
    assert kept.fingerprint == whole.fingerprint
    assert kept.report == whole.report
    assert whole.report.filled
    assert whole.report.added_rows
    for ours, theirs in (
        (kept.train, whole.train),
        (kept.validation, whole.validation),
        (kept.held_out, whole.held_out),
    ):
        np.testing.assert_array_equal(ours.starts, theirs.starts)
        np.testing.assert_allclose(ours.values(), theirs.values(), atol=2e-3)
        given, wanted = ours.condition(), theirs.condition()
        if calendar == "off":
            assert given is wanted is None
        else:
            np.testing.assert_array_equal(given, wanted)
        pd.testing.assert_frame_equal(ours.to_table([0, 3]), theirs.to_table([0, 3]), rtol=1e-3)
    for name in ("channels", "dtypes", "types", "columns", "clock", "calendar", "id_dtype"):
        assert getattr(kept.recipe, name) == getattr(whole.recipe, name), name
    lines = [describe.text(found).splitlines() for found in (kept, whole)]
    assert lines[0][:8] == lines[1][:8]


@pytest.mark.parametrize("scaling_name", scaling.SCALINGS)
def test_scaling_in_one_pass_is_scaling_of_the_whole(tmp_path, scaling_name):
    """Every row is in the sample of so small a table, so that quantiles are exact, too."""
    kept, whole = (
        load(frame(), tmp_path, ".csv", stream, scaling=scaling_name) for stream in ("on", "off")
    )
    for ours, theirs in zip(kept.recipe.scaler, whole.recipe.scaler, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_a_sample_stands_for_all_rows_only_where_order_counts(monkeypatch):
    values = np.random.default_rng(0).lognormal(size=(5000, 2))
    values[::7, 1] = np.nan
    rows = np.arange(5000) < 4000
    monkeypatch.setattr(column, "_SAMPLE", 500)
    kept = list(column.observe(on_disk(values), rows))
    for i, (ours, theirs) in enumerate(zip(kept, column.observe(values, rows), strict=True)):
        assert (ours.least, ours.most) == (theirs.least, theirs.most)
        np.testing.assert_allclose(ours[3:], theirs[3:], rtol=1e-12)
        assert len(ours.values) in (500, int((~np.isnan(values[:4000:8, i])).sum()))
        assert np.isin(ours.values, theirs.values).all()


def on_disk(values):
    grown = mapped.Growing(values.shape[1])
    for part in np.array_split(values, 7):
        grown.append(part)
    return grown.array()


@pytest.mark.parametrize("max_gap", [0, 1, 3, 8])
def test_gaps_are_filled_across_blocks_as_in_the_whole(max_gap):
    rng = np.random.default_rng(max_gap)
    values = rng.normal(size=(400, 4))
    values[rng.random((400, 4)) < 0.4] = np.nan
    values[70:95, 1] = np.nan
    edges = rng.random(400) < 0.03
    kept, whole = on_disk(values), values.copy()
    found, wanted = gaps.fill(kept, edges, max_gap), gaps.fill(whole, edges, max_gap)
    np.testing.assert_array_equal(kept, whole)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not max_gap or found.filled


def test_moments_of_blocks_are_those_of_all_spectra():
    rng = np.random.default_rng(0)
    spectra = Quadratures(*rng.normal(3, 2, (2, 500, 5, 3)).astype(np.float32))
    sums = wiener.Sums()
    for begin, end in ((0, 1), (1, 200), (200, 500)):
        sums.add(Quadratures(*(part[begin:end] for part in spectra)))
    wanted = wiener.fit(spectra)
    for ours, theirs in zip(sums.moments(), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t[:20]]), "rows of series 'north' do not stand together"),
        (lambda t: t.assign(when=t["when"].mask(t.index == 90, t["when"][80])), "repeats or falls"),
        (lambda t: t.assign(load=t["load"].astype(object).mask(t.index == 300, "wet")), "'?wet"),
        (lambda t: t.assign(load=t["load"].mask(t.index == 300, np.inf)), "is infinite"),
        (lambda t: t.assign(site=t["site"].mask(t.index == 200)), "is empty in row 201"),
        (lambda t: t.assign(count=t["count"].mask(t.index == 300, 2**60)), "whole number"),
        (lambda t: t.assign(none=np.nan), "'none' has no value at all"),
    ],
)
def test_what_is_wrong_in_a_later_chunk_is_named(tmp_path, change, message):
    with pytest.raises(PacodiError, match=message):
        load(change(frame()), tmp_path, ".csv", "on")


def test_stamps_between_two_steps_are_refused(tmp_path):
    table = frame()
    table.loc[90, "when"] += pd.Timedelta("20min")
    with pytest.raises(PacodiError, match="lies between two steps of h"):
        load(table, tmp_path, ".csv", "on")


def test_a_fraction_in_a_later_chunk_makes_a_column_fractional(tmp_path):
    table = frame()
    table["count"] = table["count"].astype(object)
    table.loc[400, "count"] = 0.5
    kept, whole = (load(table, tmp_path, ".csv", stream) for stream in ("on", "off"))
    assert kept.recipe.dtypes == whole.recipe.dtypes
    assert kept.recipe.dtypes[1] == "float64"


def test_what_needs_the_whole_table_is_read_whole(tmp_path, monkeypatch):
    roles = {"id": "", "time": (), "static": "site", "channels": ["load", "limit"]}
    static = load(frame(), tmp_path, ".csv", "on", **roles)
    assert not mapped.is_mapped(static.train.series)
    path = tmp_path / "table.csv"
    settings = data.DataSettings(source="table", path=path)
    assert not chunks.suits(path, settings)
    monkeypatch.setattr(chunks.memory, "available", lambda: 2 * path.stat().st_size)
    assert chunks.suits(path, settings)
    assert not chunks.suits(path, settings.replace(stream="off"))


def test_a_full_disk_is_refused(tmp_path, monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(mapped.tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(PacodiError, match=r"No space left on device.*XDG_CACHE_HOME"):
        load(frame(), tmp_path, ".csv", "on")


def test_a_mapped_array_keeps_what_was_written_and_leaves_no_file(tmp_path):
    array = on_disk(np.arange(12.0).reshape(6, 2))
    array[3] = -1
    mapped.release(array)
    np.testing.assert_array_equal(array[3], -1)
    assert not list((tmp_path / "cache").rglob("*.*"))
