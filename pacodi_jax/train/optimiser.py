"""How weights move: AdamW behind warm-up, decay, clipping and accumulation."""

from typing import Any

import jax
import optax

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError, choose

DECAYS = ("cosine", "plateau", "constant")


def learning_rate_schedule(
    peak: float, steps: int, *, warmup: int, decay: str, floor: float
) -> optax.Schedule:
    """Returns the learning rate as a function of the update.

    A line from 0 to ``peak`` over ``warmup`` updates, then half a cosine down to ``floor · peak``
    at ``steps`` (``decay='cosine'``), or ``peak`` (``'constant'``, and ``'plateau'``, which
    :func:`build` lowers by the loss).
    """
    choose("train.decay", decay, dict.fromkeys(DECAYS))
    if not 0 <= warmup < steps:
        raise PacodiError(f"train.warmup={warmup} must lie in 0 … {steps - 1}, the updates taken.")
    if decay == "cosine":
        after = optax.cosine_decay_schedule(peak, steps - warmup, alpha=floor)
    else:
        after = optax.constant_schedule(peak)
    if not warmup:
        return after
    return optax.join_schedules([optax.linear_schedule(0.0, peak, warmup), after], [warmup])


def _is_kernel(params: Any) -> Any:
    """Weight decay is for matrices; biases, gains and embeddings of time are left alone."""
    return jax.tree_util.tree_map_with_path(
        lambda path, _: jax.tree_util.keystr(path[-1:], simple=True) == "kernel", params
    )


def build(
    *,
    learning_rate: float,
    steps: int,
    warmup: int = 0,
    decay: str = "cosine",
    floor: float = 0.01,
    patience: int = 1000,
    factor: float = 0.5,
    threshold: float = 1e-4,
    beta2: float = 0.999,
    weight_decay: float = 0.0,
    clip: float = 1.0,
    accumulate: int = 1,
) -> optax.GradientTransformationExtraArgs:
    """Returns the optimiser: average over devices, accumulate, clip, AdamW, decay.

    Args:
      learning_rate: the peak.
      steps: training steps; with accumulation there are ``steps // accumulate`` updates.
      warmup: updates of linear warm-up.
      decay: ``'cosine'``, ``'plateau'`` (multiply by ``factor`` when the loss has not fallen by
        the fraction ``threshold`` for ``patience`` updates) or ``'constant'``.
      floor: the smallest fraction of the peak that decay leaves.
      patience: see ``decay``.
      factor: see ``decay``.
      threshold: see ``decay``.
      beta2: AdamW's second decay rate; the first is 0.9.
      weight_decay: decoupled weight decay of matrices.
      clip: the largest global norm of a gradient; 0 turns clipping off.
      accumulate: gradients averaged to one update.

    Returns:
      A transformation whose update wants ``value``, the loss of the step.
    """
    updates = max(steps // accumulate, 1)
    rate = learning_rate_schedule(learning_rate, updates, warmup=warmup, decay=decay, floor=floor)
    moments = [optax.clip_by_global_norm(clip)] if clip else []
    moments.append(optax.scale_by_adam(b2=beta2))
    # One vector instead of a tree of arrays: far fewer kernels to compile and to start.
    parts: list[Any] = [optax.flatten(optax.chain(*moments))]
    if weight_decay:
        parts.append(optax.add_decayed_weights(weight_decay, mask=_is_kernel))
    parts.append(optax.scale_by_learning_rate(rate))
    if decay == "plateau":
        parts.append(
            optax.contrib.reduce_on_plateau(
                factor=factor, patience=patience, rtol=threshold, min_scale=floor
            )
        )
    chain: Any = optax.chain(*parts)
    if accumulate > 1:
        chain = optax.MultiSteps(chain, accumulate).gradient_transformation()
    return parallel.average_gradients(chain)
