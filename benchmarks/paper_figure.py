"""The paper's figure: density, PCA and t-SNE of real windows and of three systems' at L = 64.

    python benchmarks/paper_figure.py RUNS [--data etth1] [--minutes 2] [--windows 200]

PaCoDi, Diffusion-TS and vanilla diffusion (DDPM over time steps) train for equal minutes of
processor time in folders under RUNS, and go on there if they were stopped. The picture is
docs/pictures/baselines.png, its facts stand beside it as JSON.
"""

import argparse
import json
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from table_runs import ROOT, pace

from pacodi_jax import files
from pacodi_jax.configs import loader
from pacodi_jax.run import folder, parts
from pacodi_jax.settings import Config
from pacodi_jax.train.display import Terminal
from pacodi_jax.train.from_config import train
from pacodi_jax.train.signals import Signals

SYSTEMS = {
    "PaCoDi": "model=pacodi",
    "Diffusion-TS": "model=diffusion_ts",
    "Vanilla diffusion": "model=temporal,preset=ddpm",
}
LENGTH = 64
REAL, MADE = "#0072b2", "#c44e00"
PICTURE = ROOT / "docs" / "pictures" / "baselines.png"


def trained(runs: Path, data: str, name: str, minutes: float) -> tuple[Path, Config]:
    """Trains a system for its minutes, or goes on with it; returns its folder."""
    place = runs / f"{data}-{name.lower().replace(' ', '_')}-{minutes:g}"
    if (place / "config.json").exists():
        config = folder_config(place)
    else:
        chosen = loader.load(f"{data}:length={LENGTH},{SYSTEMS[name]}").to_dict()
        config = Config.make(chosen).changed({"train.calibration": 0})
        steps = max(round(minutes * 60_000 / pace(config, share=10)), 20)
        config = config.changed({"train.steps": steps})
    outcome = train(config, place, display=Terminal(), signals=Signals())
    if outcome.run.signal:
        raise SystemExit(f"{outcome.run.signal}: run the same command to go on")
    return place, config


def folder_config(place: Path) -> Config:
    """The settings of a run that was begun."""
    return Config.make(json.loads((place / "config.json").read_text()))


def drawn(place: Path, count: int) -> np.ndarray:
    """The first windows of a trained model, kept so that a second picture costs nothing."""
    kept = place / f"drawn-{count}.npy"
    if not kept.exists():
        np.save(kept, folder.load(place).draw(count, batch=50).values)
    return np.load(kept)


def real_windows(config: Config, count: int) -> np.ndarray:
    """As many training windows, evenly spread, in the user's units."""
    found = parts.load_windows(config)
    windows = found.recipe.deliver(found.train.once().values())
    return windows[np.linspace(0, len(windows) - 1, count).astype(int)]


def points(real: np.ndarray, made: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds ``(n, 2)``: means over channels, as in the paper, projected together."""
    rows = np.concatenate([real.mean(-1), made.mean(-1)])
    if method == "PCA":
        found = PCA(2).fit(rows[: len(real)]).transform(rows)
    else:
        perplexity = min(40, len(rows) // 4)
        found = TSNE(2, perplexity=perplexity, init="pca", random_state=0).fit_transform(rows)
    return found[: len(real)], found[len(real) :]


def draw(real: np.ndarray, systems: dict[str, np.ndarray], path: Path, words: str) -> None:
    """Draws three rows of pictures, a system per column; values in [0, 1] of the real windows."""
    low, high = real.min((0, 1)), real.max((0, 1))
    scaled = lambda x: (x - low) / (high - low)  # noqa: E731
    figure = matplotlib.figure.Figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots(3, len(systems), sharex="row", sharey="row")
    bins = np.linspace(-0.2, 1.2, 71)
    for column, (name, made) in enumerate(systems.items()):
        axes[0, column].set_title(name, fontsize=10)
        for values, colour, label in ((real, REAL, "real"), (made, MADE, "synthetic")):
            height, _ = np.histogram(scaled(values), bins, density=True)
            line = "-" if label == "real" else "--"
            axes[0, column].plot(
                (bins[1:] + bins[:-1]) / 2, height, line, color=colour, label=label
            )
        for row, method in enumerate(("PCA", "t-SNE"), start=1):
            clouds = points(scaled(real), scaled(made), method)
            for cloud, colour, mark in zip(clouds, (REAL, MADE), ("o", "x"), strict=True):
                axes[row, column].scatter(*cloud.T, s=10, c=colour, marker=mark, alpha=0.5)
    for row, word in enumerate(("density", "PCA", "t-SNE")):
        axes[row, 0].set_ylabel(word)
    axes[0, 0].legend(frameon=False, loc="upper left", fontsize=8)
    figure.supxlabel(words, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Trains, draws and paints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--data", default="etth1")
    parser.add_argument("--minutes", type=float, default=2.0, help="of processor time, per system")
    parser.add_argument("--windows", type=int, default=200)
    given = parser.parse_args()
    systems, facts = {}, {}
    for name in SYSTEMS:
        place, config = trained(given.runs, given.data, name, given.minutes)
        steps, batch = config.train.steps, config.train.batch
        systems[f"{name}, {steps:,} steps of {batch}"] = drawn(place, given.windows)
        facts[name] = {"steps": steps, "batch": batch}
    words = f"{given.data}, L = {LENGTH}; {given.minutes:g} processor minutes of training each"
    draw(real_windows(config, given.windows), systems, PICTURE, words)
    about = {"data": given.data, "minutes": given.minutes, "windows": given.windows}
    record = json.dumps(about | {"systems": facts}, indent=1) + "\n"
    files.write_text(PICTURE.with_suffix(".json"), record)
    print(PICTURE)


if __name__ == "__main__":
    main()
