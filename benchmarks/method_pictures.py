"""The pictures of docs/explanation/method.md: of the noise law, the clocks and what a leak buys.

python benchmarks/method_pictures.py     writes docs/pictures/method_*.svg
"""

import json

import numpy as np
from matplotlib.figure import Figure
from results_figures import GREY, PICTURES, RESULTS, panels, save

from pacodi_jax.core import schedule, spectrum
from pacodi_jax.report import figures

LENGTH, DRAWS = 16, 20_000
#: Of bins, from the strongest to the weakest.
COLOURS = ("#d9622b", "#b59a1f", "#2a9d6f", "#3b8ed0", "#a06cd5")


def covariances() -> Figure:
    """The covariance of the real and of the imaginary part of white noise's spectrum, all bins."""
    noise = np.random.default_rng(0).normal(size=(DRAWS, LENGTH))
    bins = np.fft.fft(noise, norm="ortho")
    figure, axes = panels(3.4, 2)
    for axis, part, title in ((axes[0], bins.real, "real"), (axes[1], bins.imag, "imaginary")):
        axis.imshow(part.T @ part / DRAWS, cmap="PuOr_r", vmin=-1, vmax=1)
        axis.set(title=f"{title} part", xlabel="bin", ylabel="bin")
        axis.spines[:].set_visible(True)
    return figure


def clocks() -> Figure:
    """The angle of each bin by time, for windows whose power falls with the frequency."""
    length = 24
    noise = np.asarray(spectrum.noise_variance(length).real).ravel()
    frequency = np.arange(len(noise)) / length
    power = noise * 2.0 / (1 + (frequency / 0.05) ** 2)
    times = np.linspace(1e-4, 1, 200)
    plan = schedule.vp()
    figure, axes = panels(3.2, 1)
    for row, colour in zip(range(0, len(noise), 3), COLOURS, strict=True):
        angle = np.arctan2(
            np.asarray(plan.sigma(times)) * np.sqrt(noise[row]),
            np.asarray(plan.alpha(times)) * np.sqrt(power[row]),
        )
        axes[0].plot(times, np.degrees(angle), color=colour, label=f"bin {row}", linewidth=2)
    axes[0].set(xlabel="time t: data at 0, noise at 1", ylabel="angle of the bin, degrees")
    axes[0].set_yticks([0, 45, 90])
    axes[0].legend(frameon=False, labelcolor=figures.INK)
    return figure


def leak() -> Figure:
    """The error of a model that is told nothing, and of one that is told a caption."""
    figure, axes = panels(2.2, 1)
    runs = json.loads((RESULTS / "text" / "etth1.json").read_text())["runs"]
    rows = [
        ("honest, told nothing", runs["sde"]["guidance"]["0"]["mse"], "#3b8ed0"),
        ("borrows, told nothing", runs["oracle_sde"]["guidance"]["0"]["mse"], "#d9622b"),
        ("honest, told the caption", runs["sde"]["guidance"]["1"]["mse"], "#3b8ed0"),
    ]
    for place, (_, value, colour) in enumerate(rows):
        axes[0].barh(place, value, color=colour, height=0.6)
        axes[0].text(value + 0.006, place, f"{value:.3f}", va="center", color=figures.INK)
    axes[0].set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes[0].set(xlabel="squared error of the mean of the draws", ylim=(2.6, -0.6), xlim=(0, 0.55))
    axes[0].axvline(0, color=GREY)
    return figure


def draw() -> list:
    """Writes the three pictures."""
    cross = "Covariances of the real and of the imaginary part: an X, with opposite signs across."
    pace = "The angle of each frequency bin over time: strong bins turn late, weak ones early."
    borrowed = (
        "A model that borrows level and scale and is told nothing errs as little as one told."
    )
    return [
        save(covariances(), "method_covariance.svg", cross, PICTURES),
        save(clocks(), "method_clocks.svg", pace, PICTURES),
        save(leak(), "method_leak.svg", borrowed, PICTURES),
    ]


if __name__ == "__main__":
    print(*draw(), sep="\n")
