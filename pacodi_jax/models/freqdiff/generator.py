"""FreqDiff as a generator: whitened coefficients, score matching, Euler–Maruyama."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.models.freqdiff import process
from pacodi_jax.models.freqdiff.network import Network
from pacodi_jax.models.freqdiff.settings import FreqDiffSettings, Sampling
from pacodi_jax.models.one_network import OneNetwork
from pacodi_jax.models.protocol import Arrays, Facts
from pacodi_jax.models.state import Batch
from pacodi_jax.types import Array, Key

_TIME_SCALE = 30.0


def prepare(
    settings: FreqDiffSettings, windows: np.ndarray, condition: np.ndarray | None
) -> Arrays:
    """Mean and deviation of every coefficient of train, and the frequencies of the time code."""
    slots = np.asarray(jax.jit(jax.vmap(process.to_slots))(windows))
    deviation = slots.std(0)
    frequencies = np.random.default_rng(0).normal(size=(settings.model.width + 1) // 2)
    return {
        "mean": slots.mean(0),
        "deviation": np.where(deviation > 0, deviation, 1).astype(np.float32),
        "frequencies": (_TIME_SCALE * frequencies).astype(np.float32),
    }


class FreqDiff(OneNetwork):
    """Learns the score of whitened coefficients of the half spectrum."""

    def make_network(self) -> Network:
        """The network; see :class:`~pacodi_jax.models.one_network.OneNetwork`."""
        model = self.settings.model
        return Network(
            self.shape.channels, model.width, model.depth, model.heads, model.hidden, model.dropout
        )

    def whitened(self, window: Array) -> Array:
        """The coefficients ``(L, C)`` of a window, each of mean 0 and deviation 1 over train."""
        return (process.to_slots(window) - self.arrays["mean"]) / self.arrays["deviation"]

    def window(self, slots: Array) -> Array:
        """The way back from :meth:`whitened`."""
        return process.from_slots(slots * self.arrays["deviation"] + self.arrays["mean"])

    def first_params(self, key: Key) -> Any:
        """The network's parameters before the first step."""
        zeros = jnp.zeros((1, *self.shape[:2]))
        return self.network.init(key, zeros, jnp.zeros(1), self.arrays["frequencies"])["params"]

    def losses(self, params: Any, keys: Array, batch: Batch, learns: bool) -> Array:
        """The score-matching loss of each example, t uniform on [1e-5, 1]."""
        time_keys, noise_keys, drop_keys = jax.vmap(partial(jax.random.split, num=3))(keys).T
        clean = jax.vmap(self.whitened)(batch.windows)
        t = jax.vmap(lambda key: jax.random.uniform(key, minval=process.T_MIN))(time_keys)
        noise = jax.vmap(lambda key: jax.random.normal(key, clean.shape[1:]))(noise_keys)
        alpha, deviation = jax.vmap(lambda t: process.marginal(t, clean.shape[1]))(t)
        noisy = alpha[:, None, None] * clean + deviation * noise
        score = self.score(params, noisy, t, drop_keys if learns else None)
        return jax.vmap(process.loss)(score, noise, deviation)

    def score(self, params: Any, x: Array, t: Array, keys: Array | None = None) -> Array:
        """The score of states ``(B, L, C)`` at times ``(B,)``."""
        found: Any = self.network.apply({"params": params}, x, t, self.arrays["frequencies"], keys)
        return found

    def draw_one(
        self, sampling: Sampling, weights: Arrays, key: Key, condition: Array | None
    ) -> Array:
        """Draws one window; see :class:`~pacodi_jax.models.per_window.PerWindow`."""

        def score(x: Array, t: Array) -> Array:
            return self.score(weights, x[None], t[None])[0]

        return self.window(process.draw(score, key, self.shape[:2], sampling.steps))

    def facts(self, **how: Any) -> Facts:
        """What is true of samples drawn so."""
        return Facts(label="", evaluations=self.sampling.replace(**how).steps)
