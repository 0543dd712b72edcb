"""The panel: every score over several seeds, between a floor and a ceiling, on both splits."""

import os
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import choose
from pacodi_jax.metrics import draws, effort, memorisation, registry
from pacodi_jax.metrics.audit import audit
from pacodi_jax.metrics.cache import Cache, digest, key_of
from pacodi_jax.metrics.privacy import Attack
from pacodi_jax.metrics.registry import Budget, Metric
from pacodi_jax.metrics.representations import encoders
from pacodi_jax.metrics.results import Panel, Side, Sides
from pacodi_jax.metrics.score import Score, summarise
from pacodi_jax.metrics.threads import one_thread
from pacodi_jax.metrics.verdict import judge_score, sentences, settled

ROLES = ("floor", "ceiling", "score")
#: Trainings per ceiling.
CEILINGS = 2
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


def _metrics(
    windows: draws.Windows, budget: Budget, cache: Cache, only: Collection[str]
) -> tuple[Metric, ...]:
    """The metrics named in ``only``, or all of them."""
    encode = encoders(windows, budget, cache)
    metrics = registry.paper_metrics(budget, encode) + registry.further_metrics(budget)
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


def _seeds(metric: Metric, role: str, budget: Budget) -> tuple[int, ...]:
    """The seeds of a role: ceilings are far away, so two trainings are enough to place them."""
    few = role == "ceiling" and metric.trained
    return budget.seeds[:CEILINGS] if few else budget.seeds


def _measurements(comparisons: list[tuple[Metric, str]], budget: Budget) -> list[Measurement]:
    """What needs no training first, then seeds and roles outermost.

    Concurrent workers then run different programs, each compiled once. The ceiling of the
    held-out column is that of train.
    """
    ordered = sorted(comparisons, key=lambda pair: (pair[0].trained, pair[1] != "train"))
    return [
        Measurement(metric, split, role, seed)
        for trained in (False, True)
        for seed in budget.seeds
        for role in ROLES
        for metric, split in ordered
        if metric.trained == trained
        and seed in _seeds(metric, role, budget)
        and (role != "ceiling" or split == "train")
    ]


def _key(windows: draws.Windows, budget: Budget) -> str:
    """The key of floors and ceilings; of the synthetic windows they need nothing but the number."""
    held_out = None if windows.held_out is None else digest(windows.held_out)
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
    announce: Callable[[str], None] | None,
    first: Callable[[dict[str, float]], None],
) -> dict[str, float]:
    """Measures what is wanted, by label, and keeps each number as it comes.

    An evaluation that was stopped so goes on where it was. ``first`` is given the numbers that
    need no training, once they are there.
    """
    bounds = _key(windows, budget)
    own = key_of(bounds, digest(windows.synthetic), len(windows.synthetic))
    keys = {role: own if role == "score" else bounds for role in ROLES}
    kept = {key: cache.bounds(key) for key in (bounds, own)}
    found = {m.label: kept[keys[m.role]].get(m.label) for m in wanted}
    missing = [m for m in wanted if found[m.label] is None]
    untrained = sum(not m.metric.trained for m in missing)
    if announce is not None and missing:
        needed = effort.seconds(
            [(m.metric.name, m.seed) for m in missing], windows.real.shape, budget
        )
        announce(f"{len(missing)} numbers to measure: about {needed:.0f} s of processor time")
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as workers, one_thread():
        values = workers.map(lambda m: m.run(windows, budget.windows), missing)
        for done, (measurement, value) in enumerate(zip(missing, values, strict=True), start=1):
            key = keys[measurement.role]
            found[measurement.label] = kept[key][measurement.label] = value
            cache.keep_bounds(key, kept[key])
            if progress is not None:
                progress(done, len(missing), measurement.label)
            if done == untrained:
                first({label: value for label, value in found.items() if value is not None})
    return {label: value for label, value in found.items() if value is not None}


def _of_role(metric: Metric, split: str, role: str, budget: Budget) -> list[Measurement]:
    """The measurements of one floor, ceiling or score."""
    split = "train" if role == "ceiling" else split
    return [Measurement(metric, split, role, seed) for seed in _seeds(metric, role, budget)]


def _score(
    metric: Metric, split: str, windows: draws.Windows, budget: Budget, found: dict[str, float]
) -> Score:
    """One metric on one split, from the numbers found."""
    floor, ceiling, measured = (
        summarise(
            [found[m.label] for m in _of_role(metric, split, role, budget)],
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
    starts: np.ndarray | None = None,
    attacks: tuple[Attack, ...] = (),
    announce: Callable[[str], None] | None = None,
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
      starts: ``(N,)``, the row at which each real window begins; found out by default.
      attacks: on membership, made with the model at hand.
      announce: called with how long it will take, and with a first verdict once all scores that
        need no training are there.

    Raises:
      PacodiError: for windows that cannot be scored.
    """
    start = time.perf_counter()
    windows = draws.prepare(real, synthetic, held_out, names)
    cache = cache or Cache(None)
    comparisons = _comparisons(windows, _metrics(windows, budget, cache, only))
    wanted = _measurements(comparisons, budget)
    memorisation_, privacy = None, None
    if not only or memorisation.NAME in only:
        with one_thread():
            memorisation_, privacy = audit(real, synthetic, held_out, starts)
            privacy = replace(privacy, attacks=(*privacy.attacks, *attacks))

    def scores(found: dict[str, float], some: list[tuple[Metric, str]]) -> tuple[Score, ...]:
        made = tuple(_score(*pair, windows, budget, found) for pair in some)
        return tuple(settled(score, memorisation_, privacy) for score in made)

    def tell(found: dict[str, float]) -> None:
        if announce is not None:
            some = scores(found, [pair for pair in comparisons if not pair[0].trained])
            for line in sentences(some, memorisation_, privacy):
                announce(f"first look, before anything is trained: {line}")

    found = scores(_measure(windows, wanted, budget, cache, progress, announce, tell), comparisons)
    return Panel(
        protocol,
        found,
        registry.method(budget, windows.real[: budget.windows]),
        _sides(windows, names),
        sentences(found, memorisation_, privacy),
        memorisation_,
        privacy=privacy,
        seconds=round(time.perf_counter() - start, 1),
    )
