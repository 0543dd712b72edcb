"""Training in phases: several networks, each loss with an optimiser of its own, one state."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from pacodi_jax.config import setting
from pacodi_jax.models.state import stays_finite
from pacodi_jax.types import Array, Key

#: Networks or optimisers by name.
Named = dict[str, Any]


class PhasedState(NamedTuple):
    """Everything a checkpoint must hold to go on bit for bit.

    Attributes:
      step: updates attempted so far.
      skipped: how many steps were skipped because something was not finite.
      consecutive_skips: how many of them in a row, up to now.
      phase: of the last step; it never falls, even if a finished run is given more steps.
      params: of each network.
      ema: their exponential moving average, which sampling uses.
      optimisers: the state of each optimiser.
      key: the data of the key from which all randomness of training derives.
    """

    step: Array
    skipped: Array
    consecutive_skips: Array
    phase: Array
    params: Named
    ema: Named
    optimisers: Named
    key: Array


class Goal(NamedTuple):
    """What some networks learn while the others rest.

    Attributes:
      networks: those that move.
      optimiser: of these networks.
      loss: ``(params of all networks, *examples) -> scalar``.
    """

    networks: tuple[str, ...]
    optimiser: optax.GradientTransformationExtraArgs
    loss: Callable[..., Array]

    def pick(self, params: Named) -> Named:
        """The networks that move."""
        return {name: params[name] for name in self.networks}


def begin(key: Key, params: Named, goals: dict[str, Goal]) -> PhasedState:
    """Returns the state before the first step."""
    zero = jnp.zeros((), jnp.int32)
    optimisers = {name: goal.optimiser.init(goal.pick(params)) for name, goal in goals.items()}
    data = jax.random.key_data(key)
    return PhasedState(zero, zero, zero, zero, params, params, optimisers, data)


def pursue(
    state: PhasedState, name: str, goal: Goal, *examples: Any, above: float | None = None
) -> tuple[PhasedState, Array]:
    """One update of a goal's networks, and its loss before it.

    Args:
      state: of training.
      name: of the goal's optimiser.
      goal: what is learned.
      *examples: what the loss is given beside the networks.
      above: the networks and the optimiser stay as they are unless the loss exceeds this. The loss
        must then be the same on all devices.
    """
    moving = goal.pick(state.params)
    loss, gradients = jax.value_and_grad(lambda part: goal.loss(state.params | part, *examples))(
        moving
    )
    before = state.optimisers[name]
    updates, after = goal.optimiser.update(gradients, before, moving, value=loss)
    moved = optax.apply_updates(moving, updates)
    if above is not None:
        moved, after = _choose(loss > above, (moved, after), (moving, before))
    params, optimisers = state.params | moved, state.optimisers | {name: after}
    return state._replace(params=params, optimisers=optimisers), loss


def settle(before: PhasedState, after: PhasedState, phase: Array, ema: float) -> PhasedState:
    """Ends a step: it is taken back whole if it is not finite; the average follows.

    The average warms up as in :func:`~pacodi_jax.models.state.advance`.
    """
    decay = jnp.minimum(ema, (1 + before.step) / (10 + before.step))
    average = optax.incremental_update(after.params, before.ema, 1 - decay)
    after = after._replace(ema=average)
    fine = stays_finite(*((s.params, s.ema, s.optimisers) for s in (before, after)))
    kept = _choose(fine, after, before)
    return kept._replace(
        step=before.step + 1,
        skipped=before.skipped + ~fine,
        consecutive_skips=jnp.where(fine, 0, before.consecutive_skips + 1),
        phase=phase,
    )


def _choose(condition: Array, yes: Any, no: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def share_setting(default: float, text: str) -> Any:
    """A setting of how long a phase is."""
    rule = ("0, a share of the steps below 1, or a number of steps", lambda x: x >= 0)
    return setting(default, f"{text}: a share or a number of steps", accepted=rule)


def lengths(wanted: Sequence[float], steps: int) -> list[int]:
    """Steps of the phases before the last, and of the last, which has all that are left."""
    found = [round(n * steps) if n < 1 else round(n) for n in wanted]
    return [*found, max(steps - sum(found), 0)]


def phase_at(state: PhasedState, steps: Sequence[int]) -> Array:
    """The phase of this step by the :func:`lengths` of all phases."""
    ends = jnp.cumsum(jnp.asarray(steps[:-1], jnp.int32))
    return jnp.maximum(state.phase, jnp.sum(state.step >= ends, dtype=jnp.int32))
