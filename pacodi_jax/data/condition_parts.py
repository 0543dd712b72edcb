"""One condition vector from its parts: a text, static columns, and the phases of a first stamp.

A text or static columns alone are left out by the null condition of the whole vector. Together,
each of them can be left out alone: a 1 stands before each, and all of it is 0 where it is left out.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.types import Array


def join(
    text: np.ndarray | None,
    static: np.ndarray | None,
    phases: np.ndarray | None = None,
    *,
    has_text: np.ndarray | None = None,
) -> np.ndarray | None:
    """Conditions ``(N, E)`` of a text, static columns and a calendar, in that order.

    Args:
      text: ``(N, E₁)``, or None for a model without texts.
      static: ``(N, E₂)``, or None for a model without static columns.
      phases: ``(N, E₃)``, or None for a model without a calendar.
      has_text: ``(N,)`` bool, which windows are asked by a text; all of them by default.
    """
    if text is not None and static is not None:
        text, static = _led(text, has_text), _led(static)
    told = [part for part in (text, static, phases) if part is not None]
    return np.concatenate(told, axis=1).astype(np.float32) if told else None


def _led(part: np.ndarray, given: np.ndarray | None = None) -> np.ndarray:
    """A part with a 1 before it; zeros where it is not given."""
    rows = np.concatenate([np.ones((len(part), 1), np.float32), part], axis=1)
    return rows if given is None else np.where(given[:, None], rows, np.float32(0))


def places(text: int, static: int, phases: int = 0) -> np.ndarray:
    """Which numbers belong to the text and which to the static columns: ``(2, E)`` bool.

    Args:
      text: how many numbers a text has.
      static: how many the static columns have.
      phases: how many the calendar has.
    """
    owner = np.repeat([0, 1, 2], [1 + text, 1 + static, phases])
    return owner == np.arange(2)[:, None]


class PartDropout(NamedTuple):
    """How parts of conditions are left out while training.

    Attributes:
      places: from :func:`places`.
      share: of the examples, for each part by itself.
      seed: of the draws, which depend on (seed, step, slot) alone.
    """

    places: Array
    share: Array
    seed: Array

    def apply(self, condition: Array, step: Array | int, slots: Array, keep: Array | None) -> Array:
        """Conditions ``(B, E)`` with parts left out, except of the examples in ``keep``."""
        key = jax.random.fold_in(jax.random.key(self.seed), _STREAM)
        key = jax.random.fold_in(key, step)
        keys = jax.vmap(lambda slot: jax.random.fold_in(key, slot))(slots)
        draw = jax.vmap(lambda key: jax.random.bernoulli(key, self.share, (len(self.places),)))
        drop = draw(keys)
        if keep is not None:
            drop &= ~keep[:, None]
        return jnp.where((drop[:, :, None] & self.places).any(axis=1), 0.0, condition)


_STREAM = 0x9A27  # folded into the run's seed
