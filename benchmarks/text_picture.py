"""Plots draws of a text-conditional run for eight sentences, for docs/reference/text.md.

python benchmarks/text_picture.py RUN [--guidance 2] [--out docs/pictures/text.png]
"""

import argparse
from pathlib import Path

import jax
import matplotlib.pyplot as plt
import numpy as np

from pacodi_jax.report.pictures import SYNTHETIC
from pacodi_jax.run import folder

SENTENCES = (
    "This series rises throughout.",
    "The whole series goes down.",
    "This series stays flat throughout.",
    "A slow rise, then a sharp drop near the end.",
    "It shows one peak in the middle.",
    "The series has two clear peaks.",
    "It shows very high volatility.",
    "The line looks smooth.",
)
DRAWS = 6


def draw(run: Path, guidance: float, path: Path) -> Path:
    """Plots six windows per sentence in the data's units, each less its mean, as levels differ."""
    trained = folder.load(run)
    conditions = np.repeat(trained.encoder().encode(SENTENCES), DRAWS, axis=0)
    key = jax.random.key(0)
    scaled = trained.draw_scaled(key, len(conditions), conditions, guidance=guidance)
    made = trained.recipe.deliver(scaled)[:, :, 0]
    made -= made.mean(axis=1, keepdims=True)
    figure, axes = plt.subplots(2, 4, figsize=(12, 4.4), sharex=True, sharey=True)
    for axis, sentence, windows in zip(
        axes.flat, SENTENCES, made.reshape(len(SENTENCES), DRAWS, -1), strict=True
    ):
        axis.plot(windows.T, color=SYNTHETIC, alpha=0.5, linewidth=1.2)
        axis.set_title(sentence, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"{trained.recipe.channels[0]} less its mean")
    for axis in axes[-1]:
        axis.set_xlabel("step")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--guidance", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/text.png"))
    given = parser.parse_args()
    print(draw(given.run, given.guidance, given.out))
