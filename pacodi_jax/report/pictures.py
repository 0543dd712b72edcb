"""Pictures of a run: windows side by side and the loss curve. Arrays in, files out."""

import json
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pacodi_jax import files
from pacodi_jax.report.names import brief

REAL, SYNTHETIC = "#0072b2", "#d55e00"  # Okabe–Ito blue and vermilion, safe for colour blindness
_ROWS = 4
_LINES = 24
_COLUMNS = range(150, 10, -5)  # characters per line of a title, widest first


@contextmanager
def _any_language() -> Iterator[None]:
    """Draws a box for a letter that the font lacks, without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure as PNG, whole or not at all."""
    FigureCanvasAgg(figure)
    with _any_language():
        return files.write(path, lambda place: figure.savefig(place, format="png", dpi=130))


def _set_title(figure: Figure, title: str) -> None:
    """Breaks a title, within words if need be, so that no line is wider than the figure."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    shown = figure.suptitle("", fontsize="small", parse_math=False)
    with _any_language():
        for columns in _COLUMNS:
            shown.set_text(textwrap.fill(title, columns))
            extent = shown.get_window_extent(renderer)
            if extent.width < 0.97 * figure.bbox.width:
                break
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)


def windows(
    synthetic: np.ndarray,
    channels: Sequence[str],
    path: Path,
    *,
    real: np.ndarray | None = None,
    real_title: str = "real",
    title: str = "",
) -> Path:
    """Draws some windows of each channel, real on the left (if given) and synthetic on the right.

    Args:
      synthetic: ``(N, L, C)`` in the user's units.
      channels: C names; the first four are drawn.
      path: of the PNG.
      real: ``(M, L, C)`` in the user's units.
      real_title: heading of the real windows.
      title: of the whole figure, broken into lines: a protocol that leaks, or the requested text.
    """
    sides = [("synthetic", synthetic, SYNTHETIC)]
    if real is not None:
        sides.insert(0, (real_title, real, REAL))
    rows = min(_ROWS, len(channels))
    figure = Figure(figsize=(4.6 * len(sides), 0.5 + 1.7 * rows), layout="constrained")
    axes = figure.subplots(rows, len(sides), sharex=True, sharey="row", squeeze=False)
    for column, (name, values, colour) in enumerate(sides):
        axes[0][column].set_title(name, color=colour, fontweight="bold", parse_math=False)
        for row in range(rows):
            lines = values[:_LINES, :, row].T
            axes[row][column].plot(lines, color=colour, alpha=0.35, linewidth=1)
            axes[row][column].spines[["top", "right"]].set_visible(False)
    for row in range(rows):
        axes[row][0].set_ylabel(brief(channels[row]), parse_math=False)
    rest = f" ({rows} of {len(channels)} channels)" if rows < len(channels) else ""
    for side in axes[-1]:
        side.set_xlabel(f"step{rest}")
    if title:
        _set_title(figure, title)
    return save(figure, path)


def _metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of ``metrics.jsonl``; those that are none are passed over."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and _is_number(found.get("step")):
            yield found


def _is_number(value: Any) -> bool:
    """Whether a number of a line can be drawn; a loss that was not finite is null there."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) < 1e300


def loss_curve(metrics: Path, path: Path) -> Path:
    """Draws the loss in ``metrics.jsonl``, and the validation loss where there is one."""
    lines = list(_metrics(metrics))
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, colour in (("loss", REAL), ("validation", SYNTHETIC)):
        points = [(line["step"], line[name]) for line in lines if _is_number(line.get(name))]
        if points:
            axes.plot(
                *zip(*points, strict=True), color=colour, label=name, marker=".", markersize=3
            )
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.spines[["top", "right"]].set_visible(False)
    if axes.lines:
        axes.legend(frameon=False)
    return save(figure, path)
