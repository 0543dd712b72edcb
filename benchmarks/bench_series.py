"""Whole series: seams, deviation, autocorrelation, mean day and week, drift, and time.

    python benchmarks/bench_series.py RUN [--series 20] [--steps 8760] [--long 100000] [--picture X]

RUN is a trained run of an hourly table. Its series begin at the first stamp of the data, and are
compared with the training part, channel by channel, in the user's units. Written to
``docs/results/series/RUN.json``.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import series_pictures
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import Trained
from pacodi_jax.series.simulate import Simulated, simulate

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "series"
LAGS = (1, 24, 168)


def autocorrelation(series: np.ndarray, lag: int) -> np.ndarray:
    """Of ``(N, T, C)`` series at a lag, around the mean of all: ``(C,)``."""
    centred = series - series.mean(axis=(0, 1))
    both = (centred[:, lag:] * centred[:, :-lag]).mean(axis=(0, 1))
    return both / (centred**2).mean(axis=(0, 1))


def seams(series: np.ndarray, new: int, first: int) -> dict[str, float]:
    """The jump where windows meet over that elsewhere, the mean over channels.

    Args:
      series: ``(N, T, C)``.
      new: steps that a window adds.
      first: steps of the first window.

    Returns:
      The ratio of the mean jumps, and that of their root mean squares.
    """
    jumps = np.abs(np.diff(series, axis=1))
    places = np.arange(first - 1, jumps.shape[1], new)
    inside = np.ones(jumps.shape[1], bool)
    inside[places] = False
    found = {}
    for name, power in (("mean", 1), ("rms", 2)):
        level = (jumps**power).mean(axis=0)
        ratio = level[places].mean(axis=0) / level[inside].mean(axis=0)
        found[name] = float((ratio ** (1 / power)).mean())
    return found


def profile(series: np.ndarray, stamps: pd.DatetimeIndex, period: str) -> np.ndarray:
    """The mean over all hours of the day, or of the week: ``(24, C)`` or ``(168, C)``."""
    hour = np.asarray(stamps.hour)
    slot = hour if period == "day" else 24 * np.asarray(stamps.day_of_week) + hour
    slots = range(24 if period == "day" else 168)
    return np.stack([series[:, slot == s].mean(axis=(0, 1)) for s in slots])


def alike(first: np.ndarray, second: np.ndarray) -> list[float]:
    """The correlation of two profiles ``(P, C)``, per channel."""
    pairs = zip(first.T, second.T, strict=True)
    return [float(np.corrcoef(a, b)[0, 1]) for a, b in pairs]


def compare(trained: Trained, found: Simulated, real: np.ndarray, stamps: pd.Index) -> dict:
    """All figures of synthetic series ``(N, T, C)`` beside a real one ``(1, T', C)``."""
    made = found.values
    assert found.stamps is not None
    days = {
        period: alike(
            profile(made, pd.DatetimeIndex(found.stamps), period),
            profile(real, pd.DatetimeIndex(stamps), period),
        )
        for period in ("day", "week")
    }
    return {
        "deviation": (made.std(axis=(0, 1)) / real.std(axis=(0, 1))).tolist(),
        "autocorrelation": {
            str(lag): {
                "synthetic": autocorrelation(made, lag).tolist(),
                "train": autocorrelation(real, lag).tolist(),
            }
            for lag in LAGS
        },
        "profiles": days,
    }


def drift(far: np.ndarray, real: np.ndarray, year: int) -> dict[str, Any]:
    """The last year of one long series ``(T, C)`` beside its first: no drift, no blow-up."""
    first, last = far[:year], far[-year:]
    return {
        "steps": len(far),
        "mean": ((last.mean(0) - first.mean(0)) / real.std(axis=(0, 1))).tolist(),
        "deviation": (last.std(0) / first.std(0)).tolist(),
        "largest": float(np.abs(far / np.abs(real).max(axis=(0, 1))).max()),
    }


class Cost(NamedTuple):
    """What drawing took once the program was compiled, on the clock and of the processor."""

    seconds: float
    processor_seconds: float


def timed(trained: Trained, steps: int, count: int) -> tuple[Simulated, Cost]:
    """Series, and what they took."""
    simulate(trained, 3 * trained.config.data.length, count=count)
    begin = time.perf_counter(), time.process_time()
    with progress_bar("simulating", "window") as show:
        found = simulate(trained, steps, count=count, progress=lambda n, of: show(n, of, ""))
    end = time.perf_counter(), time.process_time()
    return found, Cost(*(round(b - a, 1) for a, b in zip(begin, end, strict=True)))


def meetings(trained: Trained, count: int) -> dict[str, float]:
    """:func:`seams` of windows that meet at every hour of the day, so that no hour weighs more."""
    length = trained.config.data.length
    new = length // 2 - 1 if length // 2 % 2 == 0 else length // 2
    found = simulate(trained, 100 * new, count=count, overlap=length - new)
    return seams(found.values, new, length)


def measure(run: Path, count: int, steps: int, long: int, picture: Path) -> dict[str, Any]:
    """Everything that is measured of a run; draws one series above the real one."""
    trained = folder.load(run)
    train = parts.load_windows(trained.config).train
    rows = np.arange(int(train.starts.max()) + train.length)
    real = trained.recipe.deliver(train.series[None, rows])
    stamps = train.table.stamps(rows)
    if stamps is None or not isinstance(stamps, pd.DatetimeIndex):
        raise PacodiError(f"{run} was trained on a table without dates; hours are compared here.")
    one, alone = timed(trained, steps, 1)
    several, together = timed(trained, steps, count)
    shown = slice(0, 2)
    series_pictures.series(
        one.values[0, :, shown],
        trained.recipe.channels[shown],
        picture,
        stamps=one.stamps,
        real=real[0, :steps, shown],
        real_stamps=stamps[:steps],
    )
    found = {
        "run": run.name,
        "channels": list(trained.recipe.channels),
        "length": trained.config.data.length,
        "training_steps": trained.config.train.steps,
        "calendar": trained.config.data.calendar,
        "series": count,
        "steps": steps,
        "cost": {"1": alone._asdict(), str(count): together._asdict()},
        "seams": meetings(trained, count),
        **compare(trained, several, real, stamps),
    }
    if long:
        far, took = timed(trained, long, 1)
        found["long"] = {**took._asdict(), **drift(far.values[0], real, steps)}
    return found


def main() -> int:
    """Runs the benchmark; returns an exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--steps", type=int, default=8760)
    parser.add_argument("--long", type=int, default=100_000, help="steps of one series; 0 for none")
    parser.add_argument("--picture", type=Path, help="of a series above the real one")
    given = parser.parse_args()
    if given.series < 2 or given.steps < 2000 or 0 < given.long < 2 * given.steps:
        print(
            "error: at least 2 series of 2000 steps, and a long one of twice the steps, or 0",
            file=sys.stderr,
        )
        return 2
    try:
        picture = given.picture or given.run / "series.png"
        found = measure(given.run, given.series, given.steps, given.long, picture)
    except PacodiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    OUT.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    print(text, files.write_text(OUT / f"{given.run.name}.json", text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
