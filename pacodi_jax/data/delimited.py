"""Text with delimiters, parsed strictly: ragged rows and NUL bytes are refused, not repaired."""

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv

from pacodi_jax.errors import PacodiError

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
_BLOCK = 1 << 24


def parse(
    data: bytes,
    delimiter: str | None,
    decimal: str | None,
    header: bool | None,
    missing: list[str],
) -> pa.Table:
    """Parses ``data``; what is ``None`` is found from the first lines.

    Args:
      data: the file's bytes, UTF-8 with or without a byte order mark.
      delimiter: between cells.
      decimal: ``"."`` or ``","``.
      header: whether the first line names the columns.
      missing: cell texts that mean "no value", beside ``MISSING``.

    Returns:
      The table, with columns that have neither name nor value and trailing empty rows dropped.

    Raises:
      PacodiError: saying what is wrong with the text.
    """
    data = _plain(data)
    dialect = _dialect(data, delimiter, decimal, header)
    table = _read(data, dialect, missing)
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise PacodiError(f"column {field.name!r} is not UTF-8 text; save the file as UTF-8")
    return _without_padding(table)


class Dialect(NamedTuple):
    """How a text is written.

    Attributes:
      names: of the columns.
      header: whether the first line names them.
      delimiter: between cells.
      decimal: ``"."`` or ``","``.
      quoted: whether cells may stand in quotes, and so hold line breaks.
    """

    names: list[str]
    header: bool
    delimiter: str
    decimal: str
    quoted: bool

    @property
    def parsing(self) -> pyarrow.csv.ParseOptions:
        """How rows are told apart."""
        return pyarrow.csv.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=self.quoted, ignore_empty_lines=True
        )

    def reading(self, threads: bool = True) -> pyarrow.csv.ReadOptions:
        """How blocks are read."""
        return pyarrow.csv.ReadOptions(
            use_threads=threads,
            block_size=_BLOCK,
            column_names=self.names,
            skip_rows_after_names=int(self.header),
        )

    def converting(
        self, types: dict[str, pa.DataType], missing: list[str]
    ) -> pyarrow.csv.ConvertOptions:
        """How cells become values."""
        return pyarrow.csv.ConvertOptions(
            column_types=types,
            decimal_point=self.decimal,
            null_values=MISSING + missing,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )


def _dialect(
    data: bytes, delimiter: str | None, decimal: str | None, header: bool | None
) -> Dialect:
    first, second = _first_lines(data)
    delimiter = delimiter or max(",;\t", key=first.count)
    names = next(csv.reader([first], delimiter=delimiter))
    cells = next(csv.reader([second], delimiter=delimiter), [])
    if decimal is None:
        comma = delimiter != "," and any(_number(c.replace(",", ".")) and "," in c for c in cells)
        decimal = "," if comma else "."
    if header is None:
        header = not all(_number(c.replace(decimal, ".")) for c in names)
    names = _names(names) if header else [f"c{i}" for i in range(len(names))]
    return Dialect(names, header, delimiter, decimal, b'"' in data)


def in_chunks(path: Path) -> Iterator[pa.Table]:
    """Parses a file chunk by chunk; the first rows decide its dialect and the types of columns.

    Columns of numbers are read as float64, whole ones too: the next chunk may hold fractions.

    Yields:
      First a table of the first rows in the types that they show, then all rows.

    Raises:
      PacodiError: saying what is wrong with the text.
    """
    with path.open("rb") as file:
        head = file.read(_BLOCK)
    head = head[: head.rfind(b"\n") + 1] or head
    shown = parse(head, None, None, None, [])
    dialect = _dialect(_plain(head), None, None, None)
    number = lambda t: pa.types.is_floating(t) or pa.types.is_integer(t) or pa.types.is_null(t)  # noqa: E731
    types = {f.name: pa.float64() if number(f.type) else f.type for f in shown.schema}
    yield shown
    left_out = [name for name in dialect.names if name not in types]
    types |= dict.fromkeys(left_out, pa.string())
    opened = pyarrow.csv.open_csv(
        path, dialect.reading(), dialect.parsing, dialect.converting(types, [])
    )
    with opened as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch]).select(shown.column_names)


def _plain(data: bytes) -> bytes:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise PacodiError("the text is UTF-16; save it as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    where = data.find(b"\0")
    if where >= 0:
        line = data.count(b"\n", 0, where) + 1
        raise PacodiError(f"line {line} holds a NUL byte: this is not text, or it is damaged")
    if not data.strip():
        raise PacodiError("there is nothing in it but white space")
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _first_lines(data: bytes) -> tuple[str, str]:
    lines = [line for line in io.BytesIO(data[:_BLOCK]).readlines(1 << 16) if line.strip()][:2]
    try:
        text = [line.decode("utf-8").strip("\r\n") for line in lines]
    except UnicodeDecodeError as error:
        raise PacodiError(f"the text is not UTF-8 ({error.reason}); save it as UTF-8") from error
    return text[0], text[1] if len(text) > 1 else ""


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _names(names: list[str]) -> list[str]:
    """Strips the header's names; names used twice are refused, empty ones numbered."""
    names = [name.strip() or f"unnamed_{i}" for i, name in enumerate(names)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PacodiError(f"the header names a column twice: {', '.join(map(repr, twice))}")
    return names


def _read(data: bytes, dialect: Dialect, missing: list[str]) -> pa.Table:
    def read(types: dict[str, pa.DataType], threads: bool) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(data),
            dialect.reading(threads),
            dialect.parsing,
            dialect.converting(types, missing),
        )

    try:
        table = read({}, threads=True)
        temporal = {f.name: pa.string() for f in table.schema if pa.types.is_temporal(f.type)}
        return read(temporal, threads=True) if temporal else table
    except pa.ArrowInvalid:
        try:
            read(dict.fromkeys(dialect.names, pa.string()), threads=False)
        except pa.ArrowInvalid as error:
            cells = len(dialect.names)
            raise PacodiError(f"{error}; every row must have {cells} cells") from error
        raise


def _without_padding(table: pa.Table) -> pa.Table:
    """Drops unnamed columns without a value and empty rows at the end (some editors add both)."""
    padding = [
        f.name
        for f, c in zip(table.schema, table.columns, strict=True)
        if f.name.startswith("unnamed_") and c.null_count == len(c)
    ]
    table = table.drop_columns(padding) if padding else table
    rows = len(table)
    while rows and all(not table.column(i)[rows - 1].is_valid for i in range(table.num_columns)):
        rows -= 1
    return table.slice(0, rows)
