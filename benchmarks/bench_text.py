"""Measures texts: speed of reader, captions and encoders, and the information in a caption.

python benchmarks/bench_text.py speed
python benchmarks/bench_text.py information ETTh1.csv hashed:2048 14000 (data, encoder:width, pairs)

``information`` fits a small network from encoded captions to windows: train windows in train
phrasings, scored on held-out windows in held-out phrasings. Its errors, relative to those of the
channel's train-mean window, indicate what the mean of a conditional generator can reach.
"""

import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPRegressor

from pacodi_jax.text import captions, facts, properties, tsfragment
from pacodi_jax.text.encoders import ENCODERS

LENGTH, HELD_OUT = 24, 2000


def timed(name: str, count: int, work: Callable) -> None:
    """Prints the wall time and the processor time of ``work``, in all and per item."""
    start, spent = time.perf_counter(), time.process_time()
    work()
    took, spent = time.perf_counter() - start, time.process_time() - spent
    each = f"{spent / count * 1e3:8.3f} ms each"
    print(f"{name:34s} {took:7.2f} s  processor {spent:7.2f} s  {each}", flush=True)


def write_fragments(folder: Path, rows: int) -> Path:
    """Writes a file in TSFragment-600K's format from 200 distinct rows."""
    draw = np.random.default_rng(0)
    distinct = []
    for row in range(200):
        vector, series = draw.normal(size=128).astype(np.float32), draw.normal(size=LENGTH)
        told = [str(vector), str(series.tolist())]  # formatted once, as NumPy is slow at it
        distinct.append(["ETTh1", row, LENGTH, "It rises, then falls.", *told])
    path = folder / f"embedding_cleaned_ETTh1_{LENGTH}.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["SampleID", "SampleNumID", "TimeInterval", "Text", "TextEmbedding", "OT"])
        writer.writerows(distinct[row % 200] for row in range(rows))
    return path


def speed() -> None:
    """Times the reader, the captioner and the encoders."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_fragments(Path(folder), 100_000)
        timed("read 100,000 fragments", 100_000, lambda: tsfragment.read(path))
        os.environ["XDG_CACHE_HOME"] = folder  # without vectors cached by other runs
        _speed_of_encoders()


def _speed_of_encoders() -> None:
    """Times the captioner, and the encoders on its captions."""
    windows = np.cumsum(np.random.default_rng(0).normal(size=(2000, LENGTH)), axis=1)
    yardsticks = properties.fit(windows)
    told: list[str] = []
    timed(
        "caption 2000 windows",
        2000,
        lambda: told.extend(
            captions.caption(window, seed, yardsticks=yardsticks)
            for seed, window in enumerate(windows)
        ),
    )
    for name in ("hashed", "minilm", "minilm_clauses"):
        encoder = ENCODERS[name]()
        timed(f"encode one request, {name}", 1, lambda e=encoder: e.encode(["two peaks"]))
        timed(f"encode 200 captions, {name}", 200, lambda e=encoder: e.encode(told[:200]))


def pairs(values: np.ndarray, yardsticks: list, count: int, split, seed: int):
    """Draws windows of random channels, each with a drawn and a full caption."""
    draw = np.random.default_rng(seed)
    channel = draw.integers(0, values.shape[1], count)
    start = draw.integers(0, len(values) - LENGTH + 1, count)
    windows = np.stack([values[a : a + LENGTH, c] for a, c in zip(start, channel, strict=True)])
    measured = [
        facts.measure(window, yardsticks[c]) for window, c in zip(windows, channel, strict=True)
    ]
    drawn, full = (
        [captions.word(f, seed + i, split=split, detail=detail) for i, f in enumerate(measured)]
        for detail in ("drawn", "full")
    )
    return windows, channel, drawn, full


def shares(predicted: np.ndarray, windows: np.ndarray, means: np.ndarray) -> str:
    """Errors relative to those of the train-mean window."""
    squared = np.mean((predicted - windows) ** 2) / np.mean((means - windows) ** 2)
    absolute = np.abs(predicted - windows).sum() / np.abs(means - windows).sum()
    return f"MSE {squared:.3f}  WAPE {absolute:.3f}"


def information(path: str, name: str, count: int) -> None:
    """Prints how well windows are recovered from their captions."""
    values = pd.read_csv(path).select_dtypes("number").to_numpy()
    cut, test = int(0.7 * len(values)), int(0.8 * len(values)) + LENGTH
    values = (values - values[:cut].mean(axis=0)) / values[:cut].std(axis=0)
    view = np.lib.stride_tricks.sliding_window_view(values[:cut], LENGTH, axis=0)
    yardsticks = [properties.fit(view[:, channel]) for channel in range(values.shape[1])]
    windows, _, drawn, _ = pairs(values[:cut], yardsticks, count, "train", 0)
    held_out, where, some, full = pairs(values[test:], yardsticks, HELD_OUT, "held_out", 10**6)
    means = view.mean(axis=0)[where]
    name, _, width = name.partition(":")
    options = {"width": int(width)} if width else {}
    encoder = ENCODERS[name](**options)
    reader = encoder.taught(drawn)  # as a trained model reads
    inputs = encoder.encode(drawn)
    centre, scale = inputs.mean(axis=0), inputs.std()
    model = MLPRegressor(
        hidden_layer_sizes=(256, 256), alpha=0.1, early_stopping=True, random_state=0
    )
    model.fit((inputs - centre) / scale, windows)
    print(f"{encoder.identity}: {count} pairs, {model.n_iter_} epochs")
    for detail, texts in (("full", full), ("drawn", some)):
        predicted = model.predict((reader.encode(texts) - centre) / scale)
        print(f"  {detail:6s} {shares(predicted, held_out, means)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["speed"]:
        speed()
    elif len(sys.argv) == 5 and sys.argv[1] == "information":
        information(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sys.exit(__doc__)
