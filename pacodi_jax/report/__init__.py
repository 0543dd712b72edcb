"""Scores and pictures for people: ``scores.json``, ``scores.csv`` and ``report.html``.

What draws is imported when something is drawn: it takes longer than all else.
"""

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pacodi_jax import files
from pacodi_jax.errors import PacodiError

if TYPE_CHECKING:
    from pacodi_jax.metrics.results import Panel


def check_writable(folder: Path) -> None:
    """Refuses a folder that cannot be written into, or made; nothing is left behind.

    Raises:
      PacodiError: with the system's reason.
    """
    if folder.is_file():
        raise PacodiError(f"{folder} is a file; name a folder to write into.")
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise PacodiError(f"{folder} cannot be written into: {error.strerror}") from error


def check_folder(folder: Path) -> None:
    """Makes ``folder`` if it is not there; one that cannot be written into is a named error."""
    check_writable(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PacodiError(f"{folder} cannot be written into: {error.strerror}") from error


def html(title: str, panel: "Panel", real: np.ndarray, synthetic: np.ndarray) -> str:
    """Returns the report as one self-contained page; the arguments are those of :func:`write`."""
    from pacodi_jax.metrics.threads import one_thread
    from pacodi_jax.report import page, sections

    names = panel.data.channels if panel.data else [f"channel {i}" for i in range(real.shape[2])]
    windows = np.asarray(real), np.asarray(synthetic)
    with one_thread():
        shown = sections.sections(*windows, list(names), panel.privacy)
    return page.page(title, panel, shown)


def write(
    folder: Path, title: str, panel: "Panel", real: np.ndarray, synthetic: np.ndarray
) -> list[Path]:
    """Writes the three files of a report: all of them or none.

    Args:
      folder: made if it is not there.
      title: of the page.
      panel: from ``metrics.panel.score_panel``.
      real: ``(N, L, C)``, in the user's units.
      synthetic: ``(M, L, C)``, in the same units.

    Returns:
      The paths of ``scores.json``, ``scores.csv`` and ``report.html``.
    """
    from pacodi_jax.report import tables

    contents = {
        folder / "scores.json": panel.to_json(),
        folder / "scores.csv": tables.frame(panel).to_csv(index=False, lineterminator="\n"),
        folder / "report.html": html(title, panel, real, synthetic),
    }
    with contextlib.ExitStack() as stack:
        for path, text in contents.items():
            temporary = stack.enter_context(files.replacing(path))
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return list(contents)
