"""Scores and pictures for people: ``scores.json``, ``scores.csv`` and ``report.html``."""

import csv
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.report.page import page
from pacodi_jax.report.sections import sections

COLUMNS = (
    *("name", "split", "group", "better", "protocol", "value", "low", "high"),
    *("floor", "floor_low", "floor_high", "ceiling", "ceiling_low", "ceiling_high"),
    *("position", "above_floor", "word", "windows", "seeds"),
)


def to_csv(panel: dict[str, Any]) -> str:
    """Returns one line a score and split, with intervals, floors and ceilings."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for score in panel["scores"]:
        row = {
            key: score[key] for key in COLUMNS if key in score and key not in ("floor", "ceiling")
        }
        row |= {"protocol": panel["protocol"], "seeds": " ".join(map(str, score["seeds"]))}
        row["low"], row["high"] = score["interval"]
        for role in ("floor", "ceiling"):
            row[role] = score[role]["value"]
            row[f"{role}_low"], row[f"{role}_high"] = score[role]["interval"]
        writer.writerow(row)
    return stream.getvalue()


def check_folder(folder: Path) -> None:
    """Makes ``folder`` if it is not there; one that cannot be written into is a named error."""
    if folder.is_file():
        raise PacodiError(f"{folder} is a file; name a folder to write into.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise PacodiError(f"{folder} cannot be written into: {error.strerror}") from error


def write(
    folder: Path, title: str, panel: dict[str, Any], real: np.ndarray, synthetic: np.ndarray
) -> list[Path]:
    """Writes the three files of a report, whole or not at all.

    Args:
      folder: made if it is not there.
      title: of the page.
      panel: from ``metrics.panel.score_panel``.
      real: ``(N, L, C)``, in the user's units.
      synthetic: ``(M, L, C)``, in the same units.

    Returns:
      The paths of ``scores.json``, ``scores.csv`` and ``report.html``.
    """
    contents = {
        "scores.json": json.dumps(panel, indent=1, ensure_ascii=False) + "\n",
        "scores.csv": to_csv(panel),
        "report.html": page(title, panel, sections(real, synthetic, panel["data"]["channels"])),
    }
    check_folder(folder)
    written = {folder / f".{name}.{os.getpid()}": folder / name for name in contents}
    try:
        for temporary, text in zip(written, contents.values(), strict=True):
            temporary.write_text(text, encoding="utf-8")
        for temporary, target in written.items():
            temporary.replace(target)
    except OSError as error:
        raise PacodiError(f"{folder}: the report cannot be written: {error.strerror}") from error
    finally:
        for temporary in written:
            temporary.unlink(missing_ok=True)
    return list(written.values())
