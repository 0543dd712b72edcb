"""The panel: every score over several seeds, between a floor and a ceiling, on both splits."""

import os
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from pacodi_jax.errors import choose
from pacodi_jax.metrics import draws, memorisation, registry, ts2vec
from pacodi_jax.metrics.cache import Cache, fingerprint, key_of
from pacodi_jax.metrics.registry import Budget, Metric
from pacodi_jax.metrics.verdict import judge_score, verdict

SCHEMA = 1
ROLES = ("floor", "ceiling", "score")
Progress = Callable[[int, int, str], None]


class Job(NamedTuple):
    """One number to measure."""

    metric: Metric
    split: str
    role: str
    seed: int

    @property
    def label(self) -> str:
        """The job's name in the cache and in the progress bar."""
        return f"{self.metric.name}/{self.split}/{self.role}/{self.seed}"


def summarise(values: list[float]) -> dict[str, Any]:
    """Mean over seeds, the values, and the mean's 95 % interval by Student's t."""
    mean = float(np.mean(values))
    half = 0.0
    if len(values) > 1:
        error = float(np.std(values, ddof=1)) / np.sqrt(len(values))
        half = float(scipy.stats.t.ppf(0.975, len(values) - 1) * error)
    return {"value": mean, "values": values, "interval": [mean - half, mean + half]}


def _encoders(windows: draws.Windows, budget: Budget, cache: Cache) -> Callable[[int], Any]:
    """Returns ``encoder(seed)``: trained once a data set and seed, shared by all comparisons."""
    identity = fingerprint(windows.real)
    kept: dict[int, Any] = {}
    locks = {seed: threading.Lock() for seed in budget.seeds}

    def encoder(seed: int) -> Any:
        with locks[seed]:
            if seed not in kept:
                key = key_of("ts2vec_v1", identity, budget.windows, budget.encoder_steps, seed)
                like = ts2vec.init(np.random.default_rng(seed), *windows.real.shape[1:])
                stored = cache.encoder(key, like)
                if stored is None:
                    order = np.random.default_rng((seed, 0)).permutation(len(windows.real))
                    rows = windows.real[order[: budget.windows]]
                    stored = ts2vec.train(seed, rows, budget.encoder_steps)
                    cache.keep_encoder(key, stored)
                kept[seed] = stored
        return kept[seed]

    return encoder


def _jobs(metrics: tuple[Metric, ...], splits: list[str], seeds: tuple[int, ...]) -> list[Job]:
    """Seeds outermost, so that workers meet different programs and compile each once."""
    return [
        Job(metric, split, role, seed)
        for seed in seeds
        for role in ROLES
        for split in splits
        for metric in metrics
    ]


def _bounds_key(windows: draws.Windows, budget: Budget) -> str:
    held_out = None if windows.held_out is None else fingerprint(windows.held_out)
    # Of the synthetic windows a bound depends on nothing but their number.
    size = min(budget.windows, len(windows.synthetic))
    trained_on = min(budget.windows, len(windows.real))  # by the encoder
    rest = budget._replace(seeds=(), windows=trained_on)
    return key_of(fingerprint(windows.real), held_out, size, rest)


def _measure(
    windows: draws.Windows,
    budget: Budget,
    cache: Cache,
    progress: Progress | None,
    only: Collection[str],
) -> tuple[tuple[Metric, ...], dict[str, float]]:
    """Measures all jobs, floors and ceilings from the cache where it has them."""
    encoder = _encoders(windows, budget, cache)
    metrics = registry.paper_metrics(budget, encoder) + registry.further_metrics(budget)
    metrics += (memorisation.metric(windows),)
    for name in only:
        choose("score", name, dict.fromkeys(metric.name for metric in metrics))
    metrics = tuple(metric for metric in metrics if not only or metric.name in only)
    splits = ["train"] if windows.held_out is None else ["train", "held_out"]
    key = _bounds_key(windows, budget)
    known = cache.bounds(key)
    jobs = [
        job
        for job in _jobs(metrics, splits, budget.seeds)
        if job.metric.name != memorisation.NAME or job.split == "train"
    ]
    todo = [job for job in jobs if job.role == "score" or job.label not in known]
    found = {
        job.label: known[job.label] for job in jobs if job.role != "score" and job.label in known
    }

    def run(job: Job) -> tuple[Job, float]:
        sides = memorisation.sides if job.metric.name == memorisation.NAME else draws.pair
        real, synthetic = sides(windows, job.metric, job.split, job.role, job.seed, budget.windows)
        return job, float(job.metric.score(real, synthetic, job.seed))

    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as workers:
        for done, (job, value) in enumerate(workers.map(run, todo), start=1):
            found[job.label] = value
            if progress is not None:
                progress(done, len(todo), job.label)
    bounds = {label: value for label, value in found.items() if "/score/" not in label}
    cache.keep_bounds(key, known | bounds)
    return metrics, found


def _entry(
    metric: Metric, split: str, windows: draws.Windows, budget: Budget, found: dict[str, float]
) -> dict[str, Any]:
    """The record of one score on one split."""
    parts = {}
    for role in ROLES:
        values = [found[Job(metric, split, role, seed).label] for seed in budget.seeds]
        size = draws.count(windows, split, role, budget.windows, metric.halves)
        parts[role] = {**summarise(values), "windows": size}
    entry = {
        "name": metric.name,
        "title": metric.title,
        "about": metric.about,
        "group": metric.group,
        "better": metric.better,
        "split": split,
        **parts["score"],
        "seeds": list(budget.seeds),
        "floor": parts["floor"],
        "ceiling": parts["ceiling"],
    }
    return entry | judge_score(entry)


def describe(windows: np.ndarray | None) -> dict[str, Any] | None:
    """Shape and fingerprint of a set of windows ``(N, L, C)``, for the record."""
    if windows is None:
        return None
    size, length, channels = windows.shape
    return {
        "windows": size,
        "length": length,
        "channels": channels,
        "fingerprint": fingerprint(windows),
    }


def score_panel(
    real: np.ndarray,
    synthetic: np.ndarray,
    held_out: np.ndarray | None = None,
    *,
    budget: Budget = Budget(),  # noqa: B008
    cache: Cache | None = None,
    protocol: str = "judge",
    names: list[str] | None = None,
    progress: Progress | None = None,
    only: Collection[str] = (),
) -> dict[str, Any]:
    """Scores synthetic windows against real ones and, if given, against held-out ones.

    Args:
      real: ``(N, L, C)``, what the generator was trained on; sets the scale.
      synthetic: ``(M, L, C)``, in the same units.
      held_out: ``(H, L, C)``, real windows it did not see.
      budget: seeds, windows a side and training steps.
      cache: where encoders, floors and ceilings are kept; nothing is kept by default.
      protocol: a label for the record, for example ``"oracle"``; it is shown with every score.
      names: of the channels.
      progress: called with (done, in all, label) after each number.
      only: names of the scores to take; all of them by default.

    Returns:
      What ``scores.json`` holds; see docs/judge.md.

    Raises:
      PacodiError: for windows that cannot be scored.
    """
    start = time.perf_counter()
    windows = draws.prepare(real, synthetic, held_out, names)
    metrics, found = _measure(windows, budget, cache or Cache(None), progress, only)
    splits = ["train"] if held_out is None else ["train", "held_out"]
    scores = [
        _entry(metric, split, windows, budget, found)
        for metric in metrics
        for split in splits
        if Job(metric, split, "score", budget.seeds[0]).label in found
    ]
    return {
        "schema": SCHEMA,
        "protocol": protocol,
        "verdict": verdict(scores, windows.held_out is not None),
        "data": {
            "real": describe(windows.real),
            "synthetic": describe(windows.synthetic),
            "held_out": describe(windows.held_out),
            "channels": names or [f"channel {i}" for i in range(windows.real.shape[2])],
        },
        "settings": registry.settings(budget, windows.real[: budget.windows]),
        "scores": scores,
        "seconds": round(time.perf_counter() - start, 1),
    }
