"""The report's pictures, as SVG that takes its colours from the page, light or dark."""

import io
import re
import warnings
import zlib
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from pacodi_jax.report.names import brief

# Placeholders, replaced by the page's own colours once the picture is drawn.
INK, REAL, SYNTHETIC, THIRD = "#010203", "#010204", "#010205", "#010206"
_SWAP = {
    INK: "currentColor",
    REAL: "var(--real)",
    SYNTHETIC: "var(--synthetic)",
    THIRD: "var(--third)",
}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pacodi",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
}
WIDTH, HEIGHT = 4.4, 3.0


def canvas(rows: int = 1, columns: int = 1, height: float = HEIGHT, **options: Any) -> tuple:
    """Returns a transparent figure in the report's style and its axes ``(rows, columns)``."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height))
        FigureCanvasSVG(figure)
        axes = figure.subplots(rows, columns, squeeze=False, **options)
        figure.patch.set_alpha(0)
        for axis in axes.ravel():
            axis.patch.set_alpha(0)
    return figure, axes


def to_svg(figure: Figure, description: str) -> str:
    """Returns the figure as an inline SVG whose alternative text is ``description``."""
    stream = io.StringIO()
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the browser draws the text
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r'(<svg[^>]*?) width="[^"]*" height="[^"]*"|(<svg[^>]*?) height="[^"]*"', r"\1\2", text
    )
    for placeholder, colour in _SWAP.items():
        text = text.replace(placeholder, colour)
    prefix = f"f{zlib.crc32(text.encode()):08x}"
    text = re.sub(r'id="([^"]+)"', rf'id="{prefix}\1"', text)
    text = re.sub(r'(url\(#|href="#)', rf"\1{prefix}", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{_escape(description)}"', 1)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def density(real: np.ndarray, synthetic: np.ndarray) -> Figure:
    """The distribution of all values, each channel scaled to [0, 1] by the real ones."""
    figure, axes = canvas()
    low, high = np.quantile(np.concatenate([real.ravel(), synthetic.ravel()]), [0.001, 0.999])
    bins = np.linspace(low, high, 60)
    for values, colour, line in ((real, REAL, "-"), (synthetic, SYNTHETIC, "--")):
        heights, _ = np.histogram(values.ravel(), bins, density=True)
        axes[0, 0].plot((bins[1:] + bins[:-1]) / 2, heights, color=colour, linestyle=line)
    axes[0, 0].set(xlabel="value, scaled", ylabel="density")
    return figure


def scatter(real: np.ndarray, synthetic: np.ndarray, name: str) -> Figure:
    """Two clouds of points ``(n, 2)``: discs are real, crosses are synthetic."""
    figure, axes = canvas()
    axes[0, 0].scatter(*real.T, s=9, color=REAL, alpha=0.55, linewidths=0)
    axes[0, 0].scatter(*synthetic.T, s=14, color=SYNTHETIC, alpha=0.6, marker="x", linewidths=0.8)
    axes[0, 0].set(xlabel=f"{name} 1", ylabel=f"{name} 2", xticks=[], yticks=[])
    return figure


def curves(real: np.ndarray, synthetic: np.ndarray, title: str, labels: tuple[str, str]) -> Figure:
    """One channel's curve ``(n,)``, real solid and synthetic dashed."""
    figure, axes = canvas(height=2.4)
    axes[0, 0].plot(real, color=REAL, linewidth=1.8)
    axes[0, 0].plot(synthetic, color=SYNTHETIC, linestyle="--", linewidth=1.8)
    axes[0, 0].set_title(brief(title, 60), parse_math=False)
    axes[0, 0].set(xlabel=labels[0], ylabel=labels[1])
    return figure


def windows(real: np.ndarray, synthetic: np.ndarray, title: str) -> Figure:
    """Some windows ``(n, L)`` of one channel, real on the left, synthetic on the right."""
    figure, axes = canvas(1, 2, height=2.4, sharey=True)
    axes[0, 0].plot(real.T, color=REAL, linewidth=1, alpha=0.8)
    axes[0, 1].plot(synthetic.T, color=SYNTHETIC, linewidth=1, alpha=0.8)
    for axis, side in zip(axes[0], ("real", "synthetic"), strict=True):
        axis.set_title(f"{brief(title)}: {side}", parse_math=False)
        axis.set_xlabel("step")
    return figure


def matrix(values: np.ndarray, title: str, names: list[str]) -> Figure:
    """A correlation matrix ``(C, C)``: purple negative, orange positive, numbers if few."""
    figure, axes = canvas(height=3.4)
    axis = axes[0, 0]
    image = axis.imshow(values, cmap="PuOr_r", vmin=-1, vmax=1)
    if len(values) <= 8:
        for (row, column), value in np.ndenumerate(values):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18
            ink = "white" if dark else "black"
            axis.text(
                column,
                row,
                f"{value + 0.0:.2f}".replace("-0.00", "0.00"),
                ha="center",
                va="center",
                color=ink,
                fontsize=7,
            )
    if len(values) <= 16:
        style: dict[str, Any] = {"fontsize": 8, "parse_math": False}
        labels = [brief(name) for name in names]
        axis.set_xticks(range(len(labels)), labels, rotation=60, ha="right", **style)
        axis.set_yticks(range(len(labels)), labels, **style)
    axis.set_title(title)
    with matplotlib.rc_context(_STYLE):  # the colour bar takes the page's ink too
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure


def neighbours(synthetic: np.ndarray, train: np.ndarray, title: str) -> Figure:
    """A synthetic window ``(L, C)`` and its nearest training window, up to three channels."""
    shown = min(3, synthetic.shape[1])
    figure, axes = canvas(shown, 1, height=0.8 + 0.9 * shown, sharex=True)
    for channel in range(shown):
        axes[channel, 0].plot(train[:, channel], color=REAL, linewidth=1.6)
        axes[channel, 0].plot(synthetic[:, channel], color=SYNTHETIC, linestyle="--", linewidth=1.6)
    axes[0, 0].set_title(brief(title, 60), parse_math=False)
    axes[-1, 0].set_xlabel("step")
    return figure
