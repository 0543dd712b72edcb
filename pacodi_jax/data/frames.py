"""Tables in memory: pandas, Polars and what else narwhals reads; samples go back as the same kind.

A column's own type is kept as plain JSON: ``{"dtype": "Int64"}`` for pandas, ``{"name": "Int16"}``
for other frames, with the parameters that the type has.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from pacodi_jax.data import files
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.errors import PacodiError, choose

#: What a table in memory is called in messages.
WHERE = "the table"
#: What an index or a series without a name is called.
TIME, VALUE = "time", "value"

#: A column's own type.
ColumnType = Mapping[str, Any]

#: Frames other than pandas that samples come back as; for any other kind they are pandas.
_BACKENDS: dict[str, Any] = {
    "polars": nw.Implementation.POLARS,
    "pyarrow": nw.Implementation.PYARROW,
}
_NUMBERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_NAMED = (*_NUMBERS, "Float32", "Float64", "Boolean", "String", "Categorical", "Date")
_PARAMETERS = {"Enum": ("categories",), "Datetime": ("time_unit", "time_zone")}


class Given(NamedTuple):
    """A table in memory, as the rest of the package reads it.

    Attributes:
      frame: the table.
      backend: whose frame it was: ``pandas``, ``polars``, ….
      types: the type of each column.
      time: the time columns, those of the settings or the index that serves as one.
    """

    frame: pd.DataFrame
    backend: str
    types: dict[str, ColumnType]
    time: tuple[str, ...]


def is_array(table: Any) -> bool:
    """Whether a table in memory is an array of numbers rather than a frame with columns."""
    return hasattr(table, "__array__") and not hasattr(table, "columns") and not _is_series(table)


def _is_series(table: Any) -> bool:
    return isinstance(nw.from_native(table, pass_through=True, allow_series=True), nw.Series)


def take(table: Any, settings: DataSettings) -> Given:
    """Reads a frame or a series of any library that narwhals understands.

    Raises:
      PacodiError: if it is no table, is empty, or has columns that cannot be told apart.
    """
    if isinstance(table, pd.DataFrame):
        return _from_pandas(table, settings)
    try:
        given = nw.from_native(table, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise PacodiError(f"{WHERE} names a column twice: {error}") from error
    except TypeError as error:
        raise PacodiError(
            f"table= is a {type(table).__name__}; give a pandas or Polars frame, or an array of "
            "shape (T,), (T, C) or (N, L, C)."
        ) from error
    if isinstance(given, nw.Series):
        given = (given.alias(VALUE) if given.name is None else given).to_frame()
    frame = given.collect() if isinstance(given, nw.LazyFrame) else given
    if frame.implementation is nw.Implementation.PANDAS:
        return _from_pandas(frame.to_native(), settings)
    return _from_arrow(frame, settings)


def _from_pandas(frame: pd.DataFrame, settings: DataSettings) -> Given:
    if isinstance(frame.columns, pd.MultiIndex):
        raise PacodiError(
            f"{WHERE} has columns of {frame.columns.nlevels} levels; join the levels of each name "
            "to one text."
        )
    frame, time = _with_index(frame, settings)
    labels = {str(label): label for label in frame.columns}
    _check(frame.columns, len(frame))
    frame = frame.set_axis(list(labels), axis=1).reset_index(drop=True)
    used = (*settings.channels, *settings.static, *time, settings.id, settings.text)
    for name in frame if not settings.channels else [c for c in frame if c in used]:
        _check_text(frame[name], str(name))
    types = {name: _pandas_type(frame[name].dtype, labels[name]) for name in labels}
    return Given(frame, "pandas", types, time)


def _with_index(
    frame: pd.DataFrame, settings: DataSettings
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Makes columns of index levels that have a role; a DatetimeIndex is the time by default."""
    asked = {*settings.time, *settings.static, settings.id, settings.text}
    time = settings.time
    if isinstance(frame.index, pd.DatetimeIndex) and not time:
        name = TIME if frame.index.name is None else str(frame.index.name)
        if name in frame.columns:
            raise PacodiError(
                f"{WHERE} has a column {name!r} and a time index of that name; rename one, or set "
                "data.time."
            )
        return frame.rename_axis(name).reset_index(), (name,)
    levels = [n for n in frame.index.names if n in asked - {""} and n not in frame.columns]
    return frame.reset_index(level=levels) if levels else frame, time


def _check(names: Iterable[Any], rows: int) -> None:
    """Refuses names that are neither text nor whole numbers, names used twice, empty tables."""
    texts = [str(name) for name in names]
    for name in names:
        if not isinstance(name, str | int | np.integer):
            raise PacodiError(f"{WHERE}: the column name {name!r} is no text; rename the column.")
        if texts.count(str(name)) > 1:
            raise PacodiError(f"{WHERE} names a column twice: {str(name)!r}; rename one.")
    if not texts or not rows:
        raise PacodiError(f"{WHERE} is empty: it has {len(texts)} columns and {rows} rows.")


def _check_text(column: pd.Series, name: str) -> None:
    """Refuses a column of Python objects other than text."""
    if column.dtype != object:
        return
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind not in ("string", "empty"):
        raise PacodiError(
            f"{WHERE}: column {name!r} holds Python objects ({kind}); convert it, for example with "
            "pd.to_numeric, pd.to_datetime or .astype(str)."
        )


def pandas_types(frame: pd.DataFrame) -> dict[str, ColumnType]:
    """The type of each column of a pandas frame whose names are texts."""
    return {name: _pandas_type(frame[name].dtype, name) for name in map(str, frame.columns)}


def _pandas_type(dtype: Any, label: Any) -> ColumnType:
    """How a pandas type is made again; nothing for one that its name does not determine."""
    kept: dict[str, Any] = {} if isinstance(label, str) else {"label": int(label)}
    if isinstance(dtype, pd.CategoricalDtype):
        categories = dtype.categories.tolist()
        if all(isinstance(value, str | int | float) for value in categories):
            kept |= {"categories": categories, "ordered": bool(dtype.ordered)}
        return {"dtype": "category", **kept}
    try:
        known = pd.api.types.pandas_dtype(str(dtype)) == dtype
    except (TypeError, ValueError, NotImplementedError):
        known = False
    return {"dtype": str(dtype), **kept} if known else kept


def as_pandas(column: pd.Series, kind: ColumnType) -> pd.Series:
    """Gives a column the pandas type it had."""
    if "categories" in kind:
        return column.astype(pd.CategoricalDtype(kind["categories"], kind["ordered"]))
    return column.astype(kind["dtype"]) if "dtype" in kind else column


def _from_arrow(frame: nw.DataFrame, settings: DataSettings) -> Given:
    """Reads a frame that is not pandas by way of Arrow, as files are read."""
    _check(frame.columns, len(frame))
    types = {name: _named_type(dtype) for name, dtype in frame.schema.items()}
    table = frame.to_arrow()
    for i, field in enumerate(table.schema):
        table = table.set_column(i, field.name, _for_pandas(table.column(i)))
    try:
        read = files.to_pandas(table)
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        raise PacodiError(f"{WHERE} holds a column that cannot be read: {error}") from error
    backend = frame.implementation.value
    return Given(read, backend if backend in _BACKENDS else "pandas", types, settings.time)


def _for_pandas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates as stamps, and labels counted by signed integers: pandas reads no others."""
    if pa.types.is_date(column.type):
        return column.cast(pa.timestamp("us"))
    if pa.types.is_dictionary(column.type) and pa.types.is_unsigned_integer(column.type.index_type):
        return column.cast(column.type.value_type).dictionary_encode()
    return column


def _named_type(dtype: Any) -> ColumnType:
    """A narwhals type by its name and parameters; nothing for one that is not made again."""
    name = type(dtype).__name__
    if name in _PARAMETERS:
        return {"name": name, **{p: getattr(dtype, p) for p in _PARAMETERS[name]}}
    return {"name": str(dtype)} if str(dtype) in _NAMED else {}


def to_native(frame: pd.DataFrame, backend: str, types: Mapping[str, ColumnType]) -> Any:
    """Turns a pandas frame into the user's kind of frame, with the types its columns had.

    Raises:
      PacodiError: if the library of that frame is not installed.
    """
    if backend == "pandas":
        labels = {name: kind["label"] for name, kind in types.items() if "label" in kind}
        return frame.rename(columns=labels) if labels else frame
    table = pa.Table.from_pandas(frame, preserve_index=False)
    try:
        found = nw.from_arrow(table, backend=choose("backend", backend, _BACKENDS))
    except ImportError as error:
        raise PacodiError(
            f"the model was fitted on a {backend} frame, and {backend} cannot be used here: "
            f"{error}. Install it, or ask for a pandas table."
        ) from error
    known = (*_NAMED, *_PARAMETERS)
    wanted = {n: types[n] for n in table.column_names if types.get(n, {}).get("name") in known}
    columns = [_cast(found.get_column(name), kind) for name, kind in wanted.items()]
    return found.with_columns(*columns).to_native()


def _cast(column: nw.Series, kind: ColumnType) -> nw.Series:
    """A column in the type it had; labels pass through text."""
    if kind["name"] in ("Enum", "Categorical"):
        column = column.cast(nw.String)
    parameters = {p: kind[p] for p in _PARAMETERS.get(kind["name"], ())}
    made = getattr(nw, kind["name"])
    return column.cast(made(**parameters) if parameters else made)
