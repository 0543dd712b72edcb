"""Every mistake ends in one line, exit code 2, no traceback, and nothing half-written."""

import gzip
import io
import os
import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from pacodi_jax.cli.describe import main
from pacodi_jax.data import catalogue, files
from tests.data import tables

ROWS = "".join(f"{i},{i * i % 7}\n" for i in range(80))
GOOD = "a,b\n" + ROWS


def _npy(array, **options) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def _npz(array) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=array)
    return buffer.getvalue()


def _header(shape, descr="<f8") -> bytes:
    buffer = io.BytesIO()
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue() + b"\0" * 64


def _lying_npz() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", _header((1 << 40,)))
    return buffer.getvalue()


def _parquet(rows=100) -> bytes:
    buffer = io.BytesIO()
    tables.hourly(rows).to_parquet(buffer)
    return buffer.getvalue()


def _twice() -> bytes:
    buffer = io.BytesIO()
    column = pa.array(range(80))
    pyarrow.parquet.write_table(pa.table([column, column], ["a", "a"]), buffer)
    return buffer.getvalue()


def _bomb_parquet() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"a": np.zeros(60_000_000, bool)}).to_parquet(buffer)
    return buffer.getvalue()


def _stamps(*lines: str) -> bytes:
    more = [f"2020-01-{day:02d}" for day in range(10, 29)]
    return ("t,a\n" + "".join(f"{s},{i}\n" for i, s in enumerate([*lines, *more]))).encode()


#: name: (file name, content, more flags, what the message must say)
CASES = {
    "empty file": ("t.csv", b"", [], "is empty"),
    "white space only": ("t.csv", b"\n  \n", [], "nothing in it"),
    "header only": ("t.csv", b"a,b\n", [], "no rows"),
    "one row": ("t.csv", b"a,b\n1,2\n", [], "no window of length 4"),
    "shorter than the window": ("t.csv", b"a,b\n1,2\n3,4\n5,7\n", [], "no window of length 4"),
    "text in a number column": ("t.csv", (GOOD + "x,3\n").encode(), [], "'a' holds 'x' in row 81"),
    "too few cells": ("t.csv", (GOOD + "7\n").encode(), [], "Row #82: Expected 2 columns, got 1"),
    "too many cells": ("t.csv", (GOOD + "7,8,9\n").encode(), [], "Expected 2 columns, got 3"),
    "name used twice": ("t.csv", b"a,a\n1,2\n", [], "twice: 'a'"),
    "no value in a channel": (
        "t.csv",
        ("a,b\n" + "".join(f"{i},\n" for i in range(80))).encode(),
        [],
        "'b' has no value at all",
    ),
    "all channels constant": ("t.csv", b"a,b\n" + b"1,2\n" * 80, [], "every channel is constant"),
    "infinity": ("t.csv", (GOOD + "inf,3\n").encode(), [], "'a' is infinite.*row 81"),
    "1e400": ("t.csv", (GOOD + "1e400,3\n").encode(), [], "'a' is infinite.*row 81"),
    "too wide a range": (
        "t.csv",
        (GOOD + "1e308,3\n-1e308,4\n").encode(),
        ["--fractions=1,0,0"],
        "too wide a range",
    ),
    "duplicate stamps": ("t.csv", _stamps("2020-01-01", "2020-01-01"), ["--time=t"], "repeats"),
    "unsorted stamps": ("t.csv", _stamps("2020-01-05", "2020-01-02"), ["--time=t"], "earlier"),
    "mixed frequencies": (
        "t.csv",
        _stamps(*(f"2020-01-{d:02d}" for d in (1, 2, 3, 5, 7))),
        ["--time=t"],
        "mixed frequencies",
    ),
    "a stamp that is none": ("t.csv", _stamps("2020-01-01", "soon"), ["--time=t"], "'soon'"),
    "ambiguous stamps": ("t.csv", b"t,a\n1/2/2020,1\n2/2/2020,2\n", ["--time=t"], "time_format"),
    "an empty stamp": ("t.csv", _stamps("2020-01-01", ""), ["--time=t"], "empty in row 2"),
    "stamps as a channel": ("t.csv", _stamps("2020-01-01"), [], "'t' holds '2020-01-01'"),
    "UTF-16": ("t.csv", GOOD.encode("utf-16"), [], "UTF-16"),
    "Latin-1 name": ("t.csv", "a,ß\n1,2\n".encode("latin-1"), [], "not UTF-8"),
    "Latin-1 label": ("t.csv", "a,g\n1,f\n2,ß\n".encode("latin-1"), [], "'g' is not UTF-8"),
    "NUL in text": ("t.csv", (GOOD + "1\0,2\n").encode(), [], "line 82 holds a NUL"),
    "an open quote": ("t.csv", ('a,b\n"1,2\n' + ROWS).encode(), [], "t.csv"),
    "pickled objects": ("t.npy", _npy(np.array([{}, 1]), allow_pickle=True), [], "pickled objects"),
    "a raw pickle": ("t.npy", b"\x80\x04N.", [], "not a readable array"),
    "text array": ("t.npy", _npy(np.array(["a", "b"])), [], "not numbers"),
    "complex array": ("t.npy", _npy(np.zeros((9, 2), complex)), [], "not numbers"),
    "four axes": ("t.npy", _npy(np.zeros((2, 2, 2, 2))), [], "expected .T, C."),
    "empty array": ("t.npy", _npy(np.zeros((0, 3))), [], "empty array"),
    "truncated npy": ("t.npy", _npy(np.ones((90, 2)))[:-50], [], "truncated"),
    "truncated npz": ("t.npz", _npz(np.random.default_rng(0).normal(size=900))[:-90], [], "t.npz"),
    "header claiming terabytes": ("t.npy", _header((1 << 40,)), [], "claims 8,796,093,022,208"),
    "negative shape": ("t.npy", _header((-4, 2)), [], "impossible shape"),
    "member claiming terabytes": ("t.npz", _lying_npz(), [], "claims 8,796,093,022,208"),
    "zip bomb": ("t.npz", _npz(np.zeros((4_000_000,))), [], "decompression bomb"),
    "gzip bomb": ("t.csv.gz", gzip.compress(b"0,0,0,0\n" * 3_000_000), [], "decompression bomb"),
    "parquet bomb": ("t.parquet", _bomb_parquet, [], "decompression bomb"),
    "truncated gzip": ("t.csv.gz", gzip.compress(GOOD.encode())[:-12], [], "truncated"),
    "no gzip at all": ("t.csv.gz", GOOD.encode(), [], "not a readable gzip"),
    "damaged gzip": (
        "t.csv.gz",
        gzip.compress(GOOD.encode())[:-8] + b"\0" * 8,
        [],
        "not a readable gzip",
    ),
    "truncated parquet": ("t.parquet", _parquet()[:-40], [], "not a readable Parquet"),
    "damaged parquet": ("t.parquet", b"PAR1" + b"\7" * 500 + b"PAR1", [], "not a readable Parquet"),
    "unknown ending": ("t.xlsx", b"PK", [], "accepted endings"),
    "missing column": ("t.csv", GOOD.encode(), ["--channels=a,bb"], "no column 'bb'.*mean 'b'"),
    "a column with two roles": ("t.csv", GOOD.encode(), ["--channels=a,b", "--id=b"], "twice"),
    "reserved name": ("t.csv", ("window,b\n" + ROWS).encode(), [], "reserved"),
    "window 0": ("t.csv", GOOD.encode(), ["--length=0"], "length=0"),
    "stride 0": ("t.csv", GOOD.encode(), ["--stride=0"], "stride=0"),
    "negative gap": ("t.csv", GOOD.encode(), ["--max_gap=-1"], "max_gap=-1"),
    "length is a word": ("t.csv", GOOD.encode(), ["--length=long"], "length"),
    "fractions that do not sum": ("t.csv", GOOD.encode(), ["--fractions=.5,.1,.1"], "sum to 0.7"),
    "two fractions": ("t.csv", GOOD.encode(), ["--fractions=0.5,0.5"], "expected three"),
    "fractions as words": ("t.csv", GOOD.encode(), ["--fractions=a,b,c"], "fractions"),
    "no train": ("t.csv", GOOD.encode(), ["--fractions=0,0.5,0.5"], "train above 0"),
    "unknown scaling": ("t.csv", GOOD.encode(), ["--scaling=minmax"], "mean 'min_max'"),
    "unknown protocol": ("t.csv", GOOD.encode(), ["--protocol=papr"], "mean 'paper'"),
    "unknown flag": ("t.csv", GOOD.encode(), ["--strid=2"], "stride"),
    "unknown source": ("t.csv", GOOD.encode(), ["--source=etth3"], "mean 'etth"),
    "a path as a source": ("t.csv", GOOD.encode(), ["--source=../../etc/passwd"], "unknown"),
    "roles for a known source": ("t.csv", GOOD.encode(), ["--source=etth1", "--id=a"], "belongs"),
    "not the published file": ("t.csv", GOOD.encode(), ["--source=etth1"], "wrong checksum"),
    "a value far beyond train": ("t.csv", (GOOD + "1e300,3\n").encode(), [], "'a'.* too far"),
    "a stride beyond any file": ("t.csv", GOOD.encode(), [f"--stride={10**20}"], "below 2..31"),
    "a length beyond any file": ("t.csv", GOOD.encode(), [f"--length={10**20}"], "below 2..31"),
    "a stamp format that is none": (
        "t.csv", _stamps("2020-01-01"), ["--time=t", "--time_format=%Q"], "time_format='%Q'"
    ),
    "parquet with a name twice": ("t.parquet", _twice, [], "twice: 'a'"),
    "a word too many": ("t.csv", GOOD.encode(), ["more"], "no file 'more'"),
    "object in an archive": ("t.npz", _npz(np.array([{}, 1], object)), [], "pickled objects"),
    "a missing config": ("t.csv", GOOD.encode(), ["--config=nowhere.py"], "nowhere.py"),
}  # fmt: skip


def _run(capsys, *arguments):
    code = main(["--source=table", "--length=4", *arguments])
    return code, capsys.readouterr()


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_named_and_leaves_nothing_behind(case, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, content, flags, words = CASES[case]
    (tmp_path / name).write_bytes(content() if callable(content) else content)
    before = sorted(tmp_path.rglob("*"))
    code, output = _run(capsys, f"--path={tmp_path / name}", *flags)
    assert code == 2, output
    assert output.err.startswith("error: ")
    assert "Traceback" not in output.err
    assert re.search(words, output.err, re.DOTALL), output.err
    assert output.out == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_there_are_at_least_sixty_cases():
    assert len(CASES) >= 60


CONFIG = """
from ml_collections import ConfigDict
def get_config():
    return ConfigDict(dict(data=dict(source="sines", length=8))).lock()
"""


@pytest.mark.parametrize(
    ("name", "code", "override", "words"),
    [
        ("syntax", "def get_config(:\n", "", "SyntaxError.*line 1"),
        ("division", "def get_config():\n    return 1 / 0\n", "", "division by zero"),
        ("refusal", "def get_config():\n    raise ValueError('a < 1')\n", "", "a < 1"),
        ("setting", CONFIG, "--config.data.lenght=4", "length"),
        ("value", CONFIG, "--config.data.length=long", "long"),
    ],
)
def test_a_mistake_in_a_config_is_one_line(
    name, code, override, words, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = tmp_path / f"{name}.py"
    config.write_text(code)
    given = [f"--config={config}", *([override] if override else [])]
    monkeypatch.setattr(sys, "argv", ["data", *given])
    result, output = _run(capsys, *given)
    assert result == 2
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err
    assert re.search(words, output.err), output.err
    assert output.out == ""
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (".", "is a directory"),
        ("missing.csv", "does not exist"),
        ("", "needs path"),
        ("/dev/null/x.csv", "does not exist|cannot be read"),
        ("/dev/zero.csv", "does not exist"),
        ("a\0b.csv", "NUL"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(path, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = _run(capsys, f"--path={path}" if path else "--stride=1")
    assert code == 2
    assert re.search(words, output.err), output.err


def test_a_misspelt_file_gets_its_neighbours_name(tmp_path, capsys):
    (tmp_path / "measurements.csv").write_text(GOOD)
    _, output = _run(capsys, f"--path={tmp_path / 'measurement.csv'}")
    assert "Did you mean 'measurements.csv'" in output.err


def test_an_unreadable_file_is_named(tmp_path, capsys, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(GOOD)
    if os.geteuid() == 0:  # root reads everything: let the system call refuse

        def refuse(self, *arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(files.Path, "open", refuse)
    else:
        path.chmod(0)
    code, output = _run(capsys, f"--path={path}")
    assert code == 2
    assert "cannot be read: Permission denied" in output.err


def test_a_fifo_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "t.csv")
    code, output = _run(capsys, f"--path={tmp_path / 't.csv'}")
    assert code == 2
    assert "not a regular file" in output.err


def test_a_picture_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "file").write_text("")
    code, output = _run(
        capsys, f"--path={tmp_path / 't.csv'}", f"--png={tmp_path / 'file' / 'x.png'}"
    )
    assert code == 2
    assert "cannot be written" in output.err


def test_a_variable_that_is_no_folder_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path / "nowhere"))
    code, output = _run(capsys, "--source=etth1")
    assert code == 2
    assert catalogue.VARIABLE in output.err
