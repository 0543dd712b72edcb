"""The picture of the networks' cost relative to a temporal one."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: The colour of each interaction, safe for colour blindness (Okabe–Ito).
COLOURS = {
    "iso_flops": "#0072b2",
    "paper": "#d55e00",
    "time": "#009e73",
    "long": "#cc79a7",
}
PANELS = {
    "total_ratio": "operations",
    "attention_ratio": "operations of attention",
    "step_ratio": "time of a training step",
}


def lines(table: list[dict[str, Any]], key: str) -> dict[str, dict[int, float]]:
    """Returns ``key`` by length for each interaction of ``table``; one line if all are equal."""
    by_model: dict[str, dict[int, float]] = {}
    for row in table:
        if row["model"] in COLOURS:
            by_model.setdefault(row["model"], {})[row["length"]] = row[key]
    values = [list(line.values()) for line in by_model.values()]
    if len(values) > 1 and all(np.allclose(one, values[0]) for one in values):
        return {" = ".join(by_model): next(iter(by_model.values()))}
    return by_model


def _draw_panel(axis: Axes, table: list[dict[str, Any]], key: str) -> None:
    for name, line in lines(table, key).items():
        colour = COLOURS.get(name, "black")
        axis.plot(*zip(*line.items(), strict=True), "o-", color=colour, label=name)
    axis.axhline(1.0, color="grey", linewidth=0.8)
    axis.axhline(0.5, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel="length", title=PANELS[key], ylim=(0.0, None))
    lengths = sorted({row["length"] for row in table})
    axis.set_xticks(lengths, [str(length) for length in lengths], fontsize="small")
    axis.minorticks_off()
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)


def draw(table: list[dict[str, Any]], path: Path) -> None:
    """Draws each model's cost, divided by the temporal one's, against the length."""
    keys = [key for key in PANELS if key in table[0]]
    figure = Figure(figsize=(4.0 * len(keys), 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(keys), sharey=True, squeeze=False)[0]
    for axis, key in zip(axes, keys, strict=True):
        _draw_panel(axis, table, key)
    axes[0].set_ylabel("PaCoDi / temporal DiT")
    figure.savefig(path, format="png", dpi=130)
