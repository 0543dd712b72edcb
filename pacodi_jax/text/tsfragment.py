"""Reader of TSFragment-600K: one text, one vector and one single-channel series per row.

Files are named ``embedding_cleaned_<domain>_<length>.csv``. Column ``Text`` holds the caption,
``OT`` the series and ``TextEmbedding`` 128 numbers, both as the text of a list or a NumPy array.
Numbers are parsed by ``float``, nothing is evaluated, and a file is streamed row by row.

Ge et al., 2025, T2S, https://arxiv.org/abs/2505.02417.
"""

import csv
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import clean_text

DATASET = "WinfredGe/TSFragment-600K"
MODEL, WIDTH = "text-embedding-3-large", 128
_COLUMNS = ("Text", "TextEmbedding", "OT")
_NAME = re.compile(r"embedding_cleaned_(?P<domain>.+)_(?P<length>\d+)\.csv")
_SCALAR = re.compile(r"np\.(?:float|u?int)\d+\(([^()]*)\)")
_NOTHING = re.compile(r"^\s*,|,\s*,|,\s*$")


class Fragment(NamedTuple):
    """One row: its number in the file (the first after the header is 1) and what it holds."""

    row: int
    text: str
    vector: np.ndarray
    series: np.ndarray


class Rejection(NamedTuple):
    """One malformed row and what was wrong with it."""

    row: int
    reason: str


class Fragments(NamedTuple):
    """A file in memory: texts, vectors ``(N, 128)``, series ``(N, L)``, and the rejected rows."""

    texts: list[str]
    vectors: np.ndarray
    series: np.ndarray
    rejected: tuple[Rejection, ...]


def _advice(folder: str | Path) -> str:
    """How to get the files."""
    return (
        f"Download https://huggingface.co/datasets/{DATASET} with `hf download {DATASET} "
        f"--repo-type dataset --local-dir {folder}`."
    )


def _check_file(path: Path) -> None:
    """Refuses a folder or a missing file, with what lies there and how to get the files."""
    if path.is_file():
        return
    folder = path if path.is_dir() else path.parent
    found = sorted(p.name for p in folder.glob("embedding_cleaned_*.csv") if p.is_file())
    held = f"{', '.join(found) or 'no such file'} there"
    if path.is_dir():
        raise PacodiError(
            f"{path} is a folder ({held}); name one file embedding_cleaned_<domain>_<length>.csv "
            f"by --config.data.path. {_advice(folder)}"
        )
    raise PacodiError(f"{path} is missing ({held}). {_advice(folder)}")


def numbers(text: str, count: int, name: str) -> np.ndarray:
    """Parses ``"[1.0, 2.0]"``, ``"[1.0 2.0]"`` or ``"[np.float64(1.0), …]"``, float32 ``(count,)``.

    Raises:
      ValueError: saying what is wrong, for another count or anything but finite numbers.
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise ValueError(f"{name} is not a list in brackets")
    inner = text[1:-1]
    if "np." in inner:
        inner = _SCALAR.sub(r"\1", inner)
    if "_" in inner or _NOTHING.search(inner):
        raise ValueError(f"{name} holds an underscore, or nothing beside a comma")
    words = inner.replace(",", " ").split()
    if len(words) != count:
        raise ValueError(f"{name} holds {len(words)} numbers, not {count}")
    try:
        with np.errstate(over="ignore"):  # too large values become infinite and are refused below
            values = np.fromiter(map(float, words), np.float32, count)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds a value that is not finite")
    return values


def _parse(row: int, fields: list[str], places: tuple[int, int, int], length: int) -> Fragment:
    if len(fields) <= max(places):
        raise ValueError(f"{len(fields)} fields, too few")
    text, vector, series = (fields[place] for place in places)
    if not text.strip() or "\ufffd" in text:
        raise ValueError("Text is empty" if not text.strip() else "Text is not UTF-8")
    try:
        clean_text(text)
    except PacodiError as error:
        raise ValueError(f"Text: {str(error).partition(';')[0]}") from None
    return Fragment(row, text, numbers(vector, WIDTH, _COLUMNS[1]), numbers(series, length, "OT"))


def _places(path: Path, header: list[str] | str) -> tuple[int, int, int]:
    if isinstance(header, str):
        raise PacodiError(f"{path} does not open with the names of its columns: {header}.")
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        held = ", ".join(header)[:200] or "no header"
        raise PacodiError(f"{path} lacks column {', '.join(missing)}; it has {held}.")
    text, vector, series = (header.index(name) for name in _COLUMNS)
    return text, vector, series


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """Yields the fields of every row, or the CSV reader's complaint about it."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield str(error)


def stream(
    path: str | os.PathLike[str],
    *,
    tolerance: int = 100,
    report: Callable[[Rejection], None] = lambda _: None,
) -> Iterator[Fragment]:
    """Yields a file's rows one by one; malformed ones are reported and left out.

    Args:
      path: a file named ``embedding_cleaned_<domain>_<length>.csv``; the name gives the length.
      tolerance: how many malformed rows to leave out before giving up.
      report: called with every malformed row.

    Raises:
      PacodiError: for no path, a folder, a missing file, another name, a missing column or too many
        malformed rows.
    """
    if not path:
        raise PacodiError(
            "source='tsfragment' needs a file: give --config.data.path=FOLDER/embedding_cleaned_"
            f"<domain>_<length>.csv (in Python, path=). {_advice('FOLDER')}"
        )
    path = Path(path)
    named = _NAME.fullmatch(path.name)
    if named is not None or path.is_dir():
        _check_file(path)
    if named is None:
        raise PacodiError(f"{path.name} is not named embedding_cleaned_<domain>_<length>.csv.")
    length, rejected = int(named["length"]), 0
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        rows = _rows(csv.reader(file))
        places = _places(path, next(rows, []))
        for row, fields in enumerate(rows, start=1):
            try:
                if isinstance(fields, str):
                    raise ValueError(fields)
                if fields:
                    yield _parse(row, fields, places, length)
            except ValueError as error:
                rejected += 1
                report(Rejection(row, str(error)))
                if rejected > tolerance:
                    raise PacodiError(
                        f"{path}: more than {tolerance} malformed rows, the last is row {row}: "
                        f"{error}. Repair or drop such rows, or get the file anew from "
                        f"https://huggingface.co/datasets/{DATASET}."
                    ) from None


def read(path: str | os.PathLike[str], *, tolerance: int = 100) -> Fragments:
    """Reads a whole file; see :func:`stream`.

    Raises:
      PacodiError: as :func:`stream`, and for a file without a single good row.
    """
    rejected: list[Rejection] = []
    rows = list(stream(path, tolerance=tolerance, report=rejected.append))
    if not rows:
        raise PacodiError(f"{path} holds no good row ({len(rejected)} malformed).")
    return Fragments(
        [row.text for row in rows],
        np.stack([row.vector for row in rows]),
        np.stack([row.series for row in rows]),
        tuple(rejected),
    )
