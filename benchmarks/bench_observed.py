"""Fills gaps and forecasts with a trained run, beside what needs no network.

    python benchmarks/bench_observed.py RUN [RUN …] [--windows 200] [--draws 32] [--steps 20]

Windows are those of the later half of train and the held-out ones, spread evenly. Cells are hidden
by each of five kinds of masks, and scored where they are hidden, in the model's scale (standardised
by train): CRPS, absolute error of the median, coverage of the central 80 %. Intervals of 95 % come
from a bootstrap of twenty stretches of time per part, since windows overlap. Written piece by
piece to ``docs/results/observed/NAME.json`` (what is there is not measured again); the tables of
``docs/experiments/observed.md`` are made of them by ``benchmarks/results_observed.py``.

- network: the model's windows given what is observed, and their calendar if it has one;
- gaussian: the Gaussian conditional of the covariance of training windows; as many draws;
- gaussian, exact: the same law in closed form; its CRPS lacks the 1/n that few draws add;
- gaussian, calendar: the conditional given the calendar as well, for a model that knows it;
- replacement: observed cells of the noisy state are replaced, with the same solver and steps;
- Diffusion-TS: for a run of that family, its authors' guided scheme (give --steps 200, theirs);
- interpolation: linear in time; seasonal: the last day again, for the last half.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import exam
import jax
import jax.numpy as jnp
import numpy as np
import observed_baselines as baselines
import observed_methods as methods
import observed_scores as scores
import pandas as pd
from observed_methods import Budget, Part, Subject
from observed_scores import KINDS, Scores

from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts.generator import DiffusionTS
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run import folder, parts

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "observed"
REFERENCE = "gaussian"


def spread(windows: WindowSet, name: str, first: int, count: int) -> Part:
    """``count`` windows from the number ``first`` on, evenly spread."""
    there = len(windows) - first
    if there < count:
        raise PacodiError(f"{name} has {there} windows; give --windows={there} or fewer.")
    chosen = windows.pick(first + np.arange(count) * there // count)
    return Part(chosen.values(), chosen.condition())


def season_of(windows: WindowSet) -> int | None:
    """Steps per day, if a day is a whole number of steps and fits into half a window."""
    clock = windows.table.clock
    if clock is None or clock.numeric:
        return None
    steps = pd.Timedelta(days=1) / clock.step
    return int(steps) if steps == int(steps) and 2 <= steps <= windows.length // 2 else None


def prepare(run: Path, budget: Budget) -> tuple[Subject, dict[str, Any]]:
    """The model of a run, the windows to ask about, and the model's facts."""
    trained = folder.load(run)
    if not isinstance(trained.generator, DiffusionTS):
        trained.require_observed()
    data = parts.load_data(trained.config)
    train, held_out = data.train.once(), data.held_out.once()
    asked = {
        "train": spread(train, "the later half of train", len(train) // 2, budget.windows),
        "held-out": spread(held_out, "held-out", 0, budget.windows),
    }
    whole = Part(train.values(), train.condition())
    weights = jax.tree.map(jnp.asarray, trained.weights)
    subject = Subject(trained.generator, weights, whole, asked, season_of(train))
    return subject, trained.facts


def without_network(
    subject: Subject, part: Part, kind: str, hidden: np.ndarray, seen: np.ndarray, draws: int
) -> dict[str, Scores]:
    """Scores of the Gaussian laws, of interpolation and of the season."""
    laws = methods.gaussian(subject, part, hidden, draws, calendar=False)
    found = dict(zip(("gaussian", "gaussian, exact"), laws, strict=True))
    if part.condition is not None:
        law = methods.gaussian(subject, part, hidden, draws, calendar=True)
        found["gaussian, calendar"] = law[0]
    mean = subject.train.windows.mean(axis=(0, 1))
    filled = baselines.interpolate(part.windows, seen, mean)
    found["interpolation"] = methods.of_windows(part, hidden, filled[None])
    if kind == "last half" and subject.season is not None:
        again = baselines.seasonal(part.windows, part.windows.shape[1] // 2, subject.season)
        found["seasonal"] = methods.of_windows(part, hidden, again[None])
    return found


def measure(
    subject: Subject, part: Part, kind: str, budget: Budget, drawn: str
) -> tuple[dict[str, Any], float]:
    """Scores of one way to draw windows and of all that needs no network.

    Returns:
      The scores, and the seconds of processor time that drawing took, compiling included.
    """
    count, length, channels = part.windows.shape
    hidden = scores.masks(kind, length, channels)
    seen = ~hidden[np.arange(count) % len(hidden)]
    begun = time.process_time()
    with progress_bar(f"{drawn}, {kind}", "draw") as bar:
        made = methods.DRAWN[drawn](subject, part, seen, budget, lambda *done: bar(*done, ""))
    seconds = time.process_time() - begun
    found = {drawn: methods.of_windows(part, hidden, made)}
    found |= without_network(subject, part, kind, hidden, seen, budget.draws)
    return scores.table(found, REFERENCE), seconds


def record(
    path: Path,
    subject: Subject,
    facts: dict[str, Any],
    budget: Budget,
    kinds: Sequence[str] = KINDS,
    ways: Sequence[str] = tuple(methods.DRAWN),
) -> dict[str, Any]:
    """Measures what a file does not hold yet, and writes it piece by piece."""
    start = {"model": facts, **budget._asdict(), "season": subject.season, "cells": {}}
    found = json.loads(path.read_text()) if path.exists() else start
    for fact in ("model", *Budget._fields):
        if found[fact] != start[fact]:
            raise PacodiError(f"{path} was measured with another {fact}; move it away first.")
    able = [way for way in methods.drawn(subject) if way in ways]
    work = list(product(able, kinds, subject.parts))
    for number, (drawn, kind, name) in enumerate(work, 1):
        cell = found["cells"].setdefault(f"{name}/{kind}", {"methods": {}, "seconds": {}})
        if drawn in cell["methods"]:
            continue
        told, seconds = measure(subject, subject.parts[name], kind, budget, drawn)
        cell["methods"] |= told
        cell["seconds"][drawn] = seconds
        exam.write(path, found)
        line = ", ".join(f"{key} {own['crps'][0]:.3f}" for key, own in told.items())
        print(f"{number} of {len(work)}, {name}/{kind}: CRPS {line}", flush=True)
    return found


def main(arguments: list[str]) -> None:
    """Measures the runs that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--windows", type=int, default=200, help="per part (200)")
    parser.add_argument("--draws", type=int, default=32, help="per window (32)")
    parser.add_argument("--steps", type=int, default=20, help="of the solver (20)")
    parser.add_argument("--masks", nargs="+", choices=KINDS, default=KINDS, help="all by default")
    known = tuple(methods.DRAWN)
    parser.add_argument(
        "--methods", nargs="+", choices=known, default=known, help="all that the model has"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of results")
    asked = parser.parse_args(arguments)
    budget = Budget(asked.windows, asked.draws, asked.steps)
    budget.check()
    for run in asked.runs:
        subject, facts = prepare(run, budget)
        asked.out.mkdir(parents=True, exist_ok=True)
        path = asked.out / f"{run.resolve().name}.json"
        record(path, subject, facts, budget, asked.masks, asked.methods)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PacodiError as error:
        sys.exit(f"error: {error}")
