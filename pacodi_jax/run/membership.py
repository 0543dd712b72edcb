"""Membership inference with the model at hand: it fits its training windows better."""

import numpy as np

from pacodi_jax.data import Dataset
from pacodi_jax.metrics.attack import auc
from pacodi_jax.metrics.audit import spread
from pacodi_jax.metrics.privacy import Attack
from pacodi_jax.models.spectral_drawing import SpectralSampler
from pacodi_jax.models.window_loss import window_losses
from pacodi_jax.run.trained import Trained

#: At most so many windows of each kind are attacked, evenly spread.
LIMIT = 1000


def loss_attack(trained: Trained, dataset: Dataset, *, seed: int) -> Attack | None:
    """Attacks by the model's loss relative to that of the best linear denoiser of train.

    The control is the linear denoiser's own loss: what drift alone gives away.

    Args:
      trained: the model.
      dataset: what it was trained on, and what it never saw.
      seed: of the noise.

    Returns:
      None for a family without such a loss.
    """
    model = trained.generator
    if not isinstance(model, SpectralSampler):
        return None
    train, held_out = dataset.train.once(), dataset.held_out
    rows = spread(len(train), LIMIT), spread(len(held_out), LIMIT)
    windows = train.take(rows[0]), held_out.take(rows[1])
    length = windows[0].shape[1]
    at = train.starts, held_out.starts
    blocks = at[0][rows[0]] // length, at[1][rows[1]] // length
    losses = [
        np.log(np.maximum(window_losses(model, trained.weights, part, seed=seed), 1e-12))
        for part in windows
    ]
    (mine, base), (theirs, other) = losses
    value, interval = auc(base - mine, other - theirs, blocks)
    _, (_, control) = auc(-base, -other, blocks)
    return Attack("loss", value, interval, control, None, len(rows[0]), len(rows[1]))
