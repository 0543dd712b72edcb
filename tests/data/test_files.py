"""Reading: what is there comes back as it is, what is broken is refused by name."""

import gzip

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.data import files, writing
from pacodi_jax.errors import PacodiError
from tests.data import tables


@pytest.mark.parametrize("ending", [".npy", ".npz"])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array([[True, False]]),
        np.arange(4, dtype=">f4"),
    ],
    ids=["float", "fortran", "bool", "big-endian"],
)
def test_an_array_comes_back_with_shape_dtype_and_values(tmp_path, array, ending):
    path = tmp_path / f"a{ending}"
    (np.save if ending == ".npy" else np.savez)(path, array)
    back = files.read_array(path)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_an_npz_of_several_arrays_asks_which(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, real=np.zeros(2), other=np.ones(2))
    with pytest.raises(PacodiError, match="several arrays: real, other"):
        files.read_array(path)
    assert files.read_array(path, name="other").sum() == 2
    with pytest.raises(PacodiError, match="Did you mean 'other'"):
        files.read_array(path, name="othr")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".csv.gz", ".txt.gz", ".parquet"])
def test_a_written_table_is_read_back_equal(tmp_path, ending):
    table = pd.DataFrame({"a": [1, 2, 3], "b": [0.1, 1e-300, -3.5], "c": ["x", 'y, "z"', "ü\nv"]})
    path = writing.write_table(table, tmp_path / f"t{ending}")
    pd.testing.assert_frame_equal(files.read_table(path), table)


def test_whole_numbers_with_holes_stay_whole(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n,4\n")
    assert str(files.read_table(path)["a"].dtype) == "Int64"


def test_stamps_in_text_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("d,t,z\n2020-01-01,10:00:00,2020-01-01T00:00:00Z\n")
    assert files.read_table(path).iloc[0].tolist() == [
        "2020-01-01",
        "10:00:00",
        "2020-01-01T00:00:00Z",
    ]


def test_semicolons_and_decimal_commas_are_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Date;Time;CO;;\n10/03/2004;18.00.00;2,6;;\n10/03/2004;19.00.00;-200;;\n;;;;\n")
    table = files.read_table(path)
    assert list(table.columns) == ["Date", "Time", "CO"]
    assert table["CO"].tolist() == [2.6, -200.0]


def test_a_table_without_header_gets_numbered_columns(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1.5,2\n3,4\n")
    assert list(files.read_table(path).columns) == ["c0", "c1"]
    assert len(files.read_table(path)) == 2


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("﻿a,b\n1,2\n".encode())
    assert list(files.read_table(path).columns) == ["a", "b"]


def test_lines_that_end_in_a_carriage_return_are_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    assert files.read_table(path)["b"].tolist() == [2, 4]


def test_columns_are_chosen_in_order_and_missing_ones_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("alpha,beta\n1,2\n")
    assert list(files.read_table(path, columns=["beta", "alpha"]).columns) == ["beta", "alpha"]
    with pytest.raises(PacodiError, match=r"no column 'betta'.*Did you mean 'beta'"):
        files.read_table(path, columns=["betta"])


def test_a_gzip_of_several_members_is_read_whole(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert files.read_table(path)["b"].tolist() == [2, 4]


def _damaged(content: bytes, generator: np.random.Generator) -> bytes:
    broken = bytearray(content)
    for _ in range(generator.integers(1, 4)):
        ends = (0, 200) if generator.random() < 0.5 else (max(0, len(broken) - 300), len(broken))
        where = int(generator.integers(*ends)) % len(broken)
        if generator.random() < 0.5:
            broken[where] ^= 1 << int(generator.integers(8))
        else:
            del broken[where : where + int(generator.integers(1, 20))]
    return bytes(broken) or b"x"


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".csv", ".csv.gz"])
def test_damaged_bytes_are_read_or_refused_and_nothing_else(tmp_path, ending):
    generator = np.random.default_rng(0)
    path, frame = tmp_path / f"t{ending}", tables.mixed(120)
    array, read = generator.normal(size=(50, 3)), files.read_table
    if ending in files.ARRAYS:
        read = files.read_array
        writing.write_array(array, path)
    else:
        writing.write_table(frame, path)
    content, refused = path.read_bytes(), 0
    for _ in range(150):
        path.write_bytes(_damaged(content, generator))
        try:
            read(path)
        except PacodiError:
            refused += 1
    assert refused > 20


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(frame, name, **options):
        name.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(PacodiError, match="No space left"):
        writing.write_table(tables.hourly(3), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_whole_numbers_are_rounded_and_clipped_to_their_type():
    values = np.array([1.6, -1.6, 300.0, -300.0, 1e30])
    assert writing.as_dtype(values, "int8").tolist() == [2, -2, 127, -128, 127]
    assert writing.as_dtype(values, "Int64").tolist() == [2, -2, 300, -300, 2**63 - 1]
    for flag in ("bool", "boolean", "bool[pyarrow]"):
        assert writing.as_dtype(np.array([0.4, 0.6]), flag).tolist() == [False, True]
    assert writing.as_dtype(np.array([1e300]), "float32").tolist() == [np.finfo("float32").max]
    assert writing.as_dtype(np.array([0.1]), "double[pyarrow]").tolist() == [0.1]
