"""Sampling for generators that make one window of one key: blocks, programs and export."""

import abc
import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.edges import check_draw
from pacodi_jax.models.protocol import Arrays, Drawing
from pacodi_jax.types import Array, Key


class PerWindow(abc.ABC):
    """Half of a :class:`~pacodi_jax.models.protocol.Generator`: a subclass draws one window.

    Attributes:
      sampling: how samples are drawn unless asked otherwise.
    """

    sampling: Any

    @abc.abstractmethod
    def draw_one(self, sampling: Any, weights: Arrays, key: Key, condition: Array | None) -> Array:
        """Draws one window ``(L, C)`` under one condition ``(E,)`` or none; it is jitted.

        Args:
          sampling: the ``sample`` section of this draw.
          weights: as :meth:`~pacodi_jax.models.protocol.Generator.weights` gave them.
          key: of this window.
          condition: of this window.
        """

    def finish(
        self,
        key: Key,
        weights: Arrays,
        windows: np.ndarray,
        draws: int,
        condition: np.ndarray | None = None,
    ) -> Arrays:
        """Refuses calibration; a family that has one says how."""
        raise PacodiError("this family has nothing to calibrate; set train.calibration=0.")

    @functools.cached_property
    def _programs(self) -> dict[Drawing, Callable[..., Array]]:
        return {}

    def _program(self, how: dict[str, Any]) -> Callable[..., Array]:
        """Draws a block of windows: one compiled program per way to sample."""
        way = self.sampling.replace(**how).replace(count=1, batch=1)
        if way not in self._programs:
            self._programs[way] = jax.jit(
                jax.vmap(partial(self.draw_one, way), in_axes=(None, 0, 0))
            )
        return self._programs[way]

    def sample(
        self,
        key: Key,
        weights: Arrays,
        count: int,
        condition: Array | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> np.ndarray:
        """Draws windows; see :class:`~pacodi_jax.models.protocol.Generator`."""
        check_draw(key, count, condition)
        program = self._program(how)

        def block(rows: Array) -> Array:
            given = None if condition is None else jnp.asarray(condition)[rows]
            return program(weights, keys_of(key, rows), given)

        return parallel.in_blocks(block, count, self.sampling.replace(**how).batch, progress)

    def traceable(
        self, weights: Arrays, count: int, condition: Array | None = None, **how: Any
    ) -> Callable[[Key], Array]:
        """The sampler of ``count`` windows as one pure function of the key."""
        check_draw(jax.random.key(0), count, condition)
        program = self._program(how)
        return lambda key: program(weights, keys_of(key, jnp.arange(count)), condition)


def keys_of(key: Key, rows: Array) -> Array:
    """One key per row; that of row i depends on (key, i) alone, or is the i-th of many keys."""
    if key.ndim:
        return key[rows]
    return jax.vmap(partial(jax.random.fold_in, key))(rows)
