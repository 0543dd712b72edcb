"""Files of any dialect and any column types: what is read, trained on and written is the same."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError

SMALL = settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ROWS, LENGTH = 24, 4
NAMES = st.lists(
    st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters='"'), min_size=1),
    min_size=5, max_size=5, unique_by=str.casefold,
).filter(lambda names: not any(_is_number(name) for name in names))  # fmt: skip
STAMPS = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M:%S"]
ZONES = [None, "UTC", "Europe/Paris", "Asia/Kolkata", "America/St_Johns"]
STEPS = ["15min", "h", "6h", "D", "W", "MS"]


def _is_number(text):
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _columns(seed, top):
    """A float with 3 digits, a whole number up to ``top``, a boolean and a label."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-top, top, ROWS, endpoint=True)
    return [rng.normal(size=ROWS).round(3), whole, np.arange(ROWS) % 3 == 0, "größer; als, 1"]


def _back(found, frame, tmp_path):
    """Training windows as written into a file and read again, and their rows in the source."""
    recipe = data.Recipe.from_json(found.recipe.to_json())
    chosen = [0, 7, len(found.train) - 1]
    taken = found.train.take(chosen)
    table = found.train.to_table(chosen)
    written = data.writing.write_table(table, tmp_path / f"back{recipe.kind}")
    rows = (found.train.starts[chosen][:, None] + np.arange(LENGTH)).ravel()
    assert taken.shape[:2] == (3, LENGTH)
    return files.read_table(written), frame.iloc[rows].reset_index(drop=True)


@SMALL
@given(names=NAMES, seed=st.integers(0, 99), choice=st.data())
def test_a_csv_of_any_dialect_comes_back(tmp_path, names, seed, choice):
    delimiter, decimal = choice.draw(st.sampled_from([",.", ";.", ";,", "\t.", "\t,"]))
    style, zone = choice.draw(st.sampled_from(STAMPS)), choice.draw(st.sampled_from(ZONES))
    stamps = pd.date_range("2024-03-20 03:00", periods=ROWS, freq="h", tz=zone)
    texts = stamps.strftime(style + ("%z" if zone else ""))
    top = 10 ** choice.draw(st.integers(0, 15))
    frame = pd.DataFrame(dict(zip(names, [texts, *_columns(seed, top)], strict=True)))
    stream = io.StringIO()
    quoting = choice.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
    end = choice.draw(st.sampled_from(["\n", "\r\n"]))
    how = {"sep": delimiter, "decimal": decimal, "quoting": quoting, "lineterminator": end}
    frame.to_csv(stream, index=False, **how)
    text = ("\ufeff" * choice.draw(st.booleans()) + stream.getvalue()).encode()
    packed = choice.draw(st.booleans())
    path = tmp_path / f"t.csv{'.gz' * packed}"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = data.load(
        data.DataSettings(
            source="table", path=path, length=LENGTH, time=names[0], static=[names[4]],
            fractions=(1, 0, 0),
        )
    )  # fmt: skip
    back, source = _back(found, frame, tmp_path)
    assert list(back.columns) == ["window", *names]
    assert back[names[0]].tolist() == source[names[0]].tolist()
    for name, tolerance in ((names[1], 1e-6), (names[2], 0.5 + 1e-6 * top)):
        assert back[name].dtype == source[name].dtype
        assert np.abs(back[name] - source[name]).max() <= tolerance * 4
    assert back[names[3]].tolist() == source[names[3]].tolist()
    assert back[names[4]].tolist() == source[names[4]].tolist()


WHOLE = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]


@SMALL
@given(seed=st.integers(0, 99), choice=st.data())
def test_a_parquet_of_any_types_comes_back(tmp_path, seed, choice):
    whole = choice.draw(st.sampled_from([*WHOLE, pa.uint64()]))
    real = choice.draw(st.sampled_from([pa.float32(), pa.float64()]))
    label = choice.draw(st.sampled_from([pa.string(), pa.dictionary(pa.int8(), pa.string())]))
    zone, step = choice.draw(st.sampled_from(ZONES)), choice.draw(st.sampled_from(STEPS))
    unit = choice.draw(st.sampled_from(["s", "ms", "us", "ns"]))
    stamps = pd.date_range("2023-10-01", periods=ROWS, freq=step, tz=zone)
    numbers, counts, flags, text = _columns(seed, 100)
    columns = {
        "t": pa.array(stamps, pa.timestamp(unit, zone)),
        "real": pa.array(numbers, real),
        "whole": pa.array(np.abs(counts), whole),
        "flag": pa.array(flags),
        "label": pa.array([text] * ROWS).cast(label),
    }
    table = pa.table(columns)
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    frame = files.read_table(tmp_path / "t.parquet")
    found = data.load(
        data.DataSettings(
            source="table", path=tmp_path / "t.parquet", length=LENGTH, time="t",
            static=["label"], fractions=(1, 0, 0),
        )
    )  # fmt: skip
    back, source = _back(found, frame, tmp_path)
    assert (back["t"] == source["t"]).all()
    assert back.dtypes[frame.columns].to_dict() == frame.dtypes.to_dict()
    np.testing.assert_allclose(back["real"], source["real"], atol=1e-5)
    for name in ("whole", "flag", "label"):
        assert back[name].tolist() == source[name].tolist()


@settings(SMALL, max_examples=50)
@example(2**53, 0)
@example(-(2**53) - 1, 23)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, ROWS - 1))
def test_a_whole_number_of_64_bits_is_exact_in_float64_or_refused(value, row):
    column = np.arange(ROWS)
    column[row] = value
    asked = data.DataSettings(source="table", length=LENGTH, fractions=(1, 0, 0))
    table = pd.DataFrame({"n": column})
    if int(float(value)) != value:
        with pytest.raises(PacodiError, match=f"'n' holds the whole number {value}, which"):
            data.load(asked, table=table)
    else:
        assert data.load(asked, table=table).recipe.dtypes == ("int64",)


@SMALL
@given(
    kind=st.sampled_from(["<f2", "<f4", ">f8", "<i1", ">i4", "<u8", "?"]),
    shape=st.sampled_from([(ROWS,), (ROWS, 3), (6, LENGTH, 2), (1, 9, 1)]),
    ending=st.sampled_from([".npy", ".npz"]),
    order=st.sampled_from("CF"),
    seed=st.integers(0, 99),
)
def test_an_array_of_any_type_and_order_comes_back(tmp_path, kind, shape, ending, order, seed):
    values = np.random.default_rng(seed).integers(0, 2 if kind == "?" else 100, shape)
    array = np.asarray(values.astype(kind), order=order)
    path = tmp_path / f"a{ending}"
    if ending == ".npy":
        np.save(path, array)
    else:
        np.savez_compressed(path, anything=array)
    back = files.read_array(path)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    again = files.read_array(data.writing.write_array(back, tmp_path / f"b{ending}"))
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


@SMALL
@given(
    holes=st.sets(st.integers(1, ROWS - 2), max_size=3),
    mark=st.sampled_from(["", "NA", "NaN", "-200"]),
    ending=st.sampled_from([".csv", ".tsv", ".txt.gz"]),
    seed=st.integers(0, 99),
)
def test_cells_without_a_value_are_found_however_they_are_marked(
    tmp_path, holes, mark, ending, seed
):
    numbers = np.random.default_rng(seed).integers(0, 100, ROWS)
    cells = [mark if row in holes else str(n) for row, n in enumerate(numbers)]
    path = tmp_path / f"t{ending}"
    text = "\n".join(["x,n", *(f"{row},{cell}" for row, cell in enumerate(cells))]) + "\n"
    text = text.replace(",", "\t") if "tsv" in ending else text
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    table = files.read_table(path, missing=["-200"])
    assert set(np.flatnonzero(table["n"].isna())) == holes
    assert [n for row, n in enumerate(table["n"]) if row not in holes] == [
        n for row, n in enumerate(numbers) if row not in holes
    ]
    assert str(table["n"].dtype) == ("Int64" if holes else "int64")
