"""Text with delimiters, parsed strictly: ragged rows and NUL bytes are refused, not repaired."""

import codecs
import csv
import io

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
    table = _read(data, names, header, delimiter, decimal, missing)
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise PacodiError(f"column {field.name!r} is not UTF-8 text; save the file as UTF-8")
    return _without_padding(table)


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


def _read(
    data: bytes, names: list[str], header: bool, delimiter: str, decimal: str, missing: list[str]
) -> pa.Table:
    quoted = b'"' in data
    parsing = pyarrow.csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=quoted, ignore_empty_lines=True
    )

    def read(types: dict[str, pa.DataType], threads: bool) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(
                use_threads=threads,
                block_size=_BLOCK,
                column_names=names,
                skip_rows_after_names=int(header),
            ),
            parsing,
            pyarrow.csv.ConvertOptions(
                column_types=types,
                decimal_point=decimal,
                null_values=MISSING + missing,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    try:
        table = read({}, threads=True)
        temporal = {f.name: pa.string() for f in table.schema if pa.types.is_temporal(f.type)}
        return read(temporal, threads=True) if temporal else table
    except pa.ArrowInvalid:
        try:
            read(dict.fromkeys(names, pa.string()), threads=False)
        except pa.ArrowInvalid as error:
            raise PacodiError(f"{error}; every row must have {len(names)} cells") from error
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
