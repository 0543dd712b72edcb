"""Samples of a trained model as files: the user's kind of table, an array, a picture."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pacodi_jax import files
from pacodi_jax.data import Dataset
from pacodi_jax.report import pictures
from pacodi_jax.run.trained import Draw, Trained
from pacodi_jax.text.encoders.interface import clean_text


def write_samples(
    trained: Trained,
    drawn: Draw,
    folder: Path,
    *,
    dataset: Dataset | None = None,
    quote: bool = False,
) -> list[Path]:
    """Writes windows as the user's kind of table, as ``.npy`` and as a picture.

    Args:
      trained: the model.
      drawn: what it drew.
      folder: where to write ``samples.*``; made if it is not there.
      dataset: if given, training windows spread over it are drawn beside the samples, whatever
        these were asked to be; the picture says so.
      quote: write names and labels that a spreadsheet takes for formulas as texts.

    Returns:
      The files written.
    """
    recipe, facts = trained.recipe, drawn.facts
    table = recipe.write(
        drawn.values,
        folder / f"samples{_table_kind(trained)}",
        stamps=drawn.stamps,
        static=drawn.columns,
        quote=quote,
        first=drawn.first,
    )
    array = files.write(folder / "samples.npy", lambda path: _save(path, drawn.values))
    told = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    described = files.write_text(folder / "samples.json", told)
    text, static = facts["text"], facts["static"]
    picture = pictures.windows(
        drawn.values,
        recipe.channels,
        folder / "samples.png",
        real=None if dataset is None else _some_real(dataset),
        real_title=_real_title(text, static),
        title=" ".join(filter(None, [trained.label, _asked(text, static)])),
    )
    return [table, array, described, picture]


def holds(folder: Path, facts: Mapping[str, Any], told: str, result: str) -> bool:
    """Whether a folder holds a result, and beside it a JSON file with these facts of it."""
    try:
        found = json.loads((folder / told).read_text(encoding="utf-8"))
        same = all(found.get(name) == fact for name, fact in facts.items())
    except (OSError, ValueError, AttributeError, RecursionError):
        return False
    return same and (folder / result).is_file()


def _save(path: Path, values: np.ndarray) -> None:
    """Saves float32, or float64 where a value is beyond float32."""
    fits = np.abs(values).max(initial=0) <= np.finfo(np.float32).max
    with path.open("wb") as file:
        np.save(file, values.astype(np.float32 if fits else np.float64), allow_pickle=False)


def _table_kind(trained: Trained) -> str:
    """The source's kind of table; array sources get a CSV beside the ``.npy``."""
    return ".csv" if trained.recipe.kind in (".npy", ".npz", "") else trained.recipe.kind


def _asked(text: str | None, static: Mapping[str, Any] | None) -> str:
    """What was asked for, in a line for the picture."""
    if text:
        return f"“{_shortened(clean_text(text))}”"
    told = ", ".join(f"{name}={value}" for name, value in (static or {}).items())
    return _shortened("".join(c if c.isprintable() else " " for c in told))


def _some_real(dataset: Dataset) -> np.ndarray:
    """Training windows from the first to the last, in the user's units."""
    train = dataset.train.once()
    return train.recipe.deliver(train.take(np.linspace(0, len(train) - 1, 24).astype(int)))


def _real_title(text: str | None, static: Mapping[str, Any] | None) -> str:
    """What stands above real windows, which no request has chosen."""
    if text is None and static is None:
        return "real"
    return f"real, not chosen by the {'static columns' if text is None else 'text'}"


def _shortened(text: str, most: int = 200) -> str:
    """The text's first words, or the beginning of its first one if that alone is too long."""
    if len(text) <= most:
        return text
    words = text[: most + 1].rpartition(" ")[0]
    return f"{words or text[:most]} …"
