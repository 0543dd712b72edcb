"""Tables in memory: names, order, types and units go in and come back, for pandas and Polars."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError
from tests.data import tables

QUICK = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ROWS = 60


def load(table, **options):
    return data.load(
        data.DataSettings(**{"length": 6, "fractions": (1, 0, 0), **options}), table=table
    )


def samples(found, count=3):
    """Windows as a user gets them, with static values if the table has any."""
    recipe = data.Recipe.from_json(found.recipe.to_json())
    scaled = np.random.default_rng(0).normal(size=(count, 6, found.train.channels))
    static = recipe.draw_static(0, count) if recipe.attributes else None
    return recipe.to_frame(recipe.deliver(scaled), static=static)


PANDAS = {
    "int8": lambda r: r.integers(-100, 100, ROWS).astype("int8"),
    "uint64": lambda r: r.integers(0, 1000, ROWS).astype("uint64"),
    "float32": lambda r: r.normal(size=ROWS).astype("float32"),
    "Int16": lambda r: pd.array(r.integers(0, 9, ROWS), dtype="Int16"),
    "Float64": lambda r: pd.array(r.normal(size=ROWS), dtype="Float64"),
    "boolean": lambda r: pd.array(r.integers(0, 2, ROWS).astype(bool), dtype="boolean"),
    "bool": lambda r: r.integers(0, 2, ROWS).astype(bool),
    "int64[pyarrow]": lambda r: pd.array(r.integers(0, 9, ROWS), dtype="int64[pyarrow]"),
    "float64": lambda r: r.normal(size=ROWS),
}
POLARS = {
    pl.Int8: lambda r: r.integers(-100, 100, ROWS),
    pl.UInt16: lambda r: r.integers(0, 1000, ROWS),
    pl.Int64: lambda r: r.integers(0, 2**40, ROWS),
    pl.UInt64: lambda r: r.integers(0, 1000, ROWS),
    pl.Float32: lambda r: r.normal(size=ROWS),
    pl.Float64: lambda r: r.normal(size=ROWS),
    pl.Boolean: lambda r: r.integers(0, 2, ROWS).astype(bool),
}
LABELS = {
    "str": lambda x: x.astype("str"),
    "string": lambda x: x.astype("string"),
    "object": lambda x: x.astype(object),
    "category": lambda x: x.astype(pd.CategoricalDtype(["b", "a", "never"], ordered=True)),
}
NAMES = st.lists(
    st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
        lambda name: name not in ("window", "when", "label")
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@QUICK
@given(names=NAMES, seed=st.integers(0, 99), data=st.data())
def test_a_pandas_frame_comes_back_with_its_names_order_and_types(names, seed, data):
    rng = np.random.default_rng(seed)
    kinds = [data.draw(st.sampled_from(sorted(PANDAS))) for _ in names]
    label = data.draw(st.sampled_from(sorted(LABELS)))
    zone = data.draw(st.sampled_from([None, "UTC", "Asia/Kolkata"]))
    unit = data.draw(st.sampled_from(["s", "us", "ns"]))
    columns = {name: PANDAS[kind](rng) for name, kind in zip(names, kinds, strict=True)}
    columns["label"] = LABELS[label](pd.Series(["a", "b"]).repeat(ROWS // 2).reset_index(drop=True))
    columns["when"] = pd.date_range("2024", periods=ROWS, freq="h", tz=zone).as_unit(unit)
    order = data.draw(st.permutations(sorted(columns)))
    frame = pd.DataFrame({name: columns[name] for name in order})
    before = frame.copy(deep=True)
    found = load(frame, time="when", static="label")
    back = samples(found)
    pd.testing.assert_frame_equal(frame, before)
    assert list(back.columns) == ["window", *order]
    assert back.dtypes[order].to_dict() == frame.dtypes.to_dict()
    assert back["window"].tolist() == [0] * 6 + [1] * 6 + [2] * 6


@QUICK
@given(names=NAMES, seed=st.integers(0, 99), data=st.data())
def test_a_polars_frame_comes_back_as_polars_with_its_types(names, seed, data):
    rng = np.random.default_rng(seed)
    kinds = [data.draw(st.sampled_from(list(POLARS))) for _ in names]
    columns = {n: pl.Series(POLARS[k](rng), dtype=k) for n, k in zip(names, kinds, strict=True)}
    labels = data.draw(st.sampled_from([pl.String, pl.Categorical, pl.Enum(["b", "a", "never"])]))
    columns["label"] = pl.Series(["a", "b"] * (ROWS // 2), dtype=labels).sort()
    stamps = pl.Series(pd.date_range("2024", periods=ROWS, freq="D").to_numpy())
    when = data.draw(st.sampled_from([pl.Date, pl.Datetime("ms"), pl.Datetime("us", "Asia/Tokyo")]))
    zone = getattr(when, "time_zone", None)
    columns["when"] = (stamps.dt.replace_time_zone(zone) if zone else stamps).cast(when)
    order = data.draw(st.permutations(sorted(columns)))
    frame = pl.DataFrame({name: columns[name] for name in order})
    back = samples(load(frame.lazy() if seed % 2 else frame, time="when", static="label"))
    assert isinstance(back, pl.DataFrame)
    assert back.columns == ["window", *order]
    assert list(back.schema.values())[1:] == list(frame.schema.values())


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_units_come_back(kind):
    frame = tables.hourly(ROWS)
    table = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
    }
    found = load(table[kind], time="when")
    back = found.recipe.to_frame(found.recipe.deliver(found.train.take([0, 6])))
    assert type(back) is type(table[kind])
    back = pd.DataFrame(back.to_pandas() if kind != "pandas" else back)
    assert back["when"].tolist() == frame["when"][:12].tolist()
    assert back["count"].tolist() == frame["count"][:12].tolist()
    assert back["open"].tolist() == frame["open"][:12].tolist()
    np.testing.assert_allclose(back["load"], frame["load"][:12], rtol=1e-6)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_file_and_the_frame_read_from_it_are_the_same_data(tmp_path, zone):
    frame = tables.hourly(200, zone=zone)
    frame = frame.round({"load": 3, "small": 3})  # which every parser reads to the last bit
    frame["grade"] = np.repeat(["a", "b"], 100)
    frame.loc[20:21, "load"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"length": 8, "time": "when", "static": "grade", "fractions": (0.6, 0.2, 0.2)}
    file = load(None, source="table", path=tmp_path / "t.csv", **options)
    read = pd.read_csv(tmp_path / "t.csv")
    for table in (read, pl.read_csv(tmp_path / "t.csv"), files.read_table(tmp_path / "t.csv")):
        found = load(table, **options)
        assert found.fingerprint == file.fingerprint
        for part in ("train", "validation", "held_out"):
            np.testing.assert_array_equal(
                getattr(found, part).values(), getattr(file, part).values()
            )


@pytest.mark.parametrize("name", ["date", None])
def test_a_time_index_is_the_time_column(name):
    frame = tables.hourly(ROWS)
    indexed = frame.set_index("when").rename_axis(name)
    found = load(indexed)
    called = name or "time"
    assert found.recipe.clock.columns == (called,)
    assert (
        found.fingerprint == load(frame.rename(columns={"when": called}), time=called).fingerprint
    )
    assert list(samples(found)) == ["window", called, "load", "count", "small", "open"]
    numbered = load(indexed.reset_index(drop=True))
    assert numbered.recipe.clock is None


def test_levels_of_the_index_may_have_roles():
    frame = tables.mixed()
    levels = frame.set_index(["site", "when"])
    options = {"time": "when", "id": "site", "static": "grade"}
    assert load(levels, **options).fingerprint == load(frame, **options).fingerprint


def test_columns_named_by_numbers_keep_their_names():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(ROWS, 3)))
    assert list(samples(load(frame)).columns) == ["window", 0, 1, 2]


def test_a_series_is_a_table_of_one_channel():
    values = np.random.default_rng(0).normal(size=ROWS)
    when = pd.date_range("2024", periods=ROWS, freq="h")
    assert list(samples(load(pd.Series(values, when, name="load")))) == ["window", "time", "load"]
    assert samples(load(pl.Series("load", values))).columns == ["window", "load"]


@pytest.mark.parametrize("shape", [(ROWS,), (ROWS, 3), (ROWS, 6, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_an_array_is_read_without_being_changed_and_comes_back_as_one(shape, dtype):
    array = (100 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
    before = array.copy()
    found = load(array)
    np.testing.assert_array_equal(array, before)
    back = samples(found)
    assert (back.shape, back.dtype) == ((3, 6, shape[-1] if len(shape) > 1 else 1), dtype)


def test_an_array_in_memory_is_the_same_data_as_its_file(tmp_path):
    array = np.random.default_rng(0).normal(size=(ROWS, 2))
    np.save(tmp_path / "t.npy", array)
    assert (
        load(array).fingerprint == load(None, source="table", path=tmp_path / "t.npy").fingerprint
    )


def test_large_whole_numbers_survive_where_float64_holds_them():
    large = [2**62 + 2**12, 2**63 - 2**10, -(2**63), 2**53]
    frame = pd.DataFrame({"n": np.arange(ROWS), "u": np.arange(ROWS, dtype=np.uint64)})
    recipe = load(frame).recipe
    values = np.array([[[n, float(2**64 - 2**11)]] for n in large], np.float64)
    table = recipe.to_frame(values)
    assert table["n"].tolist() == large
    assert table["u"].tolist() == [2**64 - 2**11] * 4
    constant = frame.assign(limit=np.int64(2**62 + 2**12))
    assert set(samples(load(constant))["limit"]) == {2**62 + 2**12}


def test_arrays_tables_and_deliveries_hold_the_same_values():
    frame = tables.hourly(ROWS)
    recipe = load(frame, time="when").recipe
    values = recipe.deliver(3 * np.random.default_rng(0).normal(size=(5, 6, 4)))
    table = recipe.to_table(values)
    flat = table[list(recipe.channels)].to_numpy(np.float64).reshape(5, 6, 4)
    np.testing.assert_array_equal(flat, values)
    assert set(np.unique(values[..., 3])) == {0, 1}
    assert (values[..., 1] == np.rint(values[..., 1])).all()
    assert (values[..., 2] == values[..., 2].astype(np.float32)).all()


def test_nothing_in_a_table_is_scaled_and_wrong_shapes_are_refused():
    frame = tables.hourly(ROWS).assign(limit=7)
    found = load(frame, time="when")
    values = np.full((2, 6, 5), 3.0)
    assert set(found.recipe.to_table(values)["load"]) == {3.0}
    for wrong in (found.train.take([0]), values[0], values[..., :4]):
        for write in (found.recipe.to_table, found.recipe.to_frame):
            with pytest.raises(PacodiError, match=r"expected \(N, L, 5\) in the user's units"):
                write(wrong)


def test_ids_that_do_not_fit_their_type_keep_their_own():
    frame = pd.DataFrame({"who": np.repeat(np.arange(10, dtype=np.int8), 6), "x": np.arange(60.0)})
    found = load(frame, id="who", split="series")
    few, many = samples(found, 100), samples(found, 200)
    assert (str(few["who"].dtype), str(many["who"].dtype)) == ("int8", "int64")
    assert many["who"].max() == 199
    named = frame.assign(who=frame["who"].astype(str).astype("category"))
    back = samples(load(named, id="who", split="series"))
    assert back["who"].dtype == "category"
    assert set(back["who"]) == {"synthetic_0", "synthetic_1", "synthetic_2"}
    enum = pl.from_pandas(frame).with_columns(
        pl.col("who").cast(pl.String).cast(pl.Enum([str(i) for i in range(10)]))
    )
    assert samples(load(enum, id="who", split="series"))["who"].to_list()[-1] == "synthetic_2"


def test_columns_with_holes_keep_their_kind():
    whole = [None if i == 7 else i % 9 for i in range(ROWS)]
    flags = [None if i == 9 else i % 3 == 0 for i in range(ROWS)]
    frame = pl.DataFrame({"n": pl.Series(whole, dtype=pl.Int16), "b": pl.Series(flags)})
    assert samples(load(frame)).schema == {"window": pl.Int64, **frame.schema}
    nullable = pd.DataFrame({"n": pd.array(whole, "Int16"), "b": pd.array(flags, "boolean")})
    assert samples(load(nullable)).dtypes[["n", "b"]].tolist() == nullable.dtypes.tolist()


def test_written_samples_can_be_read_with_their_windows_as_series():
    first = samples(load(tables.hourly(ROWS), time="when"), 12).drop(columns="when")
    again = samples(load(first, id="window", split="series"))
    assert list(again) == ["window", "load", "count", "small", "open"]
    assert again["window"].tolist() == [0] * 6 + [1] * 6 + [2] * 6


GOOD = {"a": np.arange(40.0)}
REFUSED = {
    "a name twice": (pd.DataFrame(np.ones((40, 2)), columns=["a", "a"]), {}, "twice: 'a'"),
    "a number and its text": (pd.DataFrame({1: [1.0], "1": [2.0]}), {}, "twice: '1'"),
    "levels of columns": (
        pd.DataFrame(np.ones((40, 1)), columns=pd.MultiIndex.from_tuples([("a", "b")])),
        {},
        "columns of 2 levels",
    ),
    "a name that is no text": (pd.DataFrame({None: [1.0]}), {}, "column name None is no text"),
    "objects": (pd.DataFrame({"a": [{}, []] * 20}), {}, r"'a' holds Python objects \(mixed\)"),
    "dates as objects": (
        pd.DataFrame({"a": [datetime.date(2024, 1, 1)] * 9}),
        {"time": "a"},
        r"Python objects \(date\); convert it",
    ),
    "no rows": (pd.DataFrame({"a": []}), {}, "is empty: it has 1 columns and 0 rows"),
    "no columns": (pd.DataFrame(index=range(9)), {}, "is empty: it has 0 columns"),
    "no rows of Polars": (pl.DataFrame({"a": []}), {}, "is empty"),
    "text as numbers": (pl.DataFrame({"a": ["x"] * 40}), {}, "'a' holds 'x' in row 1"),
    "an unknown column": (pd.DataFrame(GOOD), {"time": "b"}, "no column 'b'"),
    "a time index beside its name": (
        pd.DataFrame({"time": [1.0]}, pd.date_range("2024", periods=1)),
        {},
        "a column 'time' and a time index of that name",
    ),
    "stamps beside a second time column": (
        pd.DataFrame({**GOOD, "d": pd.Timestamp("2024"), "t": "12:00"}),
        {"time": ("d", "t")},
        "'d' holds stamps of its own, so 't' would be ignored",
    ),
    "a list": ([1.0, 2.0], {}, "table= is a list; give a pandas or Polars frame"),
    "an empty array": (np.zeros((0, 2)), {}, r"the array is empty: its shape is \(0, 2\)"),
    "four axes": (np.zeros((2, 2, 2, 2)), {}, r"shape \(2, 2, 2, 2\)"),
    "texts in an array": (np.array(["a"]), {}, "not numbers"),
    "roles of an array": (np.zeros((40, 2)), {"id": "a"}, "no column names"),
    "a table and a file": (pd.DataFrame(GOOD), {"path": "t.csv"}, "give one of them"),
    "a table and a source": (pd.DataFrame(GOOD), {"source": "etth1"}, "give one of them"),
    "stamps as a label": (
        pd.DataFrame({**GOOD, "b": pd.Timestamp("2024")}),
        {"static": "b"},
        "'b' holds time stamps",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_by_name(case):
    table, options, said = REFUSED[case]
    with pytest.raises(PacodiError, match=said):
        load(table, **options)


def test_columns_without_a_role_do_not_matter():
    frame = pd.DataFrame({**GOOD, "notes": [{}] * 40})
    assert load(frame, channels="a").recipe.columns == ("a",)


def test_a_backend_that_is_not_installed_is_named(monkeypatch):
    recipe = load(pl.DataFrame(GOOD)).recipe

    def absent(*given, **options):
        raise ModuleNotFoundError("No module named 'polars'")

    monkeypatch.setattr("narwhals.from_arrow", absent)
    with pytest.raises(PacodiError, match=r"fitted on a polars frame.*Install it"):
        recipe.to_frame(np.zeros((1, 6, 1)))
    assert len(recipe.to_table(np.zeros((1, 6, 1)))) == 6
