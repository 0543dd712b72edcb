"""How weights move: AdamW behind warm-up, decay, clipping and accumulation."""

from typing import Any

import jax
import optax

from pacodi_jax import parallel
from pacodi_jax.settings import TrainSettings


def learning_rate_schedule(settings: TrainSettings) -> optax.Schedule:
    """Returns the learning rate as a function of the update.

    A line from 0 to the peak over the warm-up, then half a cosine down to ``final_rate`` of the
    peak at the last update (``decay='cosine'``), or the peak (``'constant'``, and ``'plateau'``,
    which :func:`build` lowers by the loss).
    """
    peak, warmup = settings.learning_rate, settings.warmup_updates
    if settings.decay == "cosine":
        left = settings.updates - warmup
        after = optax.cosine_decay_schedule(peak, left, alpha=settings.final_rate)
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


def build(settings: TrainSettings) -> optax.GradientTransformationExtraArgs:
    """Returns the optimiser: average over devices, accumulate, clip, AdamW, decay.

    Its update wants ``value``, the loss of the step. Under ``decay='plateau'`` the rate is
    multiplied by ``plateau_factor`` when the loss has not fallen by the fraction
    ``plateau_threshold`` for ``plateau_patience`` updates.
    """
    moments = [
        optax.clip_by_global_norm(settings.clip),
        optax.scale_by_adam(b2=settings.beta2),
    ]
    # One vector instead of a tree of arrays: far fewer kernels to compile and to start.
    parts: list[Any] = [optax.flatten(optax.chain(*moments))]
    if settings.weight_decay:
        parts.append(optax.add_decayed_weights(settings.weight_decay, mask=_is_kernel))
    parts.append(optax.scale_by_learning_rate(learning_rate_schedule(settings)))
    if settings.decay == "plateau":
        parts.append(
            optax.contrib.reduce_on_plateau(
                factor=settings.plateau_factor,
                patience=settings.plateau_patience,
                rtol=settings.plateau_threshold,
                min_scale=settings.final_rate,
            )
        )
    chain: Any = optax.chain(*parts)
    if settings.accumulate > 1:
        chain = _accumulated(chain, settings.accumulate)
    return parallel.average_gradients(chain)


def _accumulated(
    chain: optax.GradientTransformation, steps: int
) -> optax.GradientTransformationExtraArgs:
    """One update per ``steps`` gradients. ``MultiSteps`` itself would drop the loss on the way."""
    many = optax.MultiSteps(chain, steps)
    return optax.GradientTransformationExtraArgs(many.init, many.update)
