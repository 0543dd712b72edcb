import csv
import time

import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import tsfragment
from pacodi_jax.text.encoders.precomputed import Precomputed

HEADER = ["SampleID", "SampleNumID", "TimeInterval", "Text", "TextEmbedding", "OT"]


def _row(number: int, length: int = 24) -> list[str]:
    """A row as pandas writes it: the vector as NumPy prints it, over several lines."""
    draw = np.random.default_rng(number)
    vector = str(draw.normal(size=128).astype(np.float32))
    series = str([float(value) for value in draw.normal(size=length).round(6)])
    return ["ETTh1", str(number), str(length), f'It rises, then "falls" {number}.', vector, series]


@pytest.fixture
def write(tmp_path):
    def write(rows, name="embedding_cleaned_ETTh1_24.csv", header=HEADER):
        path = tmp_path / name
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        return path

    return write


def test_a_file_in_the_published_format_is_read_whole(write):
    fragments = tsfragment.read(write([_row(i) for i in range(5)]))
    assert fragments.texts[3] == 'It rises, then "falls" 3.'
    assert fragments.vectors.shape == (5, 128)
    assert fragments.series.shape == (5, 24)
    assert fragments.vectors.dtype == fragments.series.dtype == np.float32
    draw = np.random.default_rng(3)
    np.testing.assert_allclose(fragments.vectors[3], draw.normal(size=128), rtol=1e-5)
    np.testing.assert_allclose(fragments.series[3], draw.normal(size=24), atol=1e-6)
    assert fragments.rejected == ()


@pytest.mark.parametrize(
    "text",
    [
        "[1.0, -2e3, 3]",
        "[ 1.  -2000. \n 3.]",
        "[np.float64(1.0), np.float64(-2000.0), 3.0]",
        "[np.int64(1), np.float32(-2000.0), np.uint8(3)]",
    ],
)
def test_lists_arrays_and_scalars_of_numpy_parse_alike(text):
    np.testing.assert_array_equal(tsfragment.numbers(text, 3, "OT"), [1.0, -2000.0, 3.0])


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (5, "[1.0, 2.0]", "OT holds 2 numbers, not 24"),
        (5, "__import__('os').system('true')", "OT is not a list"),
        (5, str(["x"] * 24), "OT: could not convert"),
        (5, str([float("nan")] * 24), "OT holds a value that is not finite"),
        (5, str([1e300] * 24), "OT holds a value that is not finite"),
        (5, "[1.0,," + "1.0, " * 22 + "1.0]", "OT holds an underscore, or nothing beside a comma"),
        (5, "[1_0, " + "1.0, " * 22 + "1.0]", "OT holds an underscore"),
        (4, "[" + "1e999 " * 128 + "]", "TextEmbedding holds a value that is not finite"),
        (4, "", "TextEmbedding is not a list"),
        (3, "  ", "Text is empty"),
        (3, "...", "Text: the text is empty"),
        (3, "up " * 1500, "Text: the text has 1500 words"),
    ],
)
def test_malformed_rows_are_left_out_and_reported_by_number(write, column, value, said):
    rows = [_row(i) for i in range(4)]
    rows[2][column] = value
    rows.append(["too", "short"])
    fragments = tsfragment.read(write(rows))
    assert len(fragments.texts) == 3
    (number, reason), (last, short) = fragments.rejected
    assert number == 3
    assert said in reason
    assert (last, short) == (5, "2 fields, too few")


def test_bytes_that_are_no_text_and_giant_fields_cost_one_row_each(write):
    path = write([_row(i) for i in range(4)])
    lines = path.read_bytes().replace(b"falls"[:1] + b"alls"[:4], b"f\xff\xfels", 1)
    path.write_bytes(lines + b"a,b,c," + b"x" * 200_000 + b",[],[]\r\n")
    fragments = tsfragment.read(path)
    assert [rejection.row for rejection in fragments.rejected] == [1, 5]
    assert "UTF-8" in fragments.rejected[0].reason
    assert "field limit" in fragments.rejected[1].reason


def test_too_many_malformed_rows_stop_the_reading(write):
    rows = [[*_row(i)[:5], "[]"] for i in range(4)]
    with pytest.raises(PacodiError, match=r"more than 2 malformed rows, the last is row 3"):
        tsfragment.read(write(rows), tolerance=2)
    with pytest.raises(PacodiError, match=r"no good row \(4 malformed\)"):
        tsfragment.read(write(rows))


def test_rows_are_streamed_not_gathered(write):
    rows = [_row(0), *[[*_row(i)[:5], "[]"] for i in range(9)]]
    stream = tsfragment.stream(write(rows), tolerance=1)
    assert next(stream).row == 1


def test_a_hundred_thousand_rows_take_less_than_twenty_seconds(write):
    path = write([_row(i % 50) for i in range(1000)])
    spent = []
    for _ in range(5):
        start = time.process_time()
        assert len(tsfragment.read(path).texts) == 1000
        spent.append(time.process_time() - start)
    assert 100 * min(spent) < 20.0


def test_the_name_tells_the_length(write):
    path = write([_row(0, length=48)], name="embedding_cleaned_exchange_rate_48.csv")
    assert tsfragment.read(path).series.shape == (1, 48)
    with pytest.raises(PacodiError, match="is not named embedding_cleaned_"):
        tsfragment.read(write([_row(0)], name="ETTh1.csv"))


def test_a_missing_column_is_named(write):
    with pytest.raises(PacodiError, match="lacks column TextEmbedding; it has SampleID"):
        tsfragment.read(write([], header=[h for h in HEADER if h != "TextEmbedding"]))


@pytest.mark.parametrize(
    ("raw", "said"), [(b"", "it has no header"), (b"x" * 200_000, "does not open with the names")]
)
def test_what_is_no_table_is_named(tmp_path, raw, said):
    path = tmp_path / "embedding_cleaned_ETTh1_24.csv"
    path.write_bytes(raw)
    with pytest.raises(PacodiError, match=said):
        tsfragment.read(path)


def test_a_missing_file_names_the_data_set(write):
    folder = write([_row(0)]).parent
    held = r"missing \(embedding_cleaned_ETTh1_24\.csv there\)"
    with pytest.raises(PacodiError, match=rf"{held}.*hf download WinfredGe/TSFragment-600K"):
        tsfragment.read(folder / "embedding_cleaned_traffic_96.csv")


def test_a_folder_is_called_a_folder_and_no_path_names_the_setting(tmp_path):
    (tmp_path / "embedding_cleaned_ETTh1_24.csv").mkdir()
    for path in (tmp_path, tmp_path / "embedding_cleaned_ETTh1_24.csv"):
        with pytest.raises(PacodiError, match=r"is a folder \(no such file there\).*hf download"):
            tsfragment.read(path)
    with pytest.raises(PacodiError, match=r"--config\.data\.path=.*hf download WinfredGe"):
        tsfragment.read("")


def test_its_vectors_serve_as_an_encoder(write):
    fragments = tsfragment.read(write([_row(i) for i in range(3)]))
    encoder = Precomputed(texts=fragments.texts, vectors=fragments.vectors)
    np.testing.assert_array_equal(encoder.encode(fragments.texts[1:2])[0], fragments.vectors[1])
