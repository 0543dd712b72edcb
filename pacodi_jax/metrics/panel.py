"""The panel: every score over several seeds, between a floor and a ceiling, on both splits."""

import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.errors import choose
from pacodi_jax.metrics import draws, memorisation, registry, ts2vec
from pacodi_jax.metrics.cache import Cache, digest, key_of
from pacodi_jax.metrics.registry import Budget, Metric
from pacodi_jax.metrics.results import Panel, Side, Sides
from pacodi_jax.metrics.score import Score, summarise
from pacodi_jax.metrics.verdict import judge_score, sentences

ROLES = ("floor", "ceiling", "score")
Progress = Callable[[int, int, str], None]


class Measurement(NamedTuple):
    """One number to measure: a metric on one comparison with one seed."""

    metric: Metric
    split: str
    role: str
    seed: int

    @property
    def label(self) -> str:
        """Its name in the cache and in the progress bar."""
        return f"{self.metric.name}/{self.split}/{self.role}/{self.seed}"

    def run(self, windows: draws.Windows, limit: int) -> float:
        """Measures it, on at most ``limit`` windows per side."""
        sides = memorisation.sides if self.metric.name == memorisation.NAME else draws.pair
        real, other = sides(windows, self.metric, self.split, self.role, self.seed, limit)
        return float(self.metric.score(real, other, self.seed))


def _encoders(windows: draws.Windows, budget: Budget, cache: Cache) -> Callable[[int], Any]:
    """Returns ``encoder(seed)``: trained once per data set and seed, shared by all comparisons."""
    identity = digest(windows.real)
    kept: dict[int, Any] = {}
    locks = {seed: threading.Lock() for seed in budget.seeds}

    def train(seed: int) -> Any:
        key = key_of("ts2vec_v1", identity, budget.windows, budget.encoder_steps, seed)
        like = ts2vec.init(np.random.default_rng(seed), *windows.real.shape[1:])
        stored = cache.encoder(key, like)
        if stored is None:
            order = np.random.default_rng((seed, 0)).permutation(len(windows.real))
            rows = windows.real[order[: budget.windows]]
            stored = ts2vec.train(seed, rows, budget.encoder_steps)
            cache.keep_encoder(key, stored)
        return stored

    def encoder(seed: int) -> Any:
        with locks[seed]:
            if seed not in kept:
                kept[seed] = train(seed)
        return kept[seed]

    return encoder


def _metrics(
    windows: draws.Windows, budget: Budget, cache: Cache, only: Collection[str]
) -> tuple[Metric, ...]:
    """The metrics named in ``only``, or all of them."""
    encoder = _encoders(windows, budget, cache)
    metrics = registry.paper_metrics(budget, encoder) + registry.further_metrics(budget)
    metrics += (memorisation.metric(windows),)
    for name in only:
        choose("score", name, dict.fromkeys(metric.name for metric in metrics))
    return tuple(metric for metric in metrics if not only or metric.name in only)


def _comparisons(windows: draws.Windows, metrics: Sequence[Metric]) -> list[tuple[Metric, str]]:
    """Every metric on every split; memorisation is about train alone."""
    splits = ["train"] if windows.held_out is None else ["train", "held_out"]
    return [
        (metric, split)
        for metric in metrics
        for split in splits
        if metric.name != memorisation.NAME or split == "train"
    ]


def _measurements(
    comparisons: list[tuple[Metric, str]], seeds: tuple[int, ...]
) -> list[Measurement]:
    """Seeds and roles outermost: concurrent workers run different programs, each compiled once."""
    by_split = sorted(comparisons, key=lambda pair: pair[1] != "train")
    return [
        Measurement(metric, split, role, seed)
        for seed in seeds
        for role in ROLES
        for metric, split in by_split
    ]


def _bounds_key(windows: draws.Windows, budget: Budget) -> str:
    held_out = None if windows.held_out is None else digest(windows.held_out)
    # Of the synthetic windows a bound depends on nothing but their number.
    size = min(budget.windows, len(windows.synthetic))
    trained_on = min(budget.windows, len(windows.real))  # by the encoder
    rest = budget._replace(seeds=(), windows=trained_on)
    return key_of(digest(windows.real), held_out, size, rest)


def _measure(
    windows: draws.Windows,
    wanted: list[Measurement],
    budget: Budget,
    cache: Cache,
    progress: Progress | None,
) -> dict[str, float]:
    """Measures what is wanted, by label; floors and ceilings come from the cache if it has them."""
    key = _bounds_key(windows, budget)
    known = cache.bounds(key)
    found = {m.label: known[m.label] for m in wanted if m.role != "score" and m.label in known}
    missing = [m for m in wanted if m.label not in found]
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as workers:
        values = workers.map(lambda m: m.run(windows, budget.windows), missing)
        for done, (measurement, value) in enumerate(zip(missing, values, strict=True), start=1):
            found[measurement.label] = value
            if progress is not None:
                progress(done, len(missing), measurement.label)
    bounds = {label: value for label, value in found.items() if "/score/" not in label}
    cache.keep_bounds(key, known | bounds)
    return found


def _score(
    metric: Metric, split: str, windows: draws.Windows, budget: Budget, found: dict[str, float]
) -> Score:
    """One metric on one split, from the numbers found."""
    floor, ceiling, measured = (
        summarise(
            [found[Measurement(metric, split, role, seed).label] for seed in budget.seeds],
            draws.count(windows, split, role, budget.windows, metric.halves),
        )
        for role in ROLES
    )
    judgement = judge_score(metric.better, measured, floor, ceiling)
    return Score(
        metric.name,
        split,
        metric.better,
        measured,
        floor,
        ceiling,
        title=metric.title,
        about=metric.about,
        group=metric.group,
        seeds=budget.seeds,
        **judgement._asdict(),
    )


def _side(windows: np.ndarray) -> Side:
    size, length, channels = windows.shape
    return Side(size, length, channels, digest(windows))


def _sides(windows: draws.Windows, names: Sequence[str] | None) -> Sides:
    """What was compared, for the record."""
    held_out = None if windows.held_out is None else _side(windows.held_out)
    channels = names or [f"channel {i}" for i in range(windows.real.shape[2])]
    return Sides(_side(windows.real), _side(windows.synthetic), held_out, tuple(channels))


def score_panel(
    real: np.ndarray,
    synthetic: np.ndarray,
    held_out: np.ndarray | None = None,
    *,
    budget: Budget = Budget(),  # noqa: B008
    cache: Cache | None = None,
    protocol: str = "judge",
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
    only: Collection[str] = (),
) -> Panel:
    """Scores synthetic windows against real ones and, if given, against held-out ones.

    Args:
      real: ``(N, L, C)``, what the generator was trained on; sets the scale.
      synthetic: ``(M, L, C)``, in the same units.
      held_out: ``(H, L, C)``, real windows it did not see.
      budget: seeds, windows per side and training steps.
      cache: where encoders, floors and ceilings are kept; nothing is kept by default.
      protocol: a label for the record, for example ``"oracle"``; it is shown with every score.
      names: of the channels.
      progress: called with (done, total, label) after each number.
      only: names of the scores to take; all of them by default.

    Raises:
      PacodiError: for windows that cannot be scored.
    """
    start = time.perf_counter()
    windows = draws.prepare(real, synthetic, held_out, names)
    cache = cache or Cache(None)
    comparisons = _comparisons(windows, _metrics(windows, budget, cache, only))
    wanted = _measurements(comparisons, budget.seeds)
    found = _measure(windows, wanted, budget, cache, progress)
    scores = tuple(_score(*pair, windows, budget, found) for pair in comparisons)
    return Panel(
        protocol,
        scores,
        registry.method(budget, windows.real[: budget.windows]),
        _sides(windows, names),
        sentences(scores, windows.held_out is not None),
        seconds=round(time.perf_counter() - start, 1),
    )
