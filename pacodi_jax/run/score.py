"""Scores of a trained model: what it gives its users, judged on train and held-out windows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pacodi_jax.data import Dataset
from pacodi_jax.metrics.cache import default_cache
from pacodi_jax.metrics.draws import LEAST
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.report.judgement import Verdict
from pacodi_jax.run.membership import loss_attack
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Evaluation


def score_facts(trained: Trained, wanted: Evaluation, seed: int, **how: Any) -> dict[str, Any]:
    """What decides the scores of a run, as ``scores.json`` tells it."""
    return {
        "model": trained.facts,
        "sampler": trained.config.sample.replace(**how).to_dict(),
        "draw": {"windows_a_seed": wanted.windows, "seeds": wanted.seeds, "seed": seed},
    }


def score(
    trained: Trained,
    dataset: Dataset,
    wanted: Evaluation,
    *,
    seed: int,
    held_out: np.ndarray | None = None,
    budget: Budget | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    announce: Callable[[str], None] | None = None,
    **how: Any,
) -> Verdict:
    """Draws windows as a user would get them and judges them on train and on held-out windows.

    Every seed of the scores has windows of its own, so that intervals include sampling error.
    Windows are scored as they are delivered: in the user's units, rounded as the user's columns.

    Args:
      trained: the model.
      dataset: what it was trained on, and what it never saw.
      wanted: windows per side, and seeds.
      seed: of the draw.
      held_out: ``(N, L, C)`` unseen windows in the user's units, instead of the data set's own.
      budget: training steps of the scores; the full budget by default.
      progress: called with (done, total, label) after each number.
      announce: called with how long it will take, and with a first verdict.
      **how: settings of the ``sample`` section that differ from the run's.
    """
    recipe, live = dataset.recipe, trained.recipe.scaler.live
    train = dataset.train.once()
    count = wanted.seeds * min(wanted.windows, len(train))
    # A constant channel is put back by the recipe, not made by the model: nothing to score.
    synthetic = trained.draw(count, seed=seed, **how).values[..., live]
    real = recipe.deliver(train.values())[..., live]
    given = held_out is not None
    if held_out is None and len(dataset.held_out):
        held_out = recipe.deliver(dataset.held_out.values())
    notes: tuple[str, ...] = ()
    if held_out is None or len(held_out) < LEAST:
        found = 0 if held_out is None else len(held_out)
        notes, held_out = (f"{found} held-out windows; scored on train alone",), None
    unseen = None if held_out is None else held_out[..., live]
    budget = budget or Budget()
    attack = None if given or held_out is None else loss_attack(trained, dataset, seed=seed)
    panel = score_panel(
        real,
        synthetic,
        unseen,
        budget=budget._replace(seeds=tuple(range(wanted.seeds)), windows=wanted.windows),
        cache=default_cache(),
        protocol=trained.label or "honest",
        names=list(recipe.live_channels),
        progress=progress,
        starts=train.starts,
        attacks=() if attack is None else (attack,),
        announce=announce,
    )
    panel = replace(panel, facts=score_facts(trained, wanted, seed, **how))
    return Verdict(panel, notes, f"{recipe.source} by {trained.facts['model']}", real, synthetic)
