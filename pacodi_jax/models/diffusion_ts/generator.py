"""Diffusion-TS as a generator: its loss, its draws, its average."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.models import conditions
from pacodi_jax.models.diffusion_ts import objective, schedule
from pacodi_jax.models.diffusion_ts.network import Network, Parts
from pacodi_jax.models.diffusion_ts.schedule import Path, Schedule
from pacodi_jax.models.diffusion_ts.settings import DiffusionTSSettings, Sampling
from pacodi_jax.models.one_network import OneNetwork
from pacodi_jax.models.protocol import Arrays, Facts
from pacodi_jax.models.state import Batch
from pacodi_jax.types import Array, Key

#: ``(x (L, C), t) -> x̂₀``: a denoiser of one window.
Clean = Callable[[Array, Array], Array]

_AVERAGED_EVERY = 10
_COPIED_UNTIL = 100


def prepare(
    settings: DiffusionTSSettings, windows: np.ndarray, condition: np.ndarray | None
) -> Arrays:
    """The least and the greatest value of each channel, and the scale of the conditions."""
    low, high = windows.min((0, 1)), windows.max((0, 1))
    half = np.where(high > low, high - low, 1) / 2
    return {"middle": (low + high) / 2, "half": half, **conditions.fit(condition)}


class DiffusionTS(OneNetwork):
    """Predicts the clean window, between −1 and 1, at each of T noise levels."""

    def make_network(self) -> Network:
        """The network; see :class:`~pacodi_jax.models.one_network.OneNetwork`."""
        model, shape = self.settings.model, self.shape
        return Network(
            shape.channels,
            model.width,
            model.heads,
            model.encoders,
            model.decoders,
            shape.condition_width,
        )

    @functools.cached_property
    def schedule(self) -> Schedule:
        """Of the forward process."""
        return schedule.cosine(self.settings.diffusion.steps)

    def scaled(self, windows: Array) -> Array:
        """Windows in the network's scale: train lies between −1 and 1."""
        return (windows - self.arrays["middle"]) / self.arrays["half"]

    def unscaled(self, windows: Array) -> Array:
        """The way back from :meth:`scaled`."""
        return windows * self.arrays["half"] + self.arrays["middle"]

    def first_params(self, key: Key) -> Any:
        """The network's parameters before the first step."""
        length, channels, width = self.shape
        condition = jnp.zeros((1, width)) if width else None
        shapes = jnp.zeros((1, length, channels)), jnp.zeros(1)
        return self.network.init(key, *shapes, condition)["params"]

    def losses(self, params: Any, keys: Array, batch: Batch, learns: bool) -> Array:
        """w_t (|x̂₀ − x₀| + λ |ΔF|₁) of each example, t uniform on 0…T−1."""
        time_keys, noise_keys, drop_keys = jax.vmap(lambda key: jax.random.split(key, 3))(keys).T
        t = jax.vmap(lambda key: jax.random.randint(key, (), 0, self.schedule.steps))(time_keys)
        truth = self.scaled(batch.windows)
        noise = jax.vmap(lambda key: jax.random.normal(key, truth.shape[1:]))(noise_keys)
        signal = jnp.asarray(self.schedule.alpha_bar, jnp.float32)[t][:, None, None]
        noisy = jnp.sqrt(signal) * truth + jnp.sqrt(1 - signal) * noise
        drop = conditions.dropped(drop_keys, self.training.condition_dropout, batch)
        condition = conditions.standard(self.arrays, batch.condition)
        found: Any = self.network.apply({"params": params}, noisy, t, condition, drop)
        weight = jnp.asarray(self.schedule.loss_weight, jnp.float32)[t]
        return weight * objective.error(found.clean, truth, self.settings.diffusion.fourier)

    def ema_decay(self, step: Array) -> Array:
        """A copy for 100 updates; then every tenth counts, by min(ema, 1 − (s − 100)^(−2/3))."""
        update = step + 1
        past = jnp.maximum(update - _COPIED_UNTIL, 1).astype(jnp.float32)
        warm = jnp.minimum(self.training.ema, 1 - past ** (-2 / 3))
        later = jnp.where(update % _AVERAGED_EVERY == 0, warm, 1.0)
        return jnp.where(update <= _COPIED_UNTIL, 0.0, later)

    def parts(self, weights: Arrays, x: Array, t: Array, condition: Array | None) -> Parts:
        """The trend, season and rest of one clean window, from a noisy one ``(L, C)`` at time t."""
        row = conditions.standard(self.arrays, condition)
        row = None if row is None else row[None]
        found: Any = self.network.apply({"params": weights}, x[None], jnp.asarray(t)[None], row)
        return jax.tree.map(lambda part: part[0], found)

    def denoiser(self, sampling: Sampling, weights: Arrays, condition: Array | None) -> Clean:
        """x̂₀ of one window, guided and then clamped to [−1, 1].

        x̂₀ is linear in ε̂ at given x and t, so ε̂_∅ + w (ε̂_c − ε̂_∅) is the same rule for x̂₀.
        """
        scale = sampling.guidance

        def clean(x: Array, t: Array) -> Array:
            if condition is None or scale == 0:
                found = self.parts(weights, x, t, None).clean
            else:
                found = self.parts(weights, x, t, condition).clean
                if scale != 1:
                    free = self.parts(weights, x, t, None).clean
                    found = free + scale * (found - free)
            return jnp.clip(found, -1, 1)

        return clean

    def draw_one(
        self, sampling: Sampling, weights: Arrays, key: Key, condition: Array | None
    ) -> Array:
        """Draws one window; see :class:`~pacodi_jax.models.per_window.PerWindow`."""
        start_key, step_key = jax.random.split(key)
        start = jax.random.normal(start_key, self.shape[:2])
        path = schedule.path(self.schedule, sampling.steps)
        clean = self.denoiser(sampling, weights, condition)
        return self.unscaled(run(path, clean, step_key, start))

    def facts(self, **how: Any) -> Facts:
        """What is true of samples drawn so."""
        sampling = self.sampling.replace(**how)
        twice = self.shape.condition_width and sampling.guidance not in (0.0, 1.0)
        steps = len(schedule.path(self.schedule, sampling.steps).time)
        return Facts(label="", evaluations=steps * (2 if twice else 1))


def run(path: Path, clean: Clean, key: Key, start: Array) -> Array:
    """The reverse process of one window: one ``lax.scan`` over the path.

    The noise of step i comes from ``fold_in(key, i)``.
    """
    noisy = bool(path.spread.any())

    def step(x: Array, now: tuple[Array, Path]) -> tuple[Array, None]:
        index, at = now
        moved = at.from_clean * clean(x, at.time) + at.from_state * x
        if noisy:
            noise = jax.random.normal(jax.random.fold_in(key, index), x.shape)
            moved = moved + at.spread * noise
        return moved, None

    return jax.lax.scan(step, start, (jnp.arange(len(path.time)), as_arrays(path)))[0]


def as_arrays(path: Path) -> Path:
    """The table on the device: whole times, the rest float32."""
    rest = (jnp.asarray(column, jnp.float32) for column in path[1:])
    return Path(jnp.asarray(path.time, jnp.int32), *rest)
