"""Scores of a trained model: what it gives its users, judged on train and held-out windows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pacodi_jax.data import Dataset
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.metrics.cache import default_cache
from pacodi_jax.metrics.draws import LEAST
from pacodi_jax.metrics.generalisation import generalisation, stretches
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
    facts = score_facts(trained, wanted, seed, **how)  # refuses what no sampler takes
    recipe, live = dataset.recipe, trained.recipe.scaler.live
    train = dataset.train.once()
    count = wanted.seeds * min(wanted.windows, len(train))
    # A constant channel is put back by the recipe, not made by the model: nothing to score.
    synthetic = trained.draw(count, seed=seed, **how).values[..., live]
    real = recipe.deliver(train.values())[..., live]
    own = held_out is None
    if own and len(dataset.held_out):
        held_out = recipe.deliver(dataset.held_out.values())
    notes: tuple[str, ...] = ()
    if held_out is None or len(held_out) < LEAST:
        found = 0 if held_out is None else len(held_out)
        notes, held_out = (f"{found} held-out windows; scored on train alone",), None
    unseen = None if held_out is None else held_out[..., live]
    budget = budget or Budget()
    attack = None if not own or held_out is None else loss_attack(trained, dataset, seed=seed)
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
    panel = replace(panel, facts=facts)
    if own and unseen is not None and recipe.split == "blocks":
        record, said = _generalisation(
            real, synthetic, unseen, dataset.held_out, budget._replace(windows=wanted.windows), seed
        )
        panel, notes = replace(panel, facts={**panel.facts, **record}), (*notes, said)
    return Verdict(panel, notes, f"{recipe.source} by {trained.facts['model']}", real, synthetic)


def _generalisation(
    train: np.ndarray,
    synthetic: np.ndarray,
    unseen: np.ndarray,
    windows: WindowSet,
    budget: Budget,
    seed: int,
) -> tuple[dict[str, Any], str]:
    """How synthetic windows stand for unseen blocks beside train: for the record, and in words."""
    blocks = stretches(windows.starts, windows.length)
    if len(np.unique(blocks)) < 2:
        return {}, (
            "generalisation needs 2 held-out blocks or more, here is 1: take a smaller data.block"
        )
    found = generalisation(
        train,
        synthetic,
        unseen,
        blocks,
        seed=seed,
        limit=budget.windows,
        encoder_steps=budget.encoder_steps,
    )
    words = "; ".join(one.label for one in found)
    record = [{**one._asdict(), "interval": list(one.interval)} for one in found]
    return {"generalisation": record}, (
        "generalisation, the distance to unseen windows over that of train (at most 1: as good as "
        f"real data): {words}"
    )
