"""The three figures of docs/results.md, made of whatever docs/results/ holds.

    python benchmarks/results_figures.py [FOLDER]     writes docs/pictures/results_*.svg

They are readable on light and dark pages and on a phone: ink follows the reader's preference, the
colours of systems are of middle lightness, and letters are large.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacodi_jax import files
from pacodi_jax.report import figures

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PICTURES = ROOT / "docs" / "results", ROOT / "docs" / "pictures"
SETS = {"etth1": "ETTh1", "stocks": "Stocks", "sines": "Sines", "air": "Air"}
METRIC, LENGTH = "context_fid_v1", 24
#: Systems in the order of the figures, with their colours; others follow in grey.
SYSTEMS = {
    "pacodi": ("PaCoDi", "#d9622b"),
    "temporal": ("temporal DiT", "#3b8ed0"),
    "monolithic": ("monolithic", "#2a9d6f"),
    "decoupled": ("without interaction", "#a06cd5"),
    "diffusion_ts": ("Diffusion-TS", "#c9495b"),
    "freqdiff": ("FreqDiff", "#1f9aa8"),
    "timevae": ("TimeVAE", "#a67c52"),
    "timegan": ("TimeGAN", "#b59a1f"),
}
GREY = "#8a8f98"
#: Minutes that are marked, as far as the trainings reach.
TICKS = [1, 3, 10]
LIGHT = "svg{color:#1b1f24;--real:#0072b2;--synthetic:#c44e00;--third:#5b6770}"
DARK = (
    "@media(prefers-color-scheme:dark)"
    "{svg{color:#e6edf3;--real:#56b4e9;--synthetic:#f0a830;--third:#a7b1bb}}"
)


class Point(NamedTuple):
    """What one training scored, on train windows."""

    model: str
    minutes: float
    value: float
    low: float
    high: float
    floor: float
    ceiling: float


def points(folder: Path) -> dict[str, list[Point]]:
    """Every kept honest result of L = 24 by data set; of DDPM and SDE the latter."""
    found: dict[str, list[Point]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        cell = record.get("cell", {}) if isinstance(record, dict) else {}
        wanted = cell.get("protocol") == "honest" and cell.get("length") == LENGTH
        if not wanted or cell.get("variant") == "ddpm":
            continue
        for score in record["scores"]:
            if (score["name"], score["split"]) == (METRIC, "train"):
                own = (cell["model"], record["training_minutes"], score["value"])
                ends = (score["floor"]["value"], score["ceiling"]["value"])
                found[cell["data"]].append(Point(*own, *score["interval"], *ends))
    return found


def look(model: str) -> tuple[str, str]:
    """A system's name and colour."""
    return SYSTEMS.get(model, (model, GREY))


def panels(height: float, count: int, rows: int = 1, **options: Any) -> tuple[Figure, np.ndarray]:
    """Axes in the report's style, row by row."""
    figure, axes = figures.canvas(rows, count // rows, height=height, **options)
    figure.set_figwidth(6.6)  # narrow, so that letters stay large on a phone
    return figure, axes.ravel()


def save(figure: Figure, name: str, words: str, folder: Path) -> Path:
    """Writes the figure; its ink follows the reader's preference."""
    text = figures.to_svg(figure, words)
    head, rest = text.split(">", 1)
    head = head.replace("<svg", '<svg width="100%"', 1)
    return files.write_text(folder / name, f"{head}><style>{LIGHT}{DARK}</style>{rest}")


def floor_line(axis: Axes, value: float) -> None:
    """The score of real windows."""
    axis.axhline(value, color=figures.INK, linewidth=0.9, linestyle=":")


def by_minutes(found: dict[str, list[Point]]) -> Figure:
    """Quality against training minutes, a panel per data set."""
    figure, axes = panels(5.2, len(SETS), 2, sharex=True, sharey=True)
    shown: dict[str, Any] = {}
    for axis, (name, title) in zip(axes, SETS.items(), strict=True):
        for point in found.get(name, []):
            label, colour = look(point.model)
            spread = [[point.value - max(point.low, 1e-3)], [point.high - point.value]]
            spread = np.maximum(spread, 0)
            shown[label] = axis.errorbar(
                point.minutes, point.value, spread, fmt="o", color=colour, markersize=5, capsize=2
            )
        if found.get(name):
            floor_line(axis, found[name][0].floor)
        axis.set(xscale="log", yscale="log", title=title)
        axis.set_ylim(4e-3, None)
        axis.set_xlim(1, None)
        axis.set_xticks(TICKS, map(str, TICKS))
        axis.minorticks_off()
        if axis.get_subplotspec().is_last_row():
            axis.set_xlabel("training minutes")
        if axis.get_subplotspec().is_first_col():
            axis.set_ylabel("Context-FID")
    order = [look(model)[0] for model in SYSTEMS]
    kept = sorted(shown, key=lambda label: order.index(label) if label in order else 99)
    legend(figure, [shown[label] for label in kept], kept)
    return figure


def legend(figure: Figure, handles: list[Any], labels: list[str]) -> None:
    """One legend for all panels, above them."""
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels) if len(labels) < 5 else 3,
        frameon=False,
        labelcolor=figures.INK,
    )


def by_evaluations(folder: Path) -> tuple[Figure, int]:
    """Quality against network evaluations per sample, a panel per data set that was measured."""
    kept = [(name, folder / f"few_steps/{name}-{LENGTH}.json") for name in SETS]
    kept = [(name, path) for name, path in kept if path.is_file()]
    figure, axes = panels(3.1, max(len(kept), 2), sharey=True)
    lines: dict[str, Any] = {}
    for axis, (name, path) in zip(axes, kept, strict=False):
        by_solver: dict[str, dict[int, float]] = defaultdict(dict)
        for point, scores in json.loads(path.read_text())["points"].items():
            solver, evaluations = point.split("/")[:2]
            by_solver[solver][int(evaluations)] = float(np.mean(scores[METRIC]))
        colours = [colour for _, colour in SYSTEMS.values()]
        marks = zip(sorted(by_solver, reverse=True), colours, "osD^vP*X", strict=False)
        for place, (solver, colour, mark) in enumerate(marks):
            x, y = zip(*sorted(by_solver[solver].items()), strict=True)
            width, size = (1.2, 4) if place else (2.6, 6)  # the default stands out
            (lines[solver],) = axis.plot(
                x, y, f"{mark}-", color=colour, markersize=size, linewidth=width, zorder=9 - place
            )
        axis.set(xscale="log", yscale="log", title=SETS[name], xlabel="evaluations per sample")
        axis.set_ylim(0.025, 3)  # with five evaluations some are far beyond
        axis.set_xticks([5, 20, 100, 500], ["5", "20", "100", "500"])
        axis.minorticks_off()
    axes[0].set_ylabel("Context-FID")
    legend(figure, list(lines.values()), list(lines))
    return figure, len(kept)


def best(own: list[Point]) -> dict[str, Point]:
    """The longest training of each system; of several the mean value."""
    found = {}
    for model in {point.model for point in own}:
        mine = [point for point in own if point.model == model]
        longest = max(point.minutes for point in mine)
        mine = [point for point in mine if point.minutes > 0.7 * longest]
        found[model] = mine[0]._replace(value=float(np.mean([point.value for point in mine])))
    return found


def dots(found: dict[str, list[Point]], paper: dict[str, Any]) -> Figure:
    """Every system between floor and ceiling, a panel per data set; hollow ones are the paper's."""
    rows = [model for model in SYSTEMS if any(model in best(own) for own in found.values())]
    rows += sorted({p.model for own in found.values() for p in own} - set(SYSTEMS))
    theirs = list(next(iter(paper.values()))[str(LENGTH)][METRIC])
    labels = [look(model)[0] for model in rows] + [f"{name}, in the paper" for name in theirs]
    figure, axes = panels(1.4 + 0.44 * len(labels), len(SETS), 2, sharex=True, sharey=True)
    ends: dict[str, Any] = {}
    for axis, (name, title) in zip(axes, SETS.items(), strict=True):
        own = best(found.get(name, []))
        for row, model in enumerate(rows):
            if model in own:
                axis.plot(own[model].value, row, "o", color=look(model)[1], markersize=7)
        copied = paper.get(name, {}).get(str(LENGTH), {}).get(METRIC, {})
        for row, system in enumerate(theirs, len(rows)):
            if system in copied:
                axis.plot(copied[system], row, "o", color=figures.INK, mfc="none", markersize=6)
        if own:
            point = next(iter(own.values()))
            floor = axis.axvspan(1e-4, point.floor, color=GREY, alpha=0.25, linewidth=0)
            ceiling = axis.axvline(point.ceiling, color=figures.INK, linewidth=0.9, linestyle="--")
            ends = {"at the floor": floor, "ceiling": ceiling}
        axis.set(xscale="log", title=title, xlim=(2e-3, 2e1))
        axis.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
        axis.minorticks_off()
        axis.grid(axis="y", color=GREY, alpha=0.25)
        if axis.get_subplotspec().is_last_row():
            axis.set_xlabel("Context-FID")
    axes[0].set_yticks(range(len(labels)), labels)
    axes[0].set_ylim(len(labels) - 0.5, -0.5)
    legend(figure, list(ends.values()), list(ends))
    return figure


def draw(folder: Path, pictures: Path) -> list[Path]:
    """Writes the three figures."""
    found, paper = points(folder), json.loads((folder / "paper.json").read_text())
    minutes = "Context-FID against training minutes of every system, a panel per data set."
    dotted = "Context-FID of every system between floor and ceiling, a panel per data set."
    written = [
        save(by_minutes(found), "results_minutes.svg", minutes, pictures),
        save(dots(found, paper), "results_systems.svg", dotted, pictures),
    ]
    figure, count = by_evaluations(folder)
    if count:
        words = "Context-FID against network evaluations per sample, a line per solver."
        written.append(save(figure, "results_evaluations.svg", words, pictures))
    return written


if __name__ == "__main__":
    print(*draw(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS, PICTURES), sep="\n")
